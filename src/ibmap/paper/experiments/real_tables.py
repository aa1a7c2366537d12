"""Real tables (paper, section 5.3, Table 1)."""

import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ibmap.errors import DataWarning
from ibmap.paper.claims import Case, Claim
from ibmap.paper.comparisons import Cases
from ibmap.paper.experiment import Experiment, Measure, Panels, Setup, Study, seed_of
from ibmap.paper.fits import EMPTY, PAPER_LEARNERS, RULES, bayesian, fit, told
from ibmap.paper.results import Cell, Measures, Results

if TYPE_CHECKING:
    from ibmap.data import Table


class Printed(NamedTuple):
    """A row of the paper's Table 1."""

    n: int
    train: int
    test: int
    gsmn: float
    hhc_mn: float
    ibmap_hc: float

    @property
    def accuracy(self) -> dict[str, float]:
        """The three numbers by learner."""
        return dict(zip(PAPER_LEARNERS, self[3:], strict=True))


TABLE_1 = {
    "baloons": Printed(5, 14, 5, 0.950, 0.897, 0.950),
    "balance-scale": Printed(5, 468, 156, 0.516, 0.516, 0.516),
    "iris": Printed(5, 112, 37, 0.695, 0.742, 0.736),
    "lenses": Printed(5, 17, 6, 0.881, 0.875, 0.881),
    "hayes-roth": Printed(6, 98, 33, 0.516, 0.516, 0.516),
    "car": Printed(7, 1295, 432, 0.629, 0.641, 0.703),
    "monks-1": Printed(7, 416, 139, 0.905, 0.905, 0.905),
    "nursery": Printed(9, 9719, 3240, 0.392, 0.415, 0.649),
    "ecoli": Printed(9, 251, 84, 0.523, 0.591, 0.694),
    "machine": Printed(10, 156, 52, 0.590, 0.567, 0.679),
    "cmc": Printed(10, 1104, 368, 0.759, 0.711, 0.726),
    "tic-tac-toe": Printed(10, 718, 239, 0.671, 0.684, 0.498),
    "echocardiogram": Printed(13, 45, 15, 0.696, 0.745, 0.745),
    "crx": Printed(16, 489, 163, 0.578, 0.593, 0.609),
    "hepatitis": Printed(20, 59, 20, 0.496, 0.633, 0.796),
    "imports-85": Printed(25, 144, 28, 0.368, 0.377, 0.596),
    "flag": Printed(29, 145, 48, 0.446, 0.451, 0.803),
    "dermatology": Printed(35, 268, 53, 0.234, 0.265, 0.754),
    "bands": Printed(38, 207, 69, 0.399, 0.408, 0.546),
}
DENSE = (
    "The rows are a full design, or all end positions of a game: given the class, or the rest of the board, "
    "everything depends on everything. GSMN adds most edges by far, and so agrees most often with the test "
    "on the last quarter."
)
TINY = (
    "The last quarter has 5 or 6 rows, on which the test can tell next to nothing. The spread over shuffles "
    "(± in the table) is larger than the differences that the paper prints from one of them."
)
WHY = {
    "balance-scale": DENSE,
    "car": DENSE,
    "tic-tac-toe": DENSE,
    "baloons": TINY,
    "lenses": TINY,
    "echocardiogram": "IBMAP-HC does better than printed: alone the best here, where the paper has a tie.",
}
TIE = 0.0005  #: accuracies are printed to three decimals
NEAR = 0.01  #: how far from the best a learner may be that the paper prints in bold, at least
CLOSE = 0.1  #: how far an accuracy may be from the printed one


def run(cell: Cell, repetition: int, setup: Setup) -> Measures:
    """Learn from three quarters of the rows, ask the rest."""
    from ibmap.metrics import accuracy

    name, settings = str(cell["table"]), setup.settings
    seed = seed_of(int(settings["seed"]), {"split": name}, repetition)
    train, test = _split(name, float(settings["train"]), seed, str(settings["discretize"]), setup.data_dir)
    learner = str(cell["learner"])
    graph, effort = fit(learner, train, **told(learner, settings))
    asked = bayesian(settings, ties=str(settings["ties"]))
    share = accuracy(graph, test, test=asked, queries=str(settings["queries"]), random_state=seed)
    return {
        "accuracy": float(share),
        "edges": graph.n_edges,
        "train": train.n_rows,
        "test": test.n_rows,
        **effort,
    }


