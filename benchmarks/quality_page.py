"""The page of ``quality.py``: tables of means, a heat map, and how far posteriors can be trusted."""

from pathlib import Path

import numpy as np
import polars as pl

from quality import LIMIT, SEEDS
from quality_calibration import calibration
from quality_methods import Method, methods
from quality_results import TABLES, Results
from quality_worlds import NS, worlds

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
1002; the seeds here are {seeds}. {tables}

![errors of every method in every kind of world, relative to the best](quality.png)

The picture shows the errors of a method in all worlds of a kind, over those of the best method there; it is
blank where a method was not run on all of its tables.
"""

REAL = """## Real tables

The three tables of the density-estimation benchmark with their own test rows (`nltcs`, `plants`, `dna`),
and the 19 tables of the paper, three quarters to learn from, means over three seeds. Nobody knows their
true graph, so what counts is prediction: whichever learner a graph comes from, every variable gets the same
models given its neighbours, fitted to the training rows: a logistic regression, and a table of counts. The
numbers are their log likelihoods on the test rows, per row and variable: the held-out pseudo-likelihood.
`accuracy` is the paper's: agreement with independence tests on the test rows; it likes empty graphs. HHC-MN
takes minutes for every variable of `plants` and `dna`, and was left out there. Means over the other tables
(`python benchmarks/quality_real.py`; all numbers in
[`benchmarks/results/real.csv`](../benchmarks/results/real.csv)):
"""


MIXED = """## Numbers and categories

