"""The fast route of families of conditionals: binary variables without missing values, rows in memory."""

from collections.abc import Callable, Sequence

import numpy as np

from ibmap._parallel import spread
from ibmap._types import Floats, Ints
from ibmap.engines import Engine, MemoryEngine
from ibmap.engines.memory import new_sets
from ibmap.kernels.binary_evidence import binary_rows
from ibmap.kernels.context import counting_context
from ibmap.scores.local_score import NONE, Rows
from ibmap.scores.rising import rising_tables

VAGUE = 0.02  #: precision of intercepts
TABULATED = 1 << 20  #: rows up to which log Γ is looked up; counting more takes far longer than log Γ
AT_ONCE = 16  #: rows that a thread takes
FEW = 4  #: the same where rows are read once and forgotten, so that they stay in the cache
AT_ONCE_OF_MEMBERS = 64  #: the same where only members are looked at


class BinaryRows:
    """Rows of the pairwise and the saturated family at once, counted and scored by compiled code.

    Parameters
    ----------
    engine : MemoryEngine
        Where the rows are; :meth:`fits` tells whether this route can serve it.
    precision, prior_count : float
        Of effects, in the pairwise family; of a level in a configuration, in the saturated one.
    n_threads : int
        Threads.
    """

    def __init__(
        self, engine: MemoryEngine, precision: float, prior_count: float, n_threads: int = 1
    ) -> None:
        n_rows, self._n = engine.schema.n_rows, engine.schema.n_variables
        self.precision, self.n_threads = precision, n_threads
        self.prior_count = float(prior_count)
        self._rising = rising_tables((self.prior_count, 2.0 * prior_count), min(n_rows, TABULATED))
        self._contexts = [counting_context(engine.packed, new_sets(n_rows)) for _ in range(n_threads)]

    @staticmethod
    def fits(engine: Engine) -> bool:
        """Whether all variables are binary, or constant, and complete, with rows in memory."""
        if not isinstance(engine, MemoryEngine):
            return False
        return not engine.packed.irregular.size and bool((engine.packed.levels <= 2).all())

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints], strong: float) -> tuple[Rows, Rows]:
        """Return t_xy and s_x(B) of the pairwise and of the saturated family.

        Effects of members that are longer than ``strong`` are judged by a fit without them.
        """
        evidence = (np.empty if strong == np.inf else np.zeros)((2, len(xs), self._n))
        values = self._fill(xs, blankets, strong, evidence)
        return Rows(evidence[0], values[0]), Rows(evidence[1], values[1])

    def values(self, xs: Sequence[int], blankets: Sequence[Ints]) -> Floats:
        """Return s_x(B) of the pairwise and of the saturated family, and look at nothing else."""
        return self._fill(xs, blankets, np.inf, np.empty((2, len(xs), 0)))

    def pass_by(
        self,
        xs: Sequence[int],
        blankets: Sequence[Ints],
        strong: float,
        use: "Callable[[int, int, Rows, Rows], None]",
    ) -> None:
        """Make rows some at a time; ``use(thread, number of the first, pairwise, saturated)`` sees them.

        With ``strong`` they have members only, and anything elsewhere.

        They are overwritten by the next ones of the same thread.
        """
        few = FEW if strong == np.inf else AT_ONCE_OF_MEMBERS
        buffers = np.empty((self.n_threads, 2, few, self._n))

        def take(thread: int, first: int) -> None:
            some = xs[first : first + few], blankets[first : first + few]
            evidence = buffers[thread][:, : len(some[0])]
            values = self._fill_some(thread, *some, strong, evidence)
            use(thread, first, Rows(evidence[0], values[0]), Rows(evidence[1], values[1]))

        firsts = range(0, len(xs), few)
        spread(take, firsts, min(self.n_threads, len(firsts)))

    def _fill(self, xs: Sequence[int], blankets: Sequence[Ints], strong: float, evidence: Floats) -> Floats:
        """Fill rows of evidence; return the values of both families."""
        values = np.empty((2, len(xs)))

        def some(thread: int, first: int) -> None:
            mine = slice(first, first + AT_ONCE)
            values[:, mine] = self._fill_some(thread, xs[mine], blankets[mine], strong, evidence[:, mine])

        firsts = range(0, len(xs), AT_ONCE)
        spread(some, firsts, min(self.n_threads, len(firsts)))
        return values

    def _fill_some(
        self, thread: int, xs: Sequence[int], blankets: Sequence[Ints], strong: float, evidence: Floats
    ) -> Floats:
        """Fill rows of evidence in one thread; return the values of both families."""
        values = np.empty((2, len(xs)))
        binary_rows(
            self._contexts[thread][0],
            np.array(xs, np.int64),
            np.concatenate([NONE, *blankets]),
            np.cumsum([0, *map(len, blankets)], dtype=np.int64),
            VAGUE,
            self.precision,
            strong,
            self.prior_count,
            self._rising,
            *(evidence[0], evidence[1], values),
        )
        return values