@lru_cache(maxsize=4)
def _split(
    name: str, fraction: float, seed: int, discretize: str, data_dir: Path | None
) -> tuple["Table", "Table"]:
    from ibmap.paper import datasets

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # some tables hold columns that look like identifiers
        table = datasets.load(name, data_dir, discretize=discretize)
        train, test = datasets.split(table, fraction, seed)
    return train, test


def check(setup: Setup) -> None:
    """Refuse to begin without the tables."""
    from ibmap.paper import datasets

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for name in TABLE_1:
            datasets.load(name, setup.data_dir, discretize=str(setup.settings["discretize"]))


def printed(cell: Cell, measure: str) -> float | None:
    """Return the number in Table 1."""
    return TABLE_1[str(cell["table"])].accuracy.get(str(cell["learner"])) if measure == "accuracy" else None


def cost(cell: Cell) -> float:
    """Return about how long a cell takes."""
    return float(TABLE_1[str(cell["table"])].n)


STUDY = Study(
    name="table-real",
    grid={"table": tuple(TABLE_1), "learner": (*PAPER_LEARNERS, EMPTY)},
    quick={"table": tuple(TABLE_1), "learner": (*PAPER_LEARNERS, EMPTY)},
    repetitions=10,
    quick_repetitions=3,
    settings={
        "seed": 0,
        "train": 0.75,
        "queries": "formula",
        "discretize": "equal-width",
        "ties": "independent",
        **RULES,
    },
    run=run,
    together=("learner",),
    cost=cost,
    check=check,
)


def _ours(results: Results, table: str) -> dict[str, float] | None:
    """Return the mean accuracy of the paper's learners, if every one was run often enough."""
    found = {who: results.mean({"table": table, "learner": who}, "accuracy") for who in PAPER_LEARNERS}
    known = {who: mean for who, mean in found.items() if mean is not None}
    return known if len(known) == len(found) else None


def _best(accuracy: dict[str, float]) -> list[str]:
    highest = max(accuracy.values())
    return [who for who, value in accuracy.items() if value >= highest - TIE]


def _behind(results: Results, table: str, who: str, ours: dict[str, float]) -> tuple[float, float]:
    """Return how far a learner is behind the best one, and the standard error of that."""
    sides: list[Cell] = [{"table": table, "learner": learner} for learner in (_best(ours)[0], who)]
    found = results.difference(sides[0], sides[1], "accuracy")
    return (found.first - found.second, found.error) if found else (0.0, 0.0)


def row_of_table(table: str) -> Claim:
    """Make the claim of one row of the table: who is best."""
    paper = TABLE_1[table]
    n, train, test, *numbers = paper
    printed_row = f"{table} {n} {train} {test} " + " ".join(f"{number:.3f}" for number in numbers)

    def cases(results: Results) -> list[Case]:
        ours = _ours(results, table)
        if ours is None:
            return [Case("", None)]
        words = ", ".join(f"{who} {value:.3f}" for who, value in ours.items())
        behind = [_behind(results, table, who, ours) for who in _best(paper.accuracy)]
        agrees = all(gap <= max(NEAR, error) for gap, error in behind)
        return [Case("", agrees, f"{words}; best: {', '.join(_best(ours))}")]

    best = ", ".join(_best(paper.accuracy))
    reading = f"{best}: within {NEAR} or one standard error of the best here"
    return Claim(printed_row, cases, reading, "Table 1", WHY.get(table, ""))


def _counted(enough: Callable[[Results, list[str]], bool], least: int, most: int) -> Cases:
    """Make a claim about on how many tables something is true of the best learners."""

    def cases(results: Results) -> list[Case]:
        ours = {table: _ours(results, table) for table in TABLE_1}
        best = {table: _best(accuracy) for table, accuracy in ours.items() if accuracy is not None}
        if len(best) < len(ours):
            return [Case("", None)]
        number = sum(enough(results, [table, *winners]) for table, winners in best.items())
        alone = {who: sum(winners == [who] for winners in best.values()) for who in PAPER_LEARNERS}
        ties = sum("ibmap-hc" in winners and len(winners) > 1 for winners in best.values())
        words = ", ".join(f"{who} alone in {number}" for who, number in alone.items())
        words = f"{number} tables; best of {len(best)}: {words}; ibmap-hc tied in {ties}"
        return [Case("", least <= number <= most, words)]

    return cases


def _is_alone(results: Results, found: list[str]) -> bool:
    return found[1:] == ["ibmap-hc"]


def _is_beaten(results: Results, found: list[str]) -> bool:
    table, *winners = found
    ours = _ours(results, table) or {}
    gap, error = _behind(results, table, "ibmap-hc", ours)
    return "ibmap-hc" not in winners and gap > error


