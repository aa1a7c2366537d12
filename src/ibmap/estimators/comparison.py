"""Two groups, compared: from any two tables, or one with a column that tells them apart."""

from typing import Any

import numpy as np
from sklearn.base import clone

from ibmap._random import RandomState
from ibmap._text import in_short
from ibmap.criteria.whole_numbers import with_kinds
from ibmap.data import load
from ibmap.data.frames import open_source
from ibmap.data.joined import joined
from ibmap.engines import Engine
from ibmap.errors import RequestError
from ibmap.estimators.base import StructureLearner, counted_rows
from ibmap.estimators.score_based import EvidenceMAP
from ibmap.learners.comparison import Groups, compare_groups, split_by, with_levels_of
from ibmap.results.comparison import Comparison
from ibmap.results.learned import Learned


def compare(
    first: Any,
    second: Any = None,
    learner: StructureLearner | None = None,
    *,
    by: str | None = None,
    groups: Any = None,
    strata: Any = None,
    labels: tuple[str, str] | None = None,
    n_permutations: int = 500,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Find the edges that differ between two groups, by a permutation test.

    Parameters
    ----------
    first, second : table
        Two tables with the same columns, or one and ``by``.
    learner : StructureLearner or None
        The learner; it is copied, never changed. None is :class:`EvidenceMAP`. Its options tell how the
        tables are read, both as one: kinds, levels and bins are those of all rows. Nothing is imputed:
        where values are missing, each question uses the rows where its columns are known.
    by : str or None
        The column of one table whose two values are the groups.
    groups : array of shape (rows,), optional
        The cluster of each row of one table: rows count as their effective number, and clusters stay
        together.
    strata : array of shape (rows,), optional
        The stratum of each row of one table: rows are distributed anew within strata.
    labels : pair of str, optional
        Names of the groups.
    n_permutations : int
        Number of permutations of the rows over groups of the same sizes.
    random_state : int, Generator or None
        The seed. The result does not depend on ``n_jobs``.
    n_jobs : int or None
        Permutations at the same time; None: 1, -1: one for each core.

    Returns
    -------
    Comparison
        Print it, or look at its ``frame``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> young, smokes = rng.integers(2, size=(2, 600))
    >>> coughs = np.where(young == 1, rng.integers(2, size=600), smokes ^ (rng.random(600) < 0.1))
    >>> table = {"young": young, "smokes": smokes, "coughs": coughs}
    >>> found = compare(table, by="young", n_permutations=50, random_state=0)
    >>> found.labels, found.edges, found.different.tolist()
    (('young=0', 'young=1'), (('smokes', 'coughs'),), [True])
    """
    learner = EvidenceMAP() if learner is None else learner
    if not isinstance(learner, StructureLearner):
        raise RequestError(
            f"learner must be one of ibmap's learners, such as EvidenceMAP(), not {in_short(learner)}"
        )
    tables, named = _groups(learner, first, second, by, groups, strata)

    def learn(engine: Engine) -> Learned:
        copy: Any = clone(learner)
        if hasattr(copy, "checkpoint"):
            copy.checkpoint = None  # a file holds one search
        return copy._learn(engine)  # type: ignore[no-any-return]

    return compare_groups(
        tables,
        learn,
        labels=named if labels is None else _labels(labels),
        n_permutations=n_permutations,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def _labels(labels: Any) -> tuple[str, str]:
    found = list(labels) if np.iterable(labels) and not isinstance(labels, str | bytes) else []
    if len(found) != 2 or not all(isinstance(label, str) for label in found):
        raise RequestError(f"labels must be two names, one for each group, not {in_short(labels)}")
    return found[0], found[1]


def _groups(
    learner: StructureLearner, first: Any, second: Any, by: str | None, clusters: Any, strata: Any
) -> tuple[Groups, tuple[str, str]]:
    """Return both groups, with the same levels, and what they are called."""
    if (second is None) == (by is None):
        raise RequestError("compare takes two tables, or one and by=, the column that tells its groups apart")
    if second is not None and (clusters is not None or strata is not None):
        raise RequestError(
            "groups and strata belong to the rows of one table: join both, and name the column (by=)"
        )
    (source, rows), labels = counted_rows(first, groups=clusters, strata=strata), None
    if by is None:
        labels = "first", "second"
        source, by = joined(open_source(first), open_source(second), labels)
    how = with_levels_of(by, learner._reading(learner.bins))
    if how["missing"] in ("auto", "impute"):
        how["missing"] = "question" if how.get("continuous") == "auto" else "error"
    data = load(source, **how)
    if rows is not None:
        data, _ = rows.of(data, first, how)
    groups, named = split_by(with_kinds(data), by)
    return groups, labels or named
