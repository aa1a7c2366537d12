"""Classical tests on the same tables: Pearson's χ², G², mutual information."""

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks, _core
from ibmap._text import in_short
from ibmap.engines import Tables
from ibmap.errors import RequestError
from ibmap.independence.base import Answers, TableTest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

DEGREES_OF_FREEDOM = ("adjusted", "full")


class _ClassicalTest(TableTest):
    """A statistic summed over slices, compared with its χ² distribution.

    Parameters
    ----------
    alpha : float
        Significance level: variables count as independent if the p-value exceeds it.
    dof : {"adjusted", "full"}
        Degrees of freedom. "adjusted": Σ_k (r_k - 1)(c_k - 1), where r_k and c_k are the numbers of non-empty
        rows and columns of slice k; "full": (I - 1)(J - 1) for each observed slice. With 0 degrees of freedom
        the data cannot speak, and p = 1.
    """

    _which: int

    def __init__(self, *, alpha: float = 0.05, dof: str = "adjusted") -> None:
        self.alpha, self.dof = alpha, dof

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name, with its options."""
        return f"{self._label}(alpha={self.alpha}, dof={self.dof})"

    _label: str

    def evaluate(self, tables: Tables, cardinalities: Ints) -> Answers:
        """Answer one question per table."""
        from scipy.special import chdtrc

        _checks.word(self.dof, "dof", DEGREES_OF_FREEDOM)
        _checks.between(self.alpha, "alpha", 0, 1)
        out = _core.contingency_statistics(tables.start, tables.cells, int(cardinalities.max()))
        full = (cardinalities[tables.x] - 1) * (cardinalities[tables.y] - 1) * tables.n_slices
        dof = out[2] if self.dof == "adjusted" else full.astype(float)
        statistic = out[self._which]
        p_value = np.where(dof > 0, chdtrc(np.maximum(dof, 1), statistic), 1.0)
        return Answers(p_value > self.alpha, -p_value, statistic=statistic, p_value=p_value)


class ChiSquareTest(_ClassicalTest):
    """Pearson's χ² test of conditional independence.

    Parameters
    ----------
    alpha : float
        Significance level: variables count as independent if the p-value exceeds it.
    dof : {"adjusted", "full"}
        "adjusted": Σ_k (r_k - 1)(c_k - 1), where r_k and c_k are the numbers of non-empty rows and columns of
        slice k; "full": (I - 1)(J - 1) for each observed slice. With 0 degrees of freedom p = 1.

    Examples
    --------
    >>> from ibmap.engines import MemoryEngine
    >>> from ibmap.data import load
    >>> table = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [30, 10, 10, 30], axis=0)
    >>> answers = ChiSquareTest().bind(MemoryEngine(load(table))).fixed(0, [1], [])
    >>> answers.statistic, answers.p_value.round(6)
    (array([20.]), array([8.e-06]))
    """

    _which, _label = 0, "chi-square"


class GSquareTest(_ClassicalTest):
    """The G² (likelihood ratio) test of conditional independence; options as in :class:`ChiSquareTest`."""

    _which, _label = 1, "g-square"


class MutualInformationTest(TableTest):
    """Conditional mutual information in nats, with a threshold.

    Parameters
    ----------
    threshold : float
        In nats; below it two variables count as independent.
    """

    def __init__(self, *, threshold: float = 0.01) -> None:
        self.threshold = threshold

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name, with its options."""
        return f"mutual-information(threshold={self.threshold})"

    def evaluate(self, tables: Tables, cardinalities: Ints) -> Answers:
        """Answer one question per table."""
        if not _checks.is_number(self.threshold):
            raise RequestError(f"threshold must be a number of nats, not {in_short(self.threshold)}")
        out = _core.contingency_statistics(tables.start, tables.cells, int(cardinalities.max()))
        information = out[1] / (2 * np.maximum(tables.n_rows, 1))
        return Answers(information < self.threshold, information, statistic=information)