def _large(results: Results) -> list[Case]:
    """Compare IBMAP-HC with both rivals on the tables with at least 16 variables."""
    found = []
    for table in (name for name, row in TABLE_1.items() if row.n >= 16):
        ours = _ours(results, table)
        if ours is None:
            found.append(Case(table, None))
            continue
        words = ", ".join(f"{who} {value:.3f}" for who, value in ours.items())
        gap = max(ours["gsmn"], ours["hhc-mn"]) - ours["ibmap-hc"]
        error = _behind(results, table, "ibmap-hc", ours)[1]
        tied = -TIE <= gap < error
        found.append(Case(table, gap < -TIE or tied, words, gap, tied))
    return found


def _printed_numbers(results: Results) -> list[Case]:
    """Compare every accuracy with the printed one."""
    found = []
    for table, row in TABLE_1.items():
        ours = _ours(results, table)
        for who, number in row.accuracy.items():
            where = f"{table}, {who}"
            if ours is None:
                found.append(Case(where, None))
                continue
            gap = abs(ours[who] - number)
            found.append(Case(where, gap <= CLOSE, f"{ours[who]:.3f} against {number:.3f}", gap))
    return found


def _printed_sizes(results: Results) -> list[Case]:
    """Compare the numbers of rows with the printed ones; one row is lost everywhere in the paper."""
    found = []
    for table, row in TABLE_1.items():
        cell: Cell = {"table": table, "learner": "gsmn"}
        train, test = (results.mean(cell, name) for name in ("train", "test"))
        if train is None or test is None:
            found.append(Case(table, None))
            continue
        gap = max(abs(train - row.train), abs(test - row.test))
        words = f"{train:.0f} and {test:.0f} against {row.train} and {row.test}"
        found.append(Case(table, gap <= 1, words, gap))
    return found


PLACE = "Section 5.3, on Table 1"
CLAIMS = (
    Claim(
        "in 10 of 19 datasets IBMAP-HC resulted in better accuracy",
        _counted(_is_alone, 10, len(TABLE_1)),
        "alone the best on 10 tables or more",
        PLACE,
    ),
    Claim(
        "6 cases resulted in ties (2 with GSMN, 1 with HHC-MN, and 3 with both), and for the remaining "
        "cases, the best results are obtained by HHC-MN (2 cases) and GSMN (1 case)",
        _counted(_is_beaten, 0, 3),
        "a rival beats IBMAP-HC by more than one standard error on at most 3 tables",
        PLACE,
        "Three of the tables on which GSMN is ahead are full designs, where it adds most edges and "
        "everything depends on everything; on the two smallest, 5 or 6 rows are asked.",
    ),
    Claim(
        "The cases where IBMAP-HC always outperforms it competitors are those with n ≥ 16", _large, "", PLACE
    ),
    *(row_of_table(table) for table in TABLE_1),
    Claim(
        "the accuracy obtained for the structure learned for each algorithm is shown in the fifth, sixth and "
        "seventh columns",
        _printed_numbers,
        f"our mean is within {CLOSE} of the printed number",
        PLACE,
        "The accuracy of one graph depends on the test's answers on few rows, where most questions have one "
        "row in a slice and the prior decides; bins and ties move all three columns together. So the order "
        "of the learners is comparable, their numbers are not.",
    ),
    Claim(
        "the number of datapoints available in the train and test sets (third and fourth column)",
        _printed_sizes,
        "our numbers differ by one row at most",
        PLACE,
        "The printed numbers of imports-85 and dermatology do not add up to 75 % and 25 % of one table: "
        "rows are missing from the last quarter.",
    ),
)

TABLE_REAL = Experiment(
    name="table-real",
    title="Accuracy on real tables",
    about="Section 5.3, Table 1: 19 tables, shuffled, 75 % to learn from and 25 % to ask. The paper "
    "reports one shuffle; here each repetition is another. It does not say how numeric columns were "
    "discretised: equal-width bins, 1 + log₂ of the rows. `queries`: 100 · n(n-1)/2 in all (formula), or "
    "100 for each size (per-size). `ties`: what the accuracy's test says where the data say nothing, as "
    "with one row in every slice. `prior_counts`, `combine`: options of the test, in learning and asking.",
    study=STUDY,
    measures=(Measure("accuracy", "Accuracy", 3),),
    across="learner",
    figure=Panels(x="table", lines="learner"),
    claims=CLAIMS,
    printed=printed,
)
