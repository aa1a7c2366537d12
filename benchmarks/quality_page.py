"""The page of ``quality.py``: tables of means, a heat map, and how far posteriors can be trusted."""

from pathlib import Path

import numpy as np
import polars as pl

from quality import BINS, SEEDS
from quality_worlds import worlds

PAGE = Path(__file__).parents[1] / "docs" / "quality.md"
PICTURE = PAGE.with_suffix(".png")

FRONTIER = [
    "random n=20 tau=2",
    *(f"random n=75 tau={tau}" for tau in (2, 4, 8)),
    *(f"random n=100 tau={tau}" for tau in (2, 4)),
    "ising plus-minus",
]

HEAD = """# How close to the truth

Every method on every world, by the number of errors (Hamming distance: false and missing edges), means over
seeds with their standard errors. `make quality` measures it again and goes on where it was stopped; all
numbers are in [`benchmarks/results/quality.csv`](../benchmarks/results/quality.csv), worlds and methods in
[`benchmarks/quality_worlds.py`](../benchmarks/quality_worlds.py) and
[`benchmarks/quality_methods.py`](../benchmarks/quality_methods.py). Settings were chosen on seeds 1000 to
1002; the seeds here are {seeds}, and {tables:,} tables of {all_tables:,} have been done so far.

![errors of every method in every kind of world, relative to the best](quality.png)

The picture shows the errors of a method in all worlds of a kind (first seed), over those of the best method
there.
"""


def write(file: Path) -> None:
    """Write the page from the rows that are there."""
    rows = pl.read_csv(file, infer_schema_length=None).filter(pl.col("seed").is_in(SEEDS))
    seeds = ", ".join(map(str, sorted(rows["seed"].unique().to_list())))
    tables = rows.select("world", "rows", "seed").n_unique()
    wanted = sum(len(world.sizes) for world in worlds()) * len(SEEDS)
    parts = [HEAD.format(seeds=seeds, tables=tables, all_tables=wanted), frontier(rows)]
    kinds = rows["kind"].unique(maintain_order=True).to_list()
    parts += [table_of(kind, rows.filter(pl.col("kind") == kind)) for kind in kinds]
    parts.append(calibration(rows))
    picture(rows)
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote {PAGE}")


def frontier(rows: pl.DataFrame) -> str:
    """Sum of errors over worlds with up to 100 variables, of every method that has done them all."""
    some = rows.filter(pl.col("world").is_in(FRONTIER) & pl.col("rows").is_in([100, 400, 1600]))
    means = some.group_by("method", "world", "rows").agg(pl.col("hamming").mean(), pl.len().alias("seeds"))
    sums = means.group_by("method").agg(pl.col("hamming").sum(), pl.len(), pl.col("seeds").min())
    whole = sums.filter(pl.col("len") == 3 * len(FRONTIER)).sort("hamming")
    lines = [
        "## In sum",
        "",
        f"Errors over {', '.join(FRONTIER)} with 100, 400 and 1600 rows, added up (means",
        "over seeds):",
        "",
    ]
    lines += ["| method | errors | seeds |", "|---|---|---|"]
    lines += [f"| {method} | {total:.0f} | {seeds} |" for method, total, _, seeds in whole.rows()]
    return "\n".join([*lines, ""])