Columns as they are, half numbers and half categories of 2 to 5 levels: pairwise networks (mrf) and moral
graphs of directed ones (dag), 20 and 50 variables, two or four neighbours; "quartiles" are the same tables
with their numbers cut; then numbers or categories alone, other marginal distributions, shapes of effects,
trees of near copies, and missing values. Sums over the tables of each row (`python benchmarks/mixed.py`; all
numbers in
[`benchmarks/results/mixed.csv`](../benchmarks/results/mixed.csv)):
"""

WHOLE = """
Whole numbers of few values are codes or amounts, as the evidence says: errors of networks whose levels are
written as 0, 1, 2, ... in random order, and of answers from 1 to 5, beside those where the kind is known
(`python benchmarks/kinds.py`):
"""


def write(results: Results) -> None:
    """Write the page from what has been measured."""
    rows = results.frame().filter(pl.col("seed").is_in(SEEDS))
    order = {world.name: k for k, world in enumerate(worlds())}
    by = {method.name: k for k, method in enumerate(methods())}
    rows = rows.sort(
        pl.col("world").replace_strict(order), "rows", pl.col("method").replace_strict(by), "seed"
    )
    seeds = ", ".join(map(str, sorted(rows["seed"].unique().to_list())))
    parts = [HEAD.format(seeds=seeds, tables=what_was_run(rows)), frontier(rows), behind(rows)]
    kinds = rows["kind"].unique(maintain_order=True).to_list()
    parts.append(f_measures(rows, kinds))
    parts += [table_of(kind, rows.filter(pl.col("kind") == kind)) for kind in kinds]
    parts.append(calibration(results.calibration()))
    if (real := TABLES.with_name("real.csv")).exists():
        parts.append(real_tables(real))
    parts.append(mixed_tables(TABLES.parent))
    picture(rows)
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote {PAGE}")


def what_was_run(rows: pl.DataFrame) -> str:
    """Say how many tables there are, and which methods have not been run on all of them."""
    wanted = sum(len(world.sizes) for world in worlds()) * len(SEEDS)
    counts = dict(rows.group_by("method", maintain_order=True).len().iter_rows())
    some = [
        f"{method.name} {counts.get(method.name, 0)}{_up_to(method)}"
        for method in methods()
        if counts.get(method.name, 0) < wanted
    ]
    return (
        f"There are {wanted:,} tables. Some methods have not\nbeen run on all of them: beyond a number of "
        f"variables, or because they are not done yet; and peers are\nstopped after {LIMIT} seconds. Tables "
        f"with a result: {'; '.join(some)}."
    )


def _up_to(method: Method) -> str:
    return f" (up to {method.most_variables} variables)" if method.most_variables < max(NS) else ""


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


def behind(rows: pl.DataFrame) -> str:
    """List the cells in which a peer makes clearly fewer errors than the recommended learner."""
    peers = [method.name for method in methods() if method.peer]
    keys = ["world", "rows", "seed"]
    mine = rows.filter(pl.col("method") == "evidence-map").select(*keys, pl.col("hamming").alias("ours"))
    both = rows.filter(pl.col("method").is_in(peers)).join(mine, on=keys)
    cells = both.group_by("world", "rows", "method", maintain_order=True).agg(
        pl.col("ours", "hamming").mean()
    )
    best = cells.sort("hamming").group_by("world", "rows", maintain_order=True).first()
    margin = pl.max_horizontal(pl.lit(2.0), 0.03 * pl.col("hamming"))
    lost = best.filter(pl.col("ours") > pl.col("hamming") + margin).sort("world", "rows")
    won = best.filter(pl.col("hamming") > pl.col("ours") + margin)
    lines = [
        "## Beside the best peer",
        "",
        f"Of {len(best)} cells (world and number of rows) that a peer was tried on, evidence-map makes fewer",
        f"errors than the best single peer in {len(won)}, as many (within 3 % or 2 edges, on the same seeds)",
        f"in {len(best) - len(won) - len(lost)}, and more in {len(lost)}:",
        "",
        "| world | rows | evidence-map | best peer | its errors |",
        "|---|---|---|---|---|",
    ]
    for row in lost.iter_rows(named=True):
        values = f"{row['ours']:.1f} | {row['method']} | {row['hamming']:.1f}"
        lines.append(f"| {row['world']} | {row['rows']} | {values} |")
    return "\n".join([*lines, ""])


def f_measures(rows: pl.DataFrame, kinds: list[str]) -> str:
    """F over edges: means over the tables of a kind, with standard errors; the best is bold."""
    lines = [
        "## F over edges",
        "",
        "Harmonic means of precision and recall of edges, averaged over all tables",
    ]
    lines += [
        "of a kind; methods that were not run on all of them are left out:",
        "",
        "| method | " + " | ".join(kinds) + " |",
    ]
    lines.append("|---" * (len(kinds) + 1) + "|")
    means = rows.group_by("kind", "method", maintain_order=True).agg(
        pl.col("f").mean(), (pl.col("f").std() / pl.len().sqrt()).alias("error"), pl.len().alias("tables")
    )
    means = means.filter(pl.col("tables") == pl.col("tables").max().over("kind"))
    means = means.with_columns(pl.col("f").max().over("kind").alias("best"))
    for method in rows["method"].unique(maintain_order=True).to_list():
        mine = {row["kind"]: row for row in means.filter(pl.col("method") == method).iter_rows(named=True)}
        cells = [_f_cell(mine[kind]) if kind in mine else "" for kind in kinds]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _f_cell(row: dict[str, float]) -> str:
    text = f"{row['f']:.2f}±{row['error']:.2f}"
    return f"**{text}**" if row["f"] > row["best"] - 5e-3 else text


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


def real_tables(file: Path) -> str:
    """Held-out log likelihoods of real tables: means over seeds, then over tables; and table by table."""
    rows = pl.read_csv(file, infer_schema_length=None)
    means = rows.group_by("table", "method", maintain_order=True).agg(
        pl.col("logistic", "counts", "accuracy", "edges", "seconds").mean()
    )
    methods = means["method"].unique(maintain_order=True).to_list()
    tables = means["table"].unique(maintain_order=True).to_list()
    lines = ["| method | logistic | counts | the better | accuracy | edges | seconds |", "|---" * 7 + "|"]
    both = means.with_columns(pl.max_horizontal("logistic", "counts").alias("better"))
    for method in methods:
        mine = both.filter(
            pl.len().over("table") == len(methods), pl.col("method") == method
        )  # all have done
        values = [
            mine[name].mean() for name in ("logistic", "counts", "better", "accuracy", "edges", "seconds")
        ]
        lines.append(
            f"| {method} | {values[0]:.4f} | {values[1]:.4f} | {values[2]:.4f} | {values[3]:.3f} "
            f"| {values[4]:.1f} | {values[5]:.2g} |"
        )
    lines += ["", "The better of both models, table by table:", ""]
    lines += ["| table | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for table in tables:
        mine = both.filter(pl.col("table") == table)
        found = dict(mine.select("method", "better").iter_rows())
        best = max(found.values())
        shown = {m: f"**{found[m]:.3f}**" if found[m] > best - 5e-4 else f"{found[m]:.3f}" for m in found}
        cells = [shown.get(m, "–") for m in methods]
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    return "\n".join([REAL, *lines, ""])


def mixed_tables(folder: Path) -> str:
    """Show the errors on tables of numbers and categories, and how well posteriors are calibrated."""
    rows, shares = (pl.read_csv(folder / f"mixed{what}.csv") for what in ("", "_calibration"))
    found = [MIXED, "| worlds | tables | errors | false | missed |\n|---|---|---|---|---|"]
    found += [f"| {w} {c} | {t} | {e} | {f} | {m} |" for w, c, t, e, f, m, _ in rows.iter_rows()]
    said = ", ".join(f"{kind} {error:.3f}" for kind, _, error in shares.iter_rows())
    found.append(f"\nExpected errors of calibration, pairs with posteriors above 0.01: {said}.")
    kinds = pl.read_csv(folder / "kinds.csv").group_by(
        pl.col("table") == "questionnaire", maintain_order=True
    )
    found += [
        WHOLE,
        "| tables | undecided columns | amounts | errors, kind known | errors, kind chosen |",
        "|---|---|---|---|---|",
    ]
    for (answers,), some in kinds:
        sums = [int(some[key].sum()) for key in ("undecided", "amounts", "known", "chosen")]
        found.append(
            "| "
            + " | ".join([f"{len(some)} of {'answers' if answers else 'networks'}", *map(str, sums)])
            + " |"
        )
    return "\n".join(found) + "\n"


def picture(rows: pl.DataFrame) -> None:
    """Draw errors over those of the best method, method by kind of world."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    tables = rows.group_by("kind", "method", maintain_order=True).agg(
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
        colour = "white" if ratio[i, j] > 2.2 else "black"
        axes.text(j, i, f"{ratio[i, j]:.2f}", ha="center", va="center", fontsize=8, color=colour)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)
