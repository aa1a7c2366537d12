"""MOA: ask and tell, what lives on, and going on exactly where it stopped."""

import pickle
from functools import partial

import numpy as np
import pytest

from ibmap import IBMAP, Graph
from ibmap.eda import MOA, OwnNeighbours, Stop, maximize
from ibmap.eda.structure import learn_structure
from ibmap.learners import mutual_information

LEARNERS = {
    "mi": "mi",
    "ibmap-hc": "ibmap-hc",
    "gsmn": "gsmn",
    "hhc-mn": "hhc-mn",
    "none": "none",
    "estimator": IBMAP(),
    "own": OwnNeighbours(2),
    "partial": partial(mutual_information, max_neighbours=1),
}


def ones(rows):
    return rows.sum(axis=1)


def step(moa, times=1):
    for _ in range(times):
        solutions = moa.ask()
        moa.tell(solutions, ones(solutions))


def told(moa):
    population, fitness = moa.population_
    history = moa.history_.drop("seconds").rows()
    return population.tolist(), fitness.tolist(), history, moa.best_.solution.tolist(), moa.evaluations


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_every_learner_finds_the_ones(learner):
    found = maximize(ones, 12, 200, learner=learner, stop=Stop(target=12, generations=60), random_state=0)
    assert found.fitness == 12
    assert found.solution.tolist() == [1] * 12
    assert found.stopped_by == "target"
    assert found.evaluations == 200 + 100 * found.generations


@pytest.mark.parametrize("sampling", ["boltzmann-joint", "boltzmann-conditional", "conditional"])
def test_every_sampling_finds_the_ones(sampling):
    found = maximize(ones, 20, 200, sampling=sampling, stop=Stop(target=20), random_state=0)
    assert found.fitness == 20


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_the_same_seed_gives_the_same_run(learner):
    runs = []
    for _ in range(2):
        moa = MOA(10, 40, learner=learner, random_state=7)
        step(moa, 4)
        runs.append(told(moa))
    assert runs[0] == runs[1]


def test_first_everyone_then_the_new_half():
    moa = MOA(15, 50, random_state=0)
    assert moa.ask().shape == (50, 15)
    step(moa)
    assert moa.ask().shape == (25, 15)
    moa = MOA(15, 50, elitism=0.1, selection=0.3, random_state=0)
    step(moa)
    assert moa.ask().shape == (45, 15)
    assert (moa.n_selected, moa.n_elite) == (15, 5)


def test_asking_twice_is_asking_once():
    moa = MOA(8, 20, random_state=1)
    first = moa.ask()
    first[:] = 9  # the optimiser keeps its own
    assert moa.ask().max() == 1
    assert (moa.ask() == moa.ask()).all()


def test_the_best_half_lives_on_and_the_best_never_gets_worse():
    moa = MOA(20, 60, random_state=3)
    step(moa)
    for _ in range(5):
        best = moa.population_[0][:30]
        step(moa)
        fitness = moa.population_[1]
        assert fitness[:30].min() >= ones(best).min()
        assert (np.diff(fitness) <= 0).all()
    assert moa.history_["best"].is_sorted()


def test_without_elitism_the_best_is_remembered():
    moa = MOA(8, 40, elitism=0, random_state=0)
    step(moa)
    moa.tell(np.zeros_like(moa.ask()), np.full(40, -5.0))
    assert moa.population_[1].max() == -5
    assert moa.best_.fitness == moa.history_["best"][-1] > 0


def test_history():
    moa = MOA(10, 40, random_state=0)
    step(moa, 3)
    history = moa.history_
    assert history.columns == ["generation", "evaluations", "best", "mean", "edges", "seconds"]
    assert history["generation"].to_list() == [0, 1, 2]
    assert history["evaluations"].to_list() == [40, 60, 80]
    assert history["edges"][0] is None
    assert history["edges"][2] == moa.graph_.n_edges
    assert history["seconds"].is_sorted()
    assert history["mean"][2] == moa.population_[1].mean()
    assert repr(moa).startswith("MOA(10 variables, population 40, 80 evaluations, best ")


