"""Pictures of networks, with matplotlib on layouts of networkx."""

from ibmap.plots.pictures import plot, plot_comparison, plot_scores

__all__ = ["plot", "plot_comparison", "plot_scores"]
