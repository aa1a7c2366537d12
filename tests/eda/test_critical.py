"""Critical population sizes, limits of a run, and the paper's small numbers."""

import numpy as np
import pytest

from ibmap.eda import MOA, OwnNeighbours, Stop, critical_population_size, make_problem, maximize


def ones(rows):
    return rows.sum(axis=1)


def test_the_smallest_size_that_always_succeeds():
    problem = make_problem("onemax", 15)
    found = critical_population_size(problem, 15, sizes=(8, 16, 50, 100), repetitions=5, random_state=0)
    assert found.size == 50
    assert found.failed == (8, 16)
    assert len(found.runs) == 5
    assert found.evaluations == np.mean(found.runs)
    assert found.std == pytest.approx(np.std(found.runs, ddof=1))


def test_it_does_not_depend_on_the_number_of_processes():
    one, two = (
        critical_population_size(ones, 12, 12, sizes=(10, 60), repetitions=4, n_jobs=jobs, random_state=0)
        for jobs in (1, 2)
    )
    assert one == two


def test_no_size_is_large_enough():
    found = critical_population_size(ones, 10, 11, sizes=(10, 20), repetitions=2, generations=3)
    assert found == (None, None, None, (), (10, 20))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "size", "evaluations"), [(15, 50, 202.5), (30, 100, 475.0), (60, 200, 1050.0)])
def test_the_papers_onemax_with_ibmap_hc(n, size, evaluations):
    found = critical_population_size(make_problem("onemax", n), n, random_state=0)
    assert found.size == size
    assert found.evaluations == pytest.approx(evaluations, rel=0.1)


def test_learning_the_structure_pays_on_traps():
    problem = make_problem("trap", 20)
    options = {"stop": Stop(target=20, generations=50), "random_state": 0}
    assert maximize(problem, 20, 800, learner=OwnNeighbours(4), **options).stopped_by == "target"
    assert maximize(problem, 20, 800, learner="none", **options).stopped_by == "generations"


@pytest.mark.parametrize(
    ("limits", "reason", "generations"),
    [
        ({"generations": 3}, "generations", 3),
        ({"evaluations": 75}, "evaluations", 3),
        ({"evaluations": 79}, "evaluations", 3),
        ({"evaluations": 80}, "evaluations", 4),
        ({"stall": 2}, "stall", 2),
        ({"seconds": 0}, "seconds", 0),
        ({"target": 0}, "target", 0),
    ],
)
def test_limits(limits, reason, generations):
    found = maximize(
        lambda rows: np.zeros(len(rows)), 6, 40, stop=Stop(**limits), elitism=0.75, random_state=0
    )
    assert (found.stopped_by, found.generations) == (reason, generations)


def test_a_callback_ends_the_run_and_rows_may_come_one_by_one():
    seen = []

    def callback(moa):
        seen.append(moa.generation)
        return moa.generation == 2

    found = maximize(sum, 30, 20, vectorized=False, callback=callback, random_state=0)
    assert seen == [0, 1, 2]
    assert found.stopped_by == "callback"
    assert found.fitness == found.solution.sum()
    assert isinstance(found.optimizer, MOA)
