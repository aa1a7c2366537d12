"""Rounds and swaps for very many variables: ``swaps.py`` without a matrix of all pairs."""

from collections.abc import Iterator, Sequence

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.scores.likely import LikelyRow
from ibmap.search.rivals import WithoutEdge
from ibmap.search.running import TIE
from ibmap.search.swaps import MANY, Swap, SwapSteps
from ibmap.search.wide_gains import WideGains, as_ends, ordered


class WideSwapping(SwapSteps, WideGains):
    """Rounds and swaps that have begun."""

    rows_to_keep = MANY

    def _compared(self, xs: Ints, ys: Ints) -> Iterator[tuple[WithoutEdge, list[LikelyRow]]]:
        """Compare ends of edges with their rivals: by rows that are at hand, and by new ones."""
        ends = list(zip(xs.tolist(), ys.tolist(), strict=True))
        at_hand = [(x, y) for x, y in ends if self._row_without.get(x, (-1,))[0] == y and self._is_whole(x)]
        new = sorted({*ends}.difference(at_hand))
        rows = [self._row_without[x][1] for x, _ in at_hand]
        for some, found in ((at_hand, rows), (new, self.rows_without(new))):
            kept = list(found)
            yield as_ends([self.sum_without(*end, row) for end, row in zip(some, kept, strict=True)]), kept

    def _is_whole(self, x: int) -> bool:
        """Whether the row that is kept of x has all that could come in the place of a neighbour."""
        row: LikelyRow = self._row_without[x][1]
        return all(row.find(z) is not None for z in self._met.get(x, ()))

    def _promising(self, ends: WithoutEdge, rows: Sequence[LikelyRow], which: Bools) -> list[Swap]:
        """Return the best swap of some ends, if it may be swapped and the score should rise."""
        every = list(zip(ends.x.tolist(), ends.y.tolist(), rows, strict=True))
        some = [every[k] for k in np.flatnonzero(which)]
        self.make_known([(z, x) for x, y, row in some for z in self._hopeful(x, y, row)])
        return [swap for x, y, row in some if (swap := self._best_swap(x, y, row)) is not None]

    def _hopeful(self, x: int, y: int, row: LikelyRow) -> list[int]:
        """Return the z that could come in the place of y, by what is known of both ends."""
        zs, gains = self._promises(x, y, row)
        return zs[gains > TIE].tolist()  # type: ignore[no-any-return]

    def _promises(self, x: int, y: int, row: LikelyRow) -> tuple[Ints, Floats]:
        """Return who could come in the place of y, and by how much the score should rise at most.

        At rest the score would miss the edge, so one end at least must be for its rival.
        """
        likely = {*row.ys[row.ts > 0].tolist(), *self._met.get(x, ())}
        zs = np.array(sorted(likely.difference(self.blanket(x).tolist())), np.int64)
        zs = zs[[ordered(x, z) not in self.closed for z in zs.tolist()]] if self.closed else zs
        lost = -self.gain(x, y)
        seen = [(row.find(z), self._rows[z].find(x)) for z in zs.tolist()]
        means = [sum(self.floor if t is None else t for t in both) / 2 for both in seen]
        return zs, np.array(means) - lost

    def _best_swap(self, x: int, y: int, row: LikelyRow) -> Swap | None:
        """Return the best swap of an end, if it may be swapped and the score should rise."""
        zs, gains = self._promises(x, y, row)
        best = float(gains.max(initial=-np.inf))
        if best <= TIE or ordered(x, y) in self.closed:
            return None
        z = int(zs[gains >= best - TIE * max(1.0, abs(best))][0])
        return Swap(best, x, y, z)

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of edges, in rows that are kept, too."""
        floor = self.floor
        super().add_to_evidence(more)
        shift = float(more[0, 0])
        same = self.floor == floor + shift  # else all rows were scored again, down to another floor
        kept = self._row_without if same else {}
        self._row_without = {x: (y, row.shifted(shift, 0)) for x, (y, row) in kept.items()}
