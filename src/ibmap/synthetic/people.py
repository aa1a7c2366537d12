"""Made-up people: a survey of numbers, counts, grades and words, whose network is known."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap._checks import whole
from ibmap._random import RandomState, generator
from ibmap.graph import Graph

if TYPE_CHECKING:
    import polars as pl

    from ibmap.data import Table

#: grades, from the lowest to the highest
GRADES = {
    "education": ["primary", "secondary", "university"],
    "exercise": ["never", "weekly", "daily"],
}
VARIABLES = (
    *("age", "sex", "education", "exercise", "smokes", "coffee", "sleep"),
    *("bmi", "blood_pressure", "diabetes", "height", "grip", "blood_group"),
)
EDGES = (
    *(("age", "education"), ("age", "exercise"), ("age", "bmi"), ("age", "blood_pressure")),
    *(("education", "exercise"), ("education", "smokes"), ("smokes", "coffee"), ("coffee", "sleep")),
    *(("exercise", "bmi"), ("bmi", "blood_pressure"), ("bmi", "diabetes")),
    *(("sex", "height"), ("sex", "grip"), ("height", "grip")),
)


class People(NamedTuple):
    """A frame of made-up people, and the network that made them."""

    frame: "pl.DataFrame"
    graph: Graph

    def table(self) -> "Table":
        """Return the table: grades have their order, numbers are numbers."""
        from ibmap.data import load

        return load(self.frame, ordinal=GRADES, continuous="auto")


def simulate_people(n_rows: int = 1000, *, random_state: RandomState = None) -> People:
    """Draw people from a made-up story.

    Older people have less education, exercise less, and have a higher body mass index (BMI) and blood
    pressure. The educated exercise more and smoke less. Exercise lowers the BMI; a high BMI raises the blood
    pressure and the odds of diabetes. Smokers drink more coffee (cups a day), and coffee shortens sleep
    (hours). Men are taller and have a stronger grip (kg), and so have tall people. The blood group is
    associated with nothing.

    All causes of a variable are adjacent to each other, so the network is the story without its directions.

    Parameters
    ----------
    n_rows : int
        Number of people.
    random_state : int or numpy.random.Generator, optional
        Seed of the draws.

    Returns
    -------
    People
        The frame, and the true graph.

    Examples
    --------
    >>> people = simulate_people(200, random_state=0)
    >>> people.frame.shape, people.graph.n_edges
    ((200, 13), 14)
    """
    import polars as pl

    rng, n_rows = generator(random_state), whole(n_rows, "n_rows", 1)
    age = rng.integers(20, 80, n_rows)
    older = (age - 50) / 15
    woman = rng.random(n_rows) < 0.5
    education = np.digitize(rng.logistic(size=n_rows) - 0.8 * older, [-1, 1])
    exercise = np.digitize(rng.logistic(size=n_rows) - 0.6 * older + 0.8 * (education - 1), [-1, 1])
    smokes = rng.logistic(size=n_rows) > 1.2 + 0.9 * (education - 1)
    coffee = rng.poisson(np.where(smokes, 25, 14)) / 7
    sleep = rng.normal(7.8 - 0.3 * coffee, 0.7)
    bmi = rng.normal(26.5 + 1.6 * older - 1.5 * (exercise - 1), 3.5)
    pressure = rng.normal(125 + 5 * older + 0.9 * (bmi - 26.5), 12)
    diabetes = rng.logistic(size=n_rows) > 2.6 - 0.25 * (bmi - 26.5)
    taller = rng.normal(0, 7, n_rows)
    height = np.where(woman, 165, 178) + taller
    grip = rng.normal(np.where(woman, 28, 44) + 0.3 * taller, 6)
    group = rng.choice(["0", "A", "B", "AB"], n_rows, p=[0.41, 0.43, 0.11, 0.05])
    grades = {name: np.array(words) for name, words in GRADES.items()}
    columns = (
        *(age, np.where(woman, "woman", "man"), grades["education"][education]),
        *(grades["exercise"][exercise], _yes(smokes), coffee.round(1), sleep.round(1), bmi.round(1)),
        *(pressure.round().astype(int), _yes(diabetes), height.round().astype(int)),
        *(grip.round().astype(int), group),
    )
    return People(pl.DataFrame(dict(zip(VARIABLES, columns, strict=True))), Graph(VARIABLES, EDGES))


def _yes(true: NDArray[np.bool_]) -> NDArray[np.str_]:
    return np.where(true, "yes", "no")
