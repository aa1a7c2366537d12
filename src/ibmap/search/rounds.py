"""Rounds: flip at once every pair that is the best choice of both its ends (SPEC section 7)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ibmap.scores import LocalScore
from ibmap.search.gains import AnyGains, Gains
from ibmap.search.running import TIE, Flip, Pairs, require_additive
from ibmap.search.wide_gains import WideGains, is_wide

MOST_FLIPS = 3  #: of one pair: rounds end even where rounding would let a pair flip for ever


class Rounds:
    """Flip every pair whose gain is positive and the largest at both of its ends; score; repeat.

    No two pairs of a round have a common end, so the gains of a round add up, and its rows are one batch.
    """

    name = "rounds"

    def options(self) -> Mapping[str, Any]:
        """Return the options: there are none."""
        return {}

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> "RoundSteps":
        """Score the graph with these edges; locked pairs are never flipped."""
        require_additive(self, score)
        return (WideMatching if is_wide(score) else Matching)(score, edges, locked)


class RoundSteps(AnyGains):
    """The steps of rounds, with a matrix of all pairs or without."""

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        self._flipped: Counter[tuple[int, int]] = Counter()
        super().__init__(score, edges, locked)  # type: ignore[safe-super]  # the class behind has one

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do rounds until there are ``limit`` flips; a round is never cut in two."""
        flips: list[Flip] = []
        while len(flips) < limit and not self.finished:
            x = np.flatnonzero(self.best > TIE)
            x = x[(self.partner[self.partner[x]] == x) & (x < self.partner[x])]
            pairs = list(zip(x.tolist(), self.partner[x].tolist(), strict=True))
            self.finished = not (pairs or self.revise())
            self._count(pairs)
            flips += self.flip(pairs)
        return flips

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint needs beside the flips: how often pairs have flipped."""
        return {**super().saved(), "flipped": [[x, y, n] for (x, y), n in self._flipped.items()]}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Do the flips of a search that was saved."""
        self._count_from(Counter({(int(x), int(y)): int(n) for x, y, n in saved["flipped"]}))
        super().restore(flips, saved)

    def _count_from(self, flipped: "Counter[tuple[int, int]]") -> None:
        """Go on counting from here; pairs that have not flipped often are open again."""
        self._flipped = flipped
        self.reopen()
        self._count([])

    def _count(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Count flips; a pair that has flipped often enough is closed."""
        self._flipped.update(pairs)
        self.close([pair for pair in pairs or list(self._flipped) if self._flipped[pair] >= MOST_FLIPS])


class Matching(RoundSteps, Gains):
    """Rounds that have begun."""


class WideMatching(RoundSteps, WideGains):
    """The same for very many variables."""
