"""Figures in the paper's layout: means with bars of standard deviations, and landscapes."""

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ibmap.errors import RequestError
from ibmap.paper.experiment import Experiment, Landscape, Measure, Panels
from ibmap.paper.results import SIGNS, Cell, Measures, Results, Value, cell_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ADVICE = "the figure needs matplotlib: pip install matplotlib"
STYLES = {
    "gsmn": ("black", "s"),
    "hhc-mn": ("tab:orange", "^"),
    "ibmap-hc": ("tab:blue", "o"),
    "empty": ("0.6", "x"),
    "mi": ("tab:green", "s"),
    "mi (k = τ)": ("tab:olive", "^"),
}
WIDTH, HEIGHT = 3.3, 2.3  #: of a panel, in inches


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw(experiment: Experiment, results: Results) -> bytes:
    """Return the figure of an experiment as a PNG; the same rows give the same bytes."""
    if not can_draw():
        raise RequestError(ADVICE)
    layout = experiment.figure
    if isinstance(layout, Landscape):
        figure = _landscape(experiment, layout, results)
    else:
        figure = _panels(experiment, layout, results)
    return _png(figure)


def _png(figure: "Figure") -> bytes:
    """Return a figure as a PNG of 64 colours: a third of the size, and no difference to the eye."""
    from PIL import Image  # matplotlib needs it too

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=90)
    Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


def _levels(experiment: Experiment, results: Results, factor: str) -> list[Value]:
    return results.levels(factor, experiment.study.grid[factor])


def _panels(experiment: Experiment, layout: Panels, results: Results) -> "Figure":
    """Draw a panel for every combination of rows and columns (factors, or measures)."""
    rows = _cells(experiment, results, layout.rows)
    columns = [
        (cell, measure)
        for measure in experiment.measures
        for cell in _cells(experiment, results, layout.columns)
    ]
    wide = any(isinstance(level, str) for level in _levels(experiment, results, layout.x))
    figure, axes = _grid(len(rows), len(columns), 10.0 if wide else WIDTH, 4.5 if wide else HEIGHT)
    for i, row in enumerate(rows):
        for j, (column, measure) in enumerate(columns):
            _lines(axes[i][j], experiment, layout, results, {**row, **column}, measure)
            if i == 0:
                title = "\n".join(filter(None, [measure.title, cell_in_words(column)]))
                axes[i][j].set_title(title, fontsize=9)
            if i == len(rows) - 1:
                axes[i][j].set_xlabel(SIGNS.get(layout.x, layout.x), fontsize=8)
            if j == 0 and row:
                axes[i][j].set_ylabel(cell_in_words(row), fontsize=9)
    named = {label: handle for handle, label in zip(*axes[0][0].get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside upper center", ncols=len(named), fontsize=8)
    return figure


def _cells(experiment: Experiment, results: Results, factor: str | None) -> list[Cell]:
    """Return a part of a cell for each level of a factor; without a factor there is one, and it is empty."""
    return [{factor: level} for level in _levels(experiment, results, factor)] if factor else [{}]


def _lines(
    axes: "Axes", experiment: Experiment, layout: Panels, results: Results, fixed: Cell, measure: Measure
) -> None:
    """Draw one panel: a line for each level of the factor ``lines``, hollow diamonds for the paper."""
    levels = _levels(experiment, results, layout.x)
    named = any(isinstance(level, str) for level in levels)
    places: list[Any] = list(range(len(levels))) if named else levels
    for k, line in enumerate(_levels(experiment, results, layout.lines)):
        cells: list[Cell] = [{**fixed, layout.x: level, layout.lines: line} for level in levels]
        color, marker = STYLES.get(str(line), (f"C{k}", "o"))
        style: dict[str, Any] = {"color": color, "marker": marker, "ms": 4, "lw": 0 if named else 1.2}
        points = [(x, results.summary(cell, measure.name)) for x, cell in zip(places, cells, strict=True)]
        found = [(x, summary.mean, summary.std or 0.0) for x, summary in points if summary]
        if found:
            xs, means, bars = zip(*found, strict=True)
            label = cell_in_words({layout.lines: line})
            axes.errorbar(xs, means, yerr=bars, label=label, capsize=2, elinewidth=0.8, **style)
        printed = [(x, _printed(experiment, cell, measure)) for x, cell in zip(places, cells, strict=True)]
        for x, value in printed:
            if value is not None:
                axes.plot([x], [value], marker="D", ms=6, mfc="none", mec=color, lw=0, label="paper")
    _axes(axes, layout, levels, measure)


def _printed(experiment: Experiment, cell: Cell, measure: Measure) -> float | None:
    return experiment.printed(cell, measure.name) if experiment.printed else None


def _axes(axes: "Axes", layout: Panels, levels: list[Value], measure: Measure) -> None:
    axes.grid(alpha=0.3)
    words = [str(level) for level in levels]
    if any(isinstance(level, str) for level in levels):
        axes.set_xticks(range(len(levels)), words, rotation=45, ha="right")
    elif layout.log_x:
        axes.set_xscale("log", base=2)
        axes.set_xticks([float(level) for level in levels], words, rotation=45)
        axes.minorticks_off()
    if measure.name in layout.log_y:
        axes.set_yscale("log")
    axes.tick_params(which="both", labelsize=7)


def _landscape(experiment: Experiment, layout: Landscape, results: Results) -> "Figure":
    """Draw the first repetition: from lowest to highest score, the middle half darker, and the diamond."""
    rows, columns = (_cells(experiment, results, factor) for factor in (layout.rows, layout.columns))
    figure, axes = _grid(len(rows), len(columns), WIDTH, HEIGHT)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            panel, cell = axes[i][j], {**row, **column}
            panel.set_title(cell_in_words(cell), fontsize=8)
            panel.tick_params(labelsize=7)
            for run in results.of(cell)[:1]:
                _profile(panel, run.measures)
            if i == len(rows) - 1:
                panel.set_xlabel("Hamming distance from the truth", fontsize=8)
            if j == 0:
                panel.set_ylabel("IB-score", fontsize=8)
    return figure


def _profile(panel: "Axes", measures: Measures) -> None:
    lowest, low, middle, high, highest = measures["profile"]
    x = range(len(middle))
    panel.fill_between(x, lowest, highest, color="0.85", lw=0)
    panel.fill_between(x, low, high, color="0.65", lw=0)
    panel.plot(x, middle, color="0.35", lw=1)
    place = measures["found_hamming"], measures["found_score"]
    panel.plot(*place, marker="D", color="tab:red", ms=6, lw=0)


def _grid(n_rows: int, n_columns: int, width: float, height: float) -> tuple["Figure", Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows + 0.3), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)
