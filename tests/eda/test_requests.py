"""Bad input: one clear line each, and the optimiser stays as it was."""

import numpy as np
import pytest

from ibmap import IBMAP
from ibmap.eda import MOA, Stop, critical_population_size, make_problem, maximize, problem_names
from ibmap.errors import IbmapError, RequestError


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((0, 20), {}, "n must be between 1 and 1,000,000, a whole number, not 0"),
        ((2.5, 20), {}, "n must be between 1 and"),
        ((5, -1), {}, "population_size must be 1 or more"),
        ((5, 3), {}, "a population of 3 is too small to select 0.5 of it"),
        ((5, 20), {"selection": 0}, "selection must be a share of the population, above 0"),
        ((5, 20), {"selection": 1.2}, "selection must be a share"),
        ((5, 20), {"selection": 0.05}, "too small to select 0.05"),
        ((5, 20), {"elitism": 1.0}, "elitism must be a share of the population, 0 or more, below 1"),
        ((5, 20), {"elitism": "half"}, "elitism must be a share"),
        ((5, 20), {"levels": 1}, "at least 2 levels, at most 65,536, not 1"),
        ((2, 20), {"levels": [2, 10**9]}, "at most 65,536, not 1000000000"),
        ((5, 20), {"levels": [2, 3]}, "one for each of the 5 variables"),
        ((5, 20), {"levels": 2.5}, "levels must be a whole number"),
        (
            (5, 20),
            {"learner": "best"},
            "unknown learner 'best'; there are evidence-map, ibmap-hc, gsmn, hhc-mn, mi",
        ),
        ((5, 20), {"learner": IBMAP}, "an estimator is made by calling its class"),
        ((5, 20), {"learner": 3}, "learner must be a name, an estimator or a function"),
        ((5, 20), {"sampling": "exact"}, "unknown sampling 'exact'"),
        ((5, 20), {"cooling": -1.0}, "cooling must be a number, 0 or more"),
        ((5, 20), {"cooling": np.nan}, "cooling must be a number, 0 or more"),
        ((5, 20), {"stop": 3}, r"stop must be a Stop, such as Stop\(generations=100\), not 3"),
        ((5, 20), {"steps": 0}, "steps must be 1 or more"),
        ((5, 20), {"random_state": "x"}, "random_state must be"),
    ],
)
def test_what_cannot_be_built(arguments, options, words):
    with pytest.raises(RequestError, match=words):
        MOA(*arguments, **options)


def asked():
    moa = MOA(4, 10, levels=[2, 2, 3, 2], random_state=0)
    return moa, moa.ask()


@pytest.mark.parametrize(
    ("solutions", "fitness", "words"),
    [
        (np.zeros((9, 4)), np.zeros(9), r"shape \(9, 4\); 10 rows of 4 values were asked for"),
        (np.zeros((10, 5)), np.zeros(10), r"shape \(10, 5\)"),
        (np.zeros(10), np.zeros(10), r"shape \(10,\)"),
        (np.full((10, 4), 0.5), np.zeros(10), "whole numbers"),
        (np.full((10, 4), np.nan), np.zeros(10), "whole numbers"),
        (np.full((10, 4), "a"), np.zeros(10), "whole numbers"),
        (np.full((10, 4), 2), np.zeros(10), "variable 0 has the levels 0 to 1; solution 0 has 2 there"),
        (np.full((10, 4), -1), np.zeros(10), "solution 0 has -1 there"),
        (np.zeros((10, 4)), np.zeros(9), r"fitness has the shape \(9,\); 10 numbers are needed"),
        (np.zeros((10, 4)), np.zeros((10, 1)), r"fitness has the shape \(10, 1\)"),
        (np.zeros((10, 4)), 3.0, r"fitness has the shape \(\)"),
        (np.zeros((10, 4)), ["good"] * 10, "fitness must be 10 numbers"),
        (np.zeros((10, 4)), [0, np.nan, *[0] * 8], "the fitness of solution 1 is nan"),
        (np.zeros((10, 4)), [np.inf, *[0] * 9], "the fitness of solution 0 is inf"),
    ],
)
def test_what_cannot_be_told_changes_nothing(solutions, fitness, words):
    moa, first = asked()
    with pytest.raises(RequestError, match=words):
        moa.tell(solutions, fitness)
    assert (moa.ask() == first).all()
    assert moa.evaluations == 0
    moa.tell(first, first.sum(axis=1))
    assert moa.evaluations == 10


