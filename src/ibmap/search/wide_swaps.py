"""Rounds and swaps for very many variables: ``swaps.py`` without a matrix of all pairs."""

from collections.abc import Iterator, Sequence

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.search.kept_rows import Kept, columns_of, ordered
from ibmap.search.rivals import WithoutEdge
from ibmap.search.running import TIE
from ibmap.search.swaps import MANY, Swap, SwapSteps
from ibmap.search.wide_gains import WideGains


class WideSwapping(SwapSteps, WideGains):
    """Rounds and swaps that have begun."""

    rows_to_keep = MANY

    def _compared(self, xs: Ints, ys: Ints) -> Iterator[tuple[WithoutEdge, list[Kept]]]:
        """Compare ends of edges with their rivals: by rows that are at hand, and by new ones."""
        ends = list(zip(xs.tolist(), ys.tolist(), strict=True))
        at_hand = [(x, y) for x, y in ends if self._row_without.get(x, (-1,))[0] == y and self._is_whole(x)]
        new = sorted({*ends}.difference(at_hand))
        yield self._summed(at_hand, [self._row_without[x][1][0] for x, _ in at_hand])
        yield self._summed(new, list(self.rows_without(new)))

    def _summed(self, ends: Sequence[tuple[int, int]], rows: list[Kept]) -> tuple[WithoutEdge, list[Kept]]:
        """Return what is known about ends of edges, and the rows that tell."""
        return self.sums_without(*columns_of(ends), rows), rows

    def _is_whole(self, x: int) -> bool:
        """Whether the row that is kept of x has all that could come in the place of a neighbour."""
        row: Kept = self._row_without[x][1][0]
        return self._met[x].issubset(row.ys.tolist())

    def _promising(self, ends: WithoutEdge, rows: Sequence[Kept], which: Bools) -> list[Swap]:
        """Return the best swap of some ends, if it may be swapped and the score should rise."""
        xs, ys = ends.x.tolist(), ends.y.tolist()
        every = list(zip(xs, ys, rows, strict=True))
        bound = ends.evidence / 2 + self.gains_of(
            list(zip(xs, ys, strict=True))
        )  # of rivals that are against x
        hopeful = [k for k in np.flatnonzero(which).tolist() if bound[k] > TIE or self._is_met(xs[k])]
        some = [(every[k], self._promises(*every[k])) for k in hopeful]
        some = [(end, promises) for end, promises in some if promises]
        self.make_known([(z, end[0]) for end, promises in some for z in promises])
        swaps = [self._best_swap(*end[:2], self._promises(*end)) for end, _ in some]
        return [swap for swap in swaps if swap is not None]

    def _is_met(self, x: int) -> bool:
        """Whether someone would be adjacent to x and is not."""
        return not self._met[x] <= self._adjacent[x]

    def _promises(self, x: int, y: int, row: Kept) -> dict[int, float]:
        """Return who could come in the place of y, and by how much the score should rise at most.

        At rest the score would miss the edge, so one end at least must be for its rival.
        """
        likely = self._met[x].union(row.ys[row.ts > -self.risen].tolist()) - self._adjacent[x]
        if not likely:
            return {}
        found, gain = {}, self.gain(x, y)
        for z in likely:
            own, other = row.find(z), self._find(z, x)
            ends = self.floor if own is None else own + self.risen, self.floor if other is None else other
            promised = sum(ends) / 2 + gain
            if promised > TIE and not (self.closed and ordered(x, z) in self.closed):
                found[z] = promised
        return found

    def _best_swap(self, x: int, y: int, promises: dict[int, float]) -> Swap | None:
        """Return the best swap of an end, if it may be swapped and the score should rise."""
        best = max(promises.values(), default=-np.inf)
        if best <= TIE or ordered(x, y) in self.closed:
            return None
        bar = best - TIE * max(1.0, abs(best))
        return Swap(best, x, y, min(z for z, promised in promises.items() if promised >= bar))

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of edges."""
        risen = self.risen
        super().add_to_evidence(more)
        if self.risen != risen + float(more[0, 0]):  # all rows were scored again, down to another floor
            self._row_without = {}
