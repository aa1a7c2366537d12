"""The people of the demo: the network that their docstring tells is the one that their numbers have."""

import numpy as np

from ibmap import EvidenceMAP
from ibmap.metrics import hamming
from ibmap.synthetic import simulate_people
from ibmap.synthetic.people import VARIABLES


def test_the_network_is_learned_from_many_people() -> None:
    people = simulate_people(20_000, random_state=3)
    assert tuple(people.frame.columns) == VARIABLES
    assert hamming(EvidenceMAP().fit(people.table()).graph_, people.graph) == 0


def test_the_signs_are_those_of_the_story() -> None:
    frame = simulate_people(20_000, random_state=0).frame
    numbers = {name: frame[name].to_numpy() for name in ("age", "bmi", "blood_pressure", "coffee", "sleep")}
    signs = {("age", "bmi"): 1, ("bmi", "blood_pressure"): 1, ("coffee", "sleep"): -1}
    for (x, y), sign in signs.items():
        assert np.sign(np.corrcoef(numbers[x], numbers[y])[0, 1]) == sign


def test_a_seed_gives_the_same_people() -> None:
    assert simulate_people(50, random_state=1).frame.equals(simulate_people(50, random_state=1).frame)
