"""The page of ``quality.py``: tables of means, a heat map, and how far posteriors can be trusted."""

from pathlib import Path
from textwrap import wrap

import numpy as np
import polars as pl

from quality import LIMIT, SEEDS
from quality_calibration import calibration
from quality_methods import methods
from quality_results import TABLES, Results
from quality_worlds import worlds

PAGE = Path(__file__).parents[1] / "docs" / "quality.md"
PICTURE = PAGE.with_suffix(".png")

ABREAST = 3  #: methods in a row of the sums
WIDTH = 150  #: of a line of the page
VARIANTS = ("saturated", "ibmap-hc, patience 20", "mi", "dag-hc BIC")  #: of real tables, in the CSV only

FRONTIER = [
    "random n=20 tau=2",
    *(f"random n=75 tau={tau}" for tau in (2, 4, 8)),
    *(f"random n=100 tau={tau}" for tau in (2, 4)),
    "ising plus-minus",
]

HEAD = """# How close to the truth

What each method makes of {tables:,} tables that were drawn from known networks. Errors are false and
missing edges (Hamming distance), means over the seeds {seeds}; settings were chosen on others (1000 to
1002). `make quality` measures it, `python benchmarks/quality.py --page` writes this page; all numbers are
in [`quality.csv`](../benchmarks/results/quality.csv), worlds and methods in
[`quality_worlds.py`](../benchmarks/quality_worlds.py) and
[`quality_methods.py`](../benchmarks/quality_methods.py). Other programs are stopped after {limit} seconds
a table; slow methods were run up to 100 or 200 variables only.

![errors of every method in every kind of world, relative to the best](quality.png)

The picture shows the errors of a method in all worlds of a kind, divided by those of the best method
there; it is blank where a method was not run on all tables of that kind.
"""

PEERS = """## Beside R and pgmpy

Measured apart, in one thread of another machine, with no command in this repository: errors with 100, 400
and 1,600 rows of other draws of the same worlds, and seconds for 1,600 rows of the first. The sum is over
tables like those of "In sum", where `evidence-map` has {ours}.

| method | random n=100 tau=4 | ising plus-minus | sum | seconds |
|---|---|---|---|---|
| `evidence-map` | {random} | {ising} | {ours} | {seconds_random} |
| bnlearn `hpc` | 200 / 161 / 108 | 110 / 2 / 0 | 2247 | 0.66 |
| bnlearn `si.hiton.pc` | 202 / 158 / 116 | 106 / 3 / 0 | 2275 | 0.21 |
| IsingFit (bootnet) | 198 / 177 / 110 | 121 / 15 / 14 | | 31 |
| pgmpy PC | 198 / 174 / 128 | 139 / 17 / 0 | | 0.92 |
| causal-learn PC | 209 / 178 / 124 | 93 / 0 / 0 | | 4.0 |
"""

PEOPLE = """## People

The table of `ibmap demo`: 13 columns of numbers, grades and categories, 14 true edges, errors, means over 20
tables (`python benchmarks/people.py`). All but `evidence-map` need numbers cut into three bins.

| learner | 300 rows | 1,000 rows | 3,000 rows |
|---|---|---|---|
"""

REAL = """## Real tables

Three tables of the density-estimation benchmark with their own test rows (`nltcs`, `plants`, `dna`), and
the 19 tables of the paper, three quarters of them to learn from, means over three seeds. Their true
graphs are unknown, so what counts is prediction: for every graph, each variable gets the same models
given its neighbours, a logistic regression and a table of counts, fitted to the training rows. The
numbers are log likelihoods of the test rows, per row and variable. `accuracy` is the paper's: agreement
with independence tests on the test rows, which favours empty graphs. Means over the tables that all
methods have done (`python benchmarks/quality_real.py`; table by table, and with other
variants of these methods, in [`real.csv`](../benchmarks/results/real.csv)):
"""


MIXED = """## Numbers and categories

Half numbers and half categories of 2 to 5 levels: pairwise networks (mrf) and moral graphs of directed ones
(dag), 20 and 50 variables, eight tables each. Errors of `evidence-map` with the columns as they are, and with
numbers cut at quartiles (`python benchmarks/mixed.py`; other marginal distributions, shapes of effects, near
copies and missing values are in [`benchmarks/results/mixed.csv`](../benchmarks/results/mixed.csv)):

| worlds | 100 rows | 400 rows | 1,600 rows |
|---|---|---|---|
"""