def test_tell_before_ask_and_twice():
    moa = MOA(4, 10)
    with pytest.raises(RequestError, match="nothing was asked"):
        moa.tell(np.zeros((10, 4)), np.zeros(10))
    solutions = moa.ask()
    moa.tell(solutions, solutions.sum(axis=1))
    with pytest.raises(RequestError, match="nothing was asked"):
        moa.tell(solutions, solutions.sum(axis=1))


def test_no_best_before_the_first_population():
    with pytest.raises(RequestError, match="no best individual yet"):
        MOA(4, 10).best_  # noqa: B018


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_temperatures_that_are_none(temperature):
    moa = MOA(4, 10, cooling=lambda g: temperature, random_state=0)
    moa.tell(moa.ask(), np.zeros(10))
    with pytest.raises(RequestError, match="temperature must be a number above 0"):
        moa.ask()


class OutOfOrderError(Exception):
    pass


def test_a_fitness_that_raises_leaves_a_file_to_go_on_from(tmp_path):
    path = tmp_path / "state.pickle"
    calls = []

    def moody(rows):
        calls.append(rows.copy())
        if len(calls) == 3:
            raise OutOfOrderError
        return rows.sum(axis=1)

    def run(function, checkpoint):
        return maximize(function, 30, 60, stop=Stop(generations=8), checkpoint=checkpoint, random_state=2)

    with pytest.raises(OutOfOrderError):
        run(moody, path)
    assert MOA.load(path).evaluations == 90
    resumed = run(moody, path)
    assert (calls[2] == calls[3]).all()
    whole = run(lambda rows: rows.sum(axis=1), None)
    assert resumed.solution.tolist() == whole.solution.tolist()
    assert resumed.optimizer.history_.drop("seconds").equals(whole.optimizer.history_.drop("seconds"))
    again = run(moody, path)  # finished: nothing is left to do
    assert (again.evaluations, len(calls)) == (resumed.evaluations, 10)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "state.pickle"
    maximize(lambda rows: rows.sum(axis=1), 6, 20, stop=Stop(generations=1), checkpoint=path)
    for more, words in (
        ({"n": 7}, "has n 6, this run 7: remove the file"),
        ({"learner": "mi"}, "has learner ibmap-hc, this run mi"),
        ({"cooling": 2}, "has cooling 0.5, this run 2.0"),
        ({"levels": 3}, "other levels"),
    ):
        options = {"n": 6, "population_size": 20, **more}
        with pytest.raises(RequestError, match=words):
            maximize(lambda rows: rows.sum(axis=1), checkpoint=path, **options)


def test_what_no_file_can_hold(tmp_path):
    moa = MOA(4, 10, cooling=lambda g: 1.0)
    with pytest.raises(RequestError, match=r"cannot save: .*must be a function of a module") as caught:
        moa.save(tmp_path / "state")
    assert "\n" not in str(caught.value)
    assert not [*tmp_path.iterdir()]
    assert moa.ask().shape == (10, 4)  # as it was


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x04K\x01."])
def test_files_that_hold_no_optimiser(tmp_path, content):
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(IbmapError, match="holds no MOA"):
        MOA.load(tmp_path / "state")


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(RequestError, match="cannot read"):
        MOA.load(tmp_path / "nowhere")
    with pytest.raises(RequestError, match="cannot write"):
        MOA(4, 10).save(tmp_path / "no folder" / "state")


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, "returned NoneType"),
        ("abcd", "returned str"),
        ([[1], [0]], "for each of the 4 variables"),
        ([["a"], [], [], []], "must return a Graph"),
        ([[0], [], [], []], r"variable 0 the neighbours \[0\]"),
        ([[9], [], [], []], r"variable 0 the neighbours \[9\]"),
        ([[1, 1], [], [], []], r"the neighbours \[1, 1\]"),
    ],
)
def test_learners_that_return_something_else(returned, words):
    moa = MOA(4, 10, learner=lambda data: returned, random_state=0)
    moa.tell(moa.ask(), np.zeros(10))
    with pytest.raises(RequestError, match=words):
        moa.ask()


