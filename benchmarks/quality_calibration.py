"""How far posteriors can be trusted, for the page of ``quality.py``: a table, a picture, what is missed."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from quality_results import BINS

PICTURE = Path(__file__).parents[1] / "docs" / "calibration.png"
ERROR, TOP = 0.05, 0.8  #: what the recommended learner should keep to
PAIRWISE = ("random", "symmetric", "ising", "scale-free", "hubs", "3 levels", "4 levels")
SHOWN = ("evidence-map", "pairwise", "saturated", "ibmap-hc")

HEAD = """## Calibration

Of pairs with a posterior of about p, a share of about p should be edges. The picture shows that share for
each tenth of the posterior, by kind of world: above the diagonal a learner is too careful, below it too
sure. ECE is the expected calibration error: the distance of share and mean posterior in each tenth,
averaged over pairs. "Above 0.9" is the share of edges among pairs with a posterior above 0.9. Both by
kind of world: the median and the worst kind (world by world in
[`calibration.csv`](../benchmarks/results/calibration.csv)). `ibmap-hc` and `dag-hc` are too sure: their
posteriors rank pairs, and are not probabilities.

![share of edges by posterior, one panel per kind of world](calibration.png)
"""
TABLED = ("evidence-map", "ibmap-hc", "dag-hc BIC")


def calibration(known: pl.DataFrame) -> str:
    """Return the section, and draw its picture."""
    kinds = known["kind"].unique(maintain_order=True).to_list()
    lines = ["| learner | ECE: median, worst | above 0.9: median, worst |", "|---|---|---|"]
    for method in TABLED:
        mine = known.filter(pl.col("method") == method)
        errors, tops = np.transpose(
            [measures(some) for _, some in mine.group_by("kind", maintain_order=True)]
        )
        cells = (
            f"{np.median(errors):.3f}, {errors.max():.3f} | {np.nanmedian(tops):.2f}, {np.nanmin(tops):.2f}"
        )
        lines.append(f"| {method} | {cells} |")
    picture(known, kinds)
    return "\n".join([HEAD, *lines, "", missed(known), ""])


def counts(rows: pl.DataFrame) -> tuple[NDArray[np.float64], ...]:
    """Pairs, edges, and sums of posteriors, of every tenth."""
    names = ("pairs", "edges", "sum")
    return tuple(np.array([rows[f"{name}_{k}"].sum() for k in range(BINS)], float) for name in names)


def measures(rows: pl.DataFrame) -> tuple[float, float]:
    """Expected calibration error, and the share of edges in the last tenth."""
    pairs, edges, total = counts(rows)
    return float(np.abs(edges - total).sum() / pairs.sum()), float(edges[-1] / pairs[-1]) if pairs[
        -1
    ] else np.nan


def missed(known: pl.DataFrame) -> str:
    """Say in which worlds the recommended learner does not keep to its bars."""
    mine, parts = known.filter(pl.col("method") == "evidence-map"), []
    for (world,), some in mine.group_by("world", maintain_order=True):
        error, top = measures(some)
        if error > ERROR and str(world).startswith(PAIRWISE):
            parts.append(f"{world} (ECE {error:.3f})")
        if top < TOP:
            parts.append(f"{world} ({top:.2f} above 0.9)")
    n = mine["world"].n_unique()
    return (
        f"`evidence-map` should have an ECE of at most {ERROR} in worlds with pairwise effects, and {TOP}\n"
        f"of the pairs above 0.9 should be edges in every world. Of {n} worlds it misses that in\n"
        + (", ".join(parts) or "none")
        + "."
    )


def picture(known: pl.DataFrame, kinds: list[str]) -> None:
    """Draw reliability diagrams."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    columns = 5
    lines = -(-len(kinds) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(11, 2.3 * lines), sharex=True, sharey=True)
    for axis in axes.flat[len(kinds) :]:
        axis.axis("off")
    for axis, kind in zip(axes.flat, kinds, strict=False):
        axis.plot([0, 1], [0, 1], color="0.8", linewidth=1)
        for method in SHOWN:
            some = known.filter((pl.col("method") == method) & (pl.col("kind") == kind))
            if len(some):
                pairs, edges, total = counts(some)
                seen = pairs >= 10  # a share of fewer pairs says little
                axis.plot(total[seen] / pairs[seen], edges[seen] / pairs[seen], marker=".", label=method)
        axis.set_title(kind, fontsize=9)
    figure.supxlabel("posterior")
    figure.supylabel("share of edges")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=len(SHOWN), loc="upper center", frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(PICTURE, dpi=100)
    plt.close(figure)