@pytest.mark.parametrize("where", ["before the first ask", "after ask", "after tell"])
@pytest.mark.parametrize("how", ["pickle", "file"])
def test_a_saved_optimiser_goes_on_exactly(tmp_path, where, how):
    moa = MOA(12, 40, learner="ibmap-hc", random_state=5)
    if where != "before the first ask":
        step(moa, 3)
    if where == "after ask":
        moa.ask()
    if how == "pickle":
        twin = pickle.loads(pickle.dumps(moa))
    else:
        moa.save(tmp_path / "moa.pickle")
        twin = MOA.load(tmp_path / "moa.pickle")
        assert [path.name for path in tmp_path.iterdir()] == ["moa.pickle"]
    for optimiser in (moa, twin):
        step(optimiser, 3)
    assert told(moa) == told(twin)


def test_a_network_is_kept_while_the_selected_stay():
    calls = []

    def learner(data):
        calls.append(data.n_rows)
        return Graph(data.names)

    moa = MOA(6, 20, learner=learner, random_state=0)
    step(moa, 2)
    assert calls == [10]
    solutions = moa.ask()
    moa.tell(solutions, np.full(10, -1.0))  # nobody new is selected
    n_calls = len(calls)
    moa.ask()
    assert len(calls) == n_calls
    moa.tell(np.ones((10, 6)), np.full(10, 99.0))
    moa.ask()
    assert len(calls) == n_calls + 1


def test_more_levels_than_two():
    sizes = [2, 3, 5, 4, 7, 2]
    aim = np.array([1, 2, 0, 3, 6, 1])
    found = maximize(lambda rows: -abs(rows - aim).sum(axis=1), 6, 300, levels=sizes, stop=Stop(target=0),
                     random_state=0)  # fmt: skip
    assert found.solution.tolist() == aim.tolist()
    first = MOA(6, 400, levels=sizes, random_state=0).ask()
    assert (first.max(axis=0) + 1).tolist() == sizes


def test_one_variable_is_enough():
    assert maximize(ones, 1, 4, stop=Stop(target=1), random_state=0).fitness == 1


def test_temperature_may_be_any_function():
    hot, cold = (
        MOA(10, 60, cooling=cooling, learner="none", random_state=0) for cooling in (lambda g: 1e9, 1e9)
    )
    for moa in (hot, cold):
        step(moa, 2)
    assert cold.history_["mean"][1] > hot.history_["mean"][1]
    same = [MOA(10, 60, cooling=cooling, random_state=0) for cooling in (lambda g: 2 / g, 0.5)]
    for moa in same:
        step(moa, 4)
    assert told(same[0]) == told(same[1])


@pytest.mark.parametrize("cooling", [1e308, lambda g: 5e-324], ids=["number", "function"])
@pytest.mark.parametrize("sampling", ["boltzmann-joint", "boltzmann-conditional"])
def test_frozen_is_not_broken(cooling, sampling):
    moa = MOA(10, 60, cooling=cooling, sampling=sampling, random_state=0)
    step(moa, 4)
    assert moa.best_.fitness >= 9


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.parametrize("levels", [2, [2, 3, 2, 4, 2, 2]], ids=["bits", "levels"])
def test_every_learner_endures_a_population_that_has_become_one(learner, levels):
    found = maximize(ones, 6, 40, levels=levels, learner=learner, stop=Stop(generations=25), random_state=0)
    rows, _ = found.optimizer.population_
    assert found.generations == 25
    assert (rows[:20] == rows[0]).all()
    assert found.fitness == np.sum(np.broadcast_to(levels, 6) - 1)


def test_own_neighbours_need_not_agree():
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=400)
    b, c = (np.where(rng.random(400) < p, 1 - a, a) for p in (0.1, 0.2))
    found = learn_structure(OwnNeighbours(1, factor=0.5), np.stack([a, b, c], axis=1), np.full(3, 2))
    assert [some.tolist() for some in found.neighbours] == [[1], [0], [0]]
    assert found.graph.edges == (("x0", "x1"), ("x0", "x2"))


def test_the_first_network_is_drawn_from_at_the_temperature_of_generation_one():
    seen = []
    moa = MOA(6, 20, learner="none", cooling=lambda g: seen.append(g) or 2 / g, random_state=0)
    for _ in range(4):  # the first population is uniform, and asks for no temperature
        solutions = moa.ask()
        moa.tell(solutions, solutions.sum(axis=1))
    assert seen == [1, 2, 3]