@pytest.mark.parametrize(
    ("limits", "words"),
    [({"generations": -1}, "generations must be 0 or more"), ({"target": "high"}, "target must be a number"),
     ({"seconds": float("nan")}, "seconds must be a number"), ({"stall": True}, "stall must be a number")],
)  # fmt: skip
def test_limits_that_are_none(limits, words):
    with pytest.raises(RequestError, match=words):
        Stop(**limits)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "the optimum of this function is not known: pass target"),
        ({"target": 4, "repetitions": 0}, "repetitions must be between 1 and 1,000,000"),
        ({"target": 4, "n_jobs": 0}, "n_jobs must be 1 or more"),
        ({"target": 4, "random_state": -1}, "random_state must be between 0 and"),
        ({"target": 4, "sizes": (2,)}, "a population of 2 is too small"),
        ({"target": 4, "sizes": ()}, "sizes must be population sizes to try"),
        ({"target": 4, "sizes": 50}, "sizes must be population sizes to try"),
    ],
)
def test_critical_sizes_that_cannot_be_found(options, words):
    with pytest.raises(RequestError, match=words):
        critical_population_size(lambda rows: rows.sum(axis=1), 4, **options)


@pytest.mark.parametrize(
    ("name", "n", "options", "words"),
    [
        ("travelling-salesman", 8, {}, "unknown problem 'travelling-salesman'; there are onemax"),
        ("onemax", 0, {}, "onemax needs a whole number of bits, 1 or more, at most 1,000,000, not 0"),
        ("royal-road", 10, {}, "royal-road has groups of 4: 10 bits is not a multiple"),
        ("royal-road", 10, {"gamma": 0}, "gamma must be a whole number from 1"),
        ("trap", 12, {"k": 6}, "k must be a whole number from 3 to 5"),
        ("trap", 12, {"k": 5}, "trap has groups of 5"),
        ("nk", 3, {"k": 3}, "nk needs more than k = 3 bits"),
        ("max-cut", 4, {"degree": 5}, "degree must lie between 0 and n - 1 = 3"),
        ("spin-glass", 9, {"boundary": "torus"}, "unknown boundary 'torus'"),
        ("trap", 10, {"gamma": 2}, "trap has no option 'gamma'; there is k, shuffled"),
        ("trap", 10, {"shuffled": "yes"}, "shuffled must be true or false, not 'yes'"),
        ("royal-road", 8, {"n": 4}, "royal-road has no option 'n'; there is gamma"),
    ],
)
def test_problems_that_cannot_be_made(name, n, options, words):
    with pytest.raises(RequestError, match=words):
        make_problem(name, n, **options)


def test_rows_of_another_length():
    with pytest.raises(RequestError, match="takes rows of 8 bits"):
        make_problem("onemax", 8)(np.zeros((2, 7)))


@pytest.mark.parametrize("name", problem_names())
@pytest.mark.parametrize("value", [2, -1, 0.5, np.nan, "1"])
def test_values_that_are_no_bits(name, value):
    problem = make_problem(name, 20)
    with pytest.raises(RequestError, match=f"{name} takes bits"):
        problem(np.full((2, 20), value))
    rows = np.random.default_rng(0).integers(2, size=(5, 20))
    for kind in (bool, float, np.uint8):  # other ways to write bits
        assert problem(rows.astype(kind)).tolist() == problem(rows).tolist()