def table_of(kind: str, rows: pl.DataFrame) -> str:
    """Mean errors by world and number of rows, one line per method; the best is bold."""
    worlds = rows["world"].unique(maintain_order=True).to_list()
    methods = rows["method"].unique(maintain_order=True).to_list()
    lines = [f"## {kind}", "", "| method | " + " | ".join(worlds) + " | seconds |"]
    lines.append("|---" * (len(worlds) + 2) + "|")
    means = rows.group_by("world", "rows", "method").agg(
        pl.col("hamming").mean().alias("mean"),
        (pl.col("hamming").std() / pl.len().sqrt()).alias("error"),
        pl.col("seconds").mean(),
    )
    best = means.group_by("world", "rows").agg(pl.col("mean").min().alias("best"))
    means = means.join(best, on=["world", "rows"]).sort("rows")
    for method in methods:
        cells = []
        for world in worlds:
            mine = means.filter((pl.col("method") == method) & (pl.col("world") == world))
            cells.append(" / ".join(_cell(row) for row in mine.iter_rows(named=True)))
        seconds = float(means.filter(pl.col("method") == method)["seconds"].mean() or 0.0)  # type: ignore[arg-type]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {seconds:.2g} |")
    sizes = ", ".join(f"{size:,}" for size in sorted(rows["rows"].unique().to_list()))
    return "\n".join([*lines, "", f"From left to right: {sizes} rows.", ""])


def _cell(row: dict[str, float]) -> str:
    text = f"{row['mean']:.3g}" + (f"±{row['error']:.1g}" if row["error"] else "")
    return f"**{text}**" if row["mean"] <= row["best"] + 1e-9 else text


def calibration(rows: pl.DataFrame) -> str:
    """Share of edges among pairs of posteriors in each tenth, by method and kind."""
    known = rows.filter(pl.col("pairs_0").is_not_null())
    lines = ["## Calibration", "", "Among pairs with a posterior in each tenth, the share that are edges."]
    lines += ["ECE is the expected calibration error: the mean distance of share and mean posterior.", ""]
    head = [f"{k / BINS:.1f}" for k in range(BINS)]
    lines += ["| method | kind | " + " | ".join(head) + " | ECE |", "|---" * (BINS + 3) + "|"]
    for (method, kind), some in known.group_by("method", "kind", maintain_order=True):
        pairs = np.array([some[f"pairs_{k}"].sum() for k in range(BINS)], float)
        edges = np.array([some[f"edges_{k}"].sum() for k in range(BINS)], float)
        share = np.divide(edges, pairs, out=np.full(BINS, np.nan), where=pairs > 0)
        given = np.array([some[f"sum_{k}"].sum() for k in range(BINS)], float)
        error = np.abs(edges - given).sum() / pairs.sum()
        cells = ["" if np.isnan(value) else f"{value:.2f}" for value in share]
        lines.append(f"| {method} | {kind} | " + " | ".join(cells) + f" | {error:.3f} |")
    return "\n".join([*lines, ""])


def picture(rows: pl.DataFrame) -> None:
    """Draw errors over those of the best method, method by kind of world."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    first = rows.filter(pl.col("seed") == rows["seed"].min())  # which all methods have done
    tables = first.group_by("kind", "method", maintain_order=True).agg(
        pl.col("hamming").sum(), pl.len().alias("tables")
    )
    kinds = tables["kind"].unique(maintain_order=True).to_list()
    methods = tables["method"].unique(maintain_order=True).to_list()
    ratio = np.full((len(methods), len(kinds)), np.nan)
    for j, kind in enumerate(kinds):
        mine = tables.filter(pl.col("kind") == kind)
        whole = mine.filter(pl.col("tables") == mine["tables"].max())
        least = max(float(whole["hamming"].min()), 1.0)  # type: ignore[arg-type]
        for row in whole.iter_rows(named=True):
            ratio[methods.index(row["method"]), j] = row["hamming"] / least
    figure, axes = plt.subplots(figsize=(1.5 + 0.75 * len(kinds), 1.5 + 0.36 * len(methods)))
    axes.imshow(np.log(ratio), cmap="YlOrRd", vmin=0, vmax=np.log(3), aspect="auto")
    axes.set_xticks(range(len(kinds)), kinds, rotation=40, ha="right")
    axes.set_yticks(range(len(methods)), methods)
    for i, j in np.argwhere(~np.isnan(ratio)):
        axes.text(j, i, f"{ratio[i, j]:.2f}", ha="center", va="center", fontsize=8)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
