"""Claims: made-up rows speak for them and against them."""

from itertools import permutations

import pytest

from ibmap.paper.claims import FAILS, HOLDS, MOSTLY, OPEN, Case, verdict
from ibmap.paper.comparisons import exponent, falls, grows, slowest_convergence, sublinear, versus
from ibmap.paper.experiments.mi_hamming import near
from ibmap.paper.experiments.real_tables import TABLE_1
from ibmap.paper.registry import experiment_names, find_experiment
from ibmap.paper.results import Results, Row, cells_of

GRID = {"n": (10, 20, 40), "D": (1, 2), "learner": ("a", "b", "c")}


def results(value, grid=GRID, repetitions=3, measure="hamming") -> Results:
    """Rows whose measure is a function of the cell."""
    return Results(
        Row(cell, r, {measure: value(cell)}) for cell in cells_of(grid) for r in range(repetitions)
    )


def status(cases, made_up: Results) -> str:
    return verdict(list(cases(made_up))).status


def where():
    return list(cells_of({"n": GRID["n"], "D": GRID["D"]}))


def test_one_learner_against_others():
    cases = versus("hamming", where(), "a", ("b", "c"))
    assert status(cases, results(lambda c: {"a": 1, "b": 2, "c": 3}[c["learner"]])) == HOLDS
    assert status(cases, results(lambda c: 1)) == FAILS, "equal is not better"
    worse = results(lambda c: {"a": 9 if c["n"] == 20 else 1, "b": 2, "c": 3}[c["learner"]])
    found = verdict(cases(worse))
    assert found.status == FAILS
    for words in ("8 of 12", "n = 20, D = 1", "9.0 (a)", "2.0 (b)"):
        assert words in found.words
    higher = versus("hamming", where(), "c", ("a", "b"), lower=False)
    assert status(higher, results(lambda c: {"a": 1, "b": 2, "c": 3}[c["learner"]])) == HOLDS


def noisy(first: float, second: float) -> Results:
    """Rows of a and b whose difference varies by one from world to world: its standard error is 0.41."""
    return Results(
        Row({"n": 10, "D": 1, "learner": who}, r, {"hamming": mean + (who == "a") * (r % 3 - 1)})
        for who, mean in (("a", first), ("b", second))
        for r in range(6)
    )


@pytest.mark.parametrize(
    ("first", "plain", "clear"),
    [(9.0, HOLDS, HOLDS), (9.8, HOLDS, FAILS), (10.2, HOLDS, FAILS), (11, FAILS, FAILS)],
)
def test_a_difference_below_its_standard_error_speaks_for_nobody(first, plain, clear):
    made_up, cell = noisy(first, 10.0), [{"n": 10, "D": 1}]
    assert status(versus("hamming", cell, "a", "b"), made_up) == plain
    assert status(versus("hamming", cell, "a", "b", clearly=True), made_up) == clear


def test_cases_that_only_chance_decides_are_counted_apart():
    found = verdict([Case("n = 1", True), Case("n = 2", True, "9 against 8", 0.1, tied=True)])
    assert found.words == "holds in 2 of 2 cases (1 within one standard error); closest at n = 2: 9 against 8"


def test_a_claim_need_not_wait_for_the_last_case():
    cases = [Case(f"n = {n}", True if n else None) for n in range(40)]
    assert verdict(cases).status == HOLDS
    assert "39 cases so far; 1 not run often enough" in verdict(cases).words
    assert verdict(cases[:10]).status == OPEN


def test_most_cases_are_not_all():
    found = verdict([Case(f"n = {n}", n > 0, "words") for n in range(10)])
    assert (found.status, found.agreeing, found.run) == (MOSTLY, 9, 10)
    assert verdict([Case(f"n = {n}", n > 1, "words") for n in range(10)]).status == FAILS


def test_a_margin_forgives_a_little():
    made_up = results(lambda c: {"a": 10.5, "b": 10, "c": 10}[c["learner"]])
    assert status(versus("hamming", where(), "a", ("b", "c")), made_up) == FAILS
    assert status(versus("hamming", where(), "a", ("b", "c"), margin=0.1), made_up) == HOLDS
    assert status(versus("hamming", where(), "a", ("b", "c"), margin=0.01), made_up) == FAILS


def test_means_of_few_repetitions_say_nothing():
    cases = versus("hamming", where(), "a", "b")
    better = lambda c: "abc".index(c["learner"])  # noqa: E731
    assert status(cases, results(better, repetitions=2)) == OPEN
    part = results(better, grid={**GRID, "n": (10,)})
    words = verdict(cases(part)).words
    assert "2 of 2" in words
    assert "4 not run" in words
    assert status(cases, part) == OPEN
    assert status(versus("hamming", where(), "b", "a"), part) == FAILS, "one case is enough against it"
    assert verdict([Case("n = 1", None)]).status == OPEN


def test_growth():
    assert status(grows("hamming", "n", GRID, {}), results(lambda c: c["n"])) == HOLDS
    assert status(grows("hamming", "n", GRID, {}), results(lambda c: -c["n"])) == FAILS
    assert status(grows("hamming", "n", GRID, {"learner": ("a",)}), results(lambda c: c["n"])) == HOLDS
    assert status(falls("hamming", "D", GRID), results(lambda c: -c["D"])) == HOLDS
    assert status(falls("hamming", "D", GRID), results(lambda c: 1)) == FAILS
    assert status(falls("hamming", "D", GRID, strictly=False), results(lambda c: 1)) == HOLDS