MIXED_PEERS = """
The worlds of 20 variables beside scikit-learn (`python benchmarks/mixed_peers.py`,
[`mixed_peers.csv`](../benchmarks/results/mixed_peers.csv), with false and missed edges): errors, four tables
each. GraphicalLassoCV, and L1 regressions of each column (LassoCV, LogisticRegressionCV) whose neighbours
are joined by "and" or "or". Their penalties are chosen to predict, and join too much:

| method | mrf 100 | 400 | 1,600 | dag 100 | 400 | 1,600 |
|---|---|---|---|---|---|---|
"""

ORDERS = """## Ten networks, and the order of their columns

The first 500, 2,000 and 10,000 rows of ten known networks: errors of `evidence-map` (`python
benchmarks/orders.py --orders 20`), and of the moral graph of R's bnlearn (`hc` by BIC, the same rows,
measured once on another machine: [`bnlearn.csv`](../benchmarks/results/bnlearn.csv)). Each table was learned
from again with its columns, names and levels in other orders: how often the graph was the same. The last
columns are the number of pairs with a posterior above 0.9, and how many of them are edges.

| network | errors | bnlearn | the same graph | above 0.9 | edges |
|---|---|---|---|---|---|
"""

LEVELS = """
Columns of many levels take most of the time: {}
([`levels.csv`](../benchmarks/results/levels.csv), `python benchmarks/levels.py`; a hub is a column with
children of two to eight levels).
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
    tables = sum(len(world.sizes) for world in worlds()) * len(SEEDS)
    parts = [
        HEAD.format(seeds=seeds, tables=tables, limit=LIMIT),
        frontier(rows),
        behind(rows),
    ]
    parts.append(peers(rows))
    parts.append(people(TABLES.parent))
    parts.append(calibration(results.calibration()))
    if (real := TABLES.with_name("real.csv")).exists():
        parts.append(real_tables(real))
    parts.append(orders(TABLES.parent))
    parts.append(mixed_tables(TABLES.parent))
    picture(rows)
    PAGE.write_text("\n".join([*map(filled, parts[:-1]), parts[-1]]), encoding="utf-8")
    print(f"wrote {PAGE}")


def filled(part: str) -> str:
    """Fill the lines of paragraphs; tables, headings and pictures stay."""
    paragraphs = part.split("\n\n")
    for k, text in enumerate(paragraphs):
        if text.strip() and text.strip()[0] not in "|#!":
            end = "\n" * text.endswith("\n")
            paragraphs[k] = "\n".join(wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)) + end
    return "\n\n".join(paragraphs)


def sums(rows: pl.DataFrame) -> dict[str, float]:
    """Errors over worlds with up to 100 variables, of every method that has done them all."""
    some = rows.filter(pl.col("world").is_in(FRONTIER) & pl.col("rows").is_in([100, 400, 1600]))
    means = some.group_by("method", "world", "rows").agg(pl.col("hamming").mean())
    total = means.group_by("method").agg(pl.col("hamming").sum(), pl.len())
    whole = total.filter(pl.col("len") == 3 * len(FRONTIER)).sort("hamming")
    return dict(whole.select("method", "hamming").rows())


def frontier(rows: pl.DataFrame) -> str:
    """Return the sums as a table, column by column."""
    cells = [f"{method} | {total:.0f}" for method, total in sums(rows).items()]
    n = -(-len(cells) // ABREAST)
    cells += [" | "] * (n * ABREAST - len(cells))
    lines = [
        "## In sum",
        "",
        f"Errors over {', '.join(FRONTIER)} with 100, 400 and 1600 rows, added up:",
        "",
        "| method | errors " * ABREAST + "|",
        "|---|---" * ABREAST + "|",
        *(f"| {' | '.join(cells[k::n])} |" for k in range(n)),
    ]
    return "\n".join([*lines, ""])


def peers(rows: pl.DataFrame) -> str:
    """Return what was measured apart, beside our learner in the same worlds."""
    found = {}
    mine = rows.filter(pl.col("method") == "evidence-map", pl.col("rows").is_in([100, 400, 1600]))
    for key, world in (("random", "random n=100 tau=4"), ("ising", "ising plus-minus")):
        some = mine.filter(pl.col("world") == world).group_by("rows").agg(pl.col("hamming", "seconds").mean())
        some = some.sort("rows")
        found[key] = " / ".join(f"{errors:.0f}" for errors in some["hamming"])
        found[f"seconds_{key}"] = f"{some['seconds'][-1]:.2g}"
    return PEERS.format(ours=round(sums(rows)["evidence-map"]), **found)


def people(folder: Path) -> str:
    """Return the errors on the tables of the demo."""
    rows = pl.read_csv(folder / "people.csv")
    lines = [
        f"| {learner} | {' | '.join(f'{error:.1f}' for error in some['errors'])} |"
        for (learner,), some in rows.group_by("learner", maintain_order=True)
    ]
    return PEOPLE + "\n".join([*lines, ""])


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
        "; ".join(
            f"{row['world']}, {row['rows']} rows: {row['ours']:.1f} against {row['hamming']:.1f} "
            f"({row['method']})"
            for row in lost.iter_rows(named=True)
        )
        + ".",
    ]
    return "\n".join([*lines, ""])


def real_tables(file: Path) -> str:
    """Held-out log likelihoods of real tables: means over seeds, then over tables; and table by table."""
    rows = pl.read_csv(file, infer_schema_length=None)
    means = rows.group_by("table", "method", maintain_order=True).agg(
        pl.col("logistic", "counts", "accuracy", "edges", "seconds").mean()
    )
    methods = means["method"].unique(maintain_order=True).to_list()
    shown = [method for method in methods if method not in VARIANTS]
    lines = ["| method | logistic | counts | the better | accuracy | edges | seconds |", "|---" * 7 + "|"]
    both = means.with_columns(pl.max_horizontal("logistic", "counts").alias("better"))
    for method in shown:
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
    return "\n".join([REAL, *lines, ""])


def orders(folder: Path) -> str:
    """Show errors on ten networks beside bnlearn's, in any order of columns; and tables of many levels."""
    theirs = pl.read_csv(folder / "bnlearn.csv").select("network", "rows", bnlearn="errors")
    rows = pl.read_csv(folder / "orders.csv").join(theirs, on=["network", "rows"])
    numbers = pl.col("orders", "same_graph", "above_.9", "of_them_true").sum()
    by = rows.group_by("network", maintain_order=True).agg(pl.col("errors", "bnlearn"), numbers)
    lines = [
        f"| {name} | {' / '.join(map(str, mine))} | {' / '.join(map(str, others))} "
        f"| {same} of {n} | {above} | {true} |"
        for name, mine, others, n, same, above, true in by.iter_rows()
    ]
    mine, others, n, same, above, true = rows.select(pl.col("errors", "bnlearn").sum(), numbers).row(0)
    lines.append(f"| in sum | {mine} | {others} | {same} of {n} | {above} | {true} ({true / above:.1%}) |")
    hubs = [
        f"{row['table']}, {row['columns']} columns, {row['rows']:,} rows: {row['errors']} errors, "
        f"{row['cpu_s']:.1f} CPU s"
        for row in pl.read_csv(folder / "levels.csv").filter(pl.col("rows") > 500).iter_rows(named=True)
        if row["table"].startswith("hub")
    ]
    return ORDERS + "\n".join(lines) + "\n" + LEVELS.format("; ".join(hubs))


def mixed_tables(folder: Path) -> str:
    """Show the errors on tables of numbers and categories, and how well posteriors are calibrated."""
    rows, shares = (pl.read_csv(folder / f"mixed{what}.csv") for what in ("", "_calibration"))
    errors = {(world, cell): count for world, cell, _, count, *_ in rows.iter_rows()}
    sizes = [f"D={size}" for size in (100, 400, 1600)]
    found = [
        f"| {kind}{cut} | {' | '.join(str(errors[kind + cut, size]) for size in sizes)} |"
        for kind in ("mrf", "dag")
        for cut in ("", " quartiles")
    ]
    found = [MIXED + "\n".join(found)]
    peers = pl.read_csv(folder / "mixed_peers.csv").sort("world", "rows", descending=[True, False])
    methods = peers.group_by("method").agg(pl.col("errors").sum()).sort("errors")["method"]
    lines = [
        [
            f"`{method}`" if method == "evidence-map" else method,
            *map(str, peers.filter(method=method)["errors"]),
        ]
        for method in methods
    ]
    found.append(MIXED_PEERS + "\n".join(f"| {' | '.join(line)} |" for line in lines))
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
