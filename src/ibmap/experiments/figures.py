"""Figures in the paper's layout: means with bars of standard deviations, and landscapes."""

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ibmap.errors import RequestError
from ibmap.experiments.experiment import Experiment, Landscape, Measure, Panels
from ibmap.experiments.results import Results
from ibmap.experiments.rows import Cell, Value, cell_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ADVICE = "the figure needs matplotlib: pip install ibmap[report]"
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
    figure = (
        _landscape(layout, results) if isinstance(layout, Landscape) else _panels(experiment, layout, results)
    )
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=90, metadata={"Software": None})
    return file.getvalue()


def _panels(experiment: Experiment, layout: Panels, results: Results) -> "Figure":
    """Draw a panel for every combination of rows and columns (factors, or measures)."""
    rows: list[Cell] = (
        [{layout.rows: level} for level in results.levels(layout.rows)] if layout.rows else [{}]
    )
    columns: list[tuple[Cell, Measure]] = [
        ({layout.columns: level} if layout.columns else {}, measure)
        for measure in experiment.measures
        for level in (results.levels(layout.columns) if layout.columns else [0])
    ]
    wide = any(isinstance(level, str) for level in results.levels(layout.x))
    figure, axes = _grid(len(rows), len(columns), 10.0 if wide else WIDTH, 4.5 if wide else HEIGHT)
    for i, row in enumerate(rows):
        for j, (column, measure) in enumerate(columns):
            _lines(axes[i][j], experiment, layout, results, {**row, **column}, measure)
            if i == 0:
                axes[i][j].set_title(
                    "\n".join(filter(None, [measure.title, cell_in_words(column)])), fontsize=9
                )
            if i == len(rows) - 1:
                axes[i][j].set_xlabel(layout.x, fontsize=8)
            if j == 0 and row:
                axes[i][j].set_ylabel(cell_in_words(row), fontsize=9)
    axes[0][0].legend(fontsize=7)
    return figure


def _lines(
    axes: "Axes", experiment: Experiment, layout: Panels, results: Results, fixed: Cell, measure: Measure
) -> None:
    levels = results.levels(layout.x)
    named = any(isinstance(level, str) for level in levels)
    for k, line in enumerate(results.levels(layout.lines)):
        cells: list[Cell] = [{**fixed, layout.x: level, layout.lines: line} for level in levels]
        points = [(x, results.summary(cell, measure.name)) for x, cell in enumerate(cells)]
        found = [(x if named else levels[x], summary) for x, summary in points if summary]
        if not found:
            continue
        color, marker = STYLES.get(str(line), (f"C{k}", "o"))
        xs, ys = [x for x, _ in found], [summary.mean for _, summary in found]
        bars = [summary.std or 0.0 for _, summary in found]
        label = cell_in_words({layout.lines: line})
        style: dict[str, Any] = {"color": color, "marker": marker, "ms": 4, "lw": 0 if named else 1.2}
        axes.errorbar(xs, ys, yerr=bars, label=label, capsize=2, elinewidth=0.8, **style)
        _printed(axes, experiment, cells, measure, color, levels, named)
    if layout.log_x and not named:
        axes.set_xscale("log", base=2)
    _ticks(axes, levels, named, layout.log_x)
    if measure.name in layout.log_y:
        axes.set_yscale("log")


def _printed(
    axes: "Axes",
    experiment: Experiment,
    cells: list[Cell],
    measure: Measure,
    color: str,
    levels: list[Value],
    named: bool,
) -> None:
    """Mark the paper's numbers by hollow diamonds."""
    if experiment.printed is None:
        return
    for x, cell in enumerate(cells):
        value = experiment.printed(cell, measure.name)
        if value is not None:
            at: Any = x if named else levels[x]
            axes.plot([at], [value], marker="D", ms=6, mfc="none", mec=color, lw=0)


def _ticks(axes: "Axes", levels: list[Value], named: bool, log_x: bool) -> None:
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)
    if named:
        axes.set_xticks(range(len(levels)), [str(level) for level in levels], rotation=45, ha="right")
    elif log_x:
        axes.set_xticks([float(level) for level in levels], [str(level) for level in levels], rotation=45)
        axes.minorticks_off()


def _landscape(layout: Landscape, results: Results) -> "Figure":
    """Draw the first repetition: from lowest to highest score, the middle half darker, and the diamond."""
    rows, columns = results.levels(layout.rows), results.levels(layout.columns)
    figure, axes = _grid(len(rows), len(columns), WIDTH, HEIGHT)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            panel = axes[i][j]
            cell: Cell = {layout.rows: row, layout.columns: column}
            panel.set_title(cell_in_words(cell), fontsize=8)
            panel.tick_params(labelsize=7)
            for run in results.of(cell)[:1]:
                lowest, low, middle, high, highest = run.measures["profile"]
                x = range(len(middle))
                panel.fill_between(x, lowest, highest, color="0.85", lw=0)
                panel.fill_between(x, low, high, color="0.65", lw=0)
                panel.plot(x, middle, color="0.35", lw=1)
                place = run.measures["found_hamming"], run.measures["found_score"]
                panel.plot(*place, marker="D", color="tab:red", ms=6, lw=0)
            if i == len(rows) - 1:
                panel.set_xlabel("Hamming distance from the truth", fontsize=8)
            if j == 0:
                panel.set_ylabel("IB-score", fontsize=8)
    return figure


def _grid(n_rows: int, n_columns: int, width: float, height: float) -> tuple["Figure", Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)