def test_growth_less_than_linear():
    assert status(sublinear("hamming", "n", GRID, {}), results(lambda c: c["n"] ** 0.8)) == HOLDS
    assert status(sublinear("hamming", "n", GRID, {}), results(lambda c: c["n"] ** 1.2)) == FAILS
    assert status(sublinear("hamming", "n", GRID, {}), results(lambda c: 0)) == HOLDS
    assert status(sublinear("hamming", "n", GRID, {}), results(lambda c: 5 * (c["n"] == 40))) == FAILS
    assert exponent([(1, 5), (10, 50)]) == pytest.approx(1)


def test_convergence():
    cases = slowest_convergence("hamming", "a", ("b", "c"), GRID, ("n",))
    assert status(cases, results(lambda c: {"a": 9, "b": 2, "c": 3}[c["learner"]] / c["D"])) == HOLDS
    assert status(cases, results(lambda c: {"a": 2, "b": 9, "c": 3}[c["learner"]] / c["D"])) == FAILS
    assert status(cases, results(lambda c: 1, grid={**GRID, "D": (1,)})) == OPEN


def test_a_printed_number():
    cell = {"n": 10, "D": 1, "learner": "a"}
    assert status(near(cell, 100), results(lambda c: 95)) == HOLDS
    assert status(near(cell, 100), results(lambda c: 85)) == FAILS


@pytest.mark.parametrize("name", experiment_names())
def test_every_claim_waits_for_rows(name):
    experiment = find_experiment(name)
    for claim in experiment.claims:
        found = claim.judge(Results([]))
        assert found.status == OPEN, claim.quote
        assert claim.place, claim.quote
    assert len({(claim.quote, claim.reading) for claim in experiment.claims}) == len(experiment.claims)


def made_up_rows(experiment: str, learners: tuple[str, ...], sign: int) -> Results:
    """Rows of the whole grid: earlier learners have fewer errors, which grow with n and τ, or shrink."""
    rank = {learner: k + 1 for k, learner in enumerate((*learners, "empty"))}

    def value(cell):
        errors = rank[cell["learner"]] * (cell["n"] * cell.get("tau", 1)) ** sign * (1 + 1 / cell["D"])
        names = ("hamming", "false_positives", "milliseconds")
        better = dict.fromkeys(("f_independences", "f_edges"), 1 / errors)
        return {
            **dict.fromkeys(names, errors),
            **better,
            "ascents": cell["n"] ** (1 - sign / 2),
            "tests": cell["n"] ** (2 - sign),
        }

    grid = find_experiment(experiment).study.grid
    return Results(Row(cell, r, value(cell)) for cell in cells_of(grid) for r in range(3))


@pytest.mark.parametrize("name", ["random-hamming", "random-fmeasure", "random-runtime", "ising"])
def test_claims_about_learners_can_hold_and_fail(name):
    orders = list(permutations(("gsmn", "hhc-mn", "ibmap-hc")))
    worlds = [made_up_rows(name, order, sign) for order in orders for sign in (1, -1)]
    for claim in find_experiment(name).claims:
        assert {claim.judge(world).status for world in worlds} == {HOLDS, FAILS}, claim.quote


def test_the_paper_scores_its_own_table():
    printed = find_experiment("table-real")
    rows = [
        Row(
            {"table": table, "learner": learner},
            r,
            {"accuracy": accuracy, "train": row.train, "test": row.test},
        )
        for table, row in TABLE_1.items()
        for learner, accuracy in row.accuracy.items()
        for r in range(3)
    ]
    assert {claim.judge(Results(rows)).status for claim in printed.claims} == {HOLDS}
    worst = [Row(r.cell, r.repetition, {**r.measures, "accuracy": 1 - r.measures["accuracy"]}) for r in rows]
    failed = [claim for claim in printed.claims if claim.judge(Results(worst)).status == FAILS]
    assert len(failed) >= 18  # in four rows all learners are within 0.01


@pytest.mark.parametrize("name", ["table-onemax", "table-royal-road"])
def test_the_paper_scores_its_own_optimisation_tables(name):
    experiment = find_experiment(name)
    names = [measure.name for measure in experiment.measures]

    def rows(swapped: bool) -> Results:
        other = {"MOA": "MOA'", "MOA'": "MOA", "no edges": "no edges"}
        cells = [(cell, {m: experiment.printed(cell, m) for m in names}) for cell in experiment.study.cells()]
        return Results(
            Row({**cell, "algorithm": other[cell["algorithm"]]} if swapped else cell, 0, measures)
            for cell, measures in cells
        )

    assert {claim.judge(rows(False)).status for claim in experiment.claims} == {HOLDS}
    assert {claim.judge(rows(True)).status for claim in experiment.claims[:5]} == {FAILS}


def test_the_diamond():
    experiment = find_experiment("landscape-6")
    diamond = next(claim for claim in experiment.claims if "diamond" in claim.quote)
    for higher, expected in ((0, HOLDS), (2, FAILS)):
        measures = {"higher": higher, "below_highest": 0.5, "slope": 0, "found_hamming": 1}
        rows = [Row(cell, 0, measures) for cell in experiment.study.cells()]
        assert diamond.judge(Results(rows)).status == expected
