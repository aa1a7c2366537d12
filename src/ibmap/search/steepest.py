"""Steepest ascent: flip the pair that gains most, until no flip gains."""

from collections.abc import Mapping
from typing import Any

from ibmap.scores import LocalScore
from ibmap.search.gains import Gains, first_best
from ibmap.search.running import TIE, Flip, Pairs, require_additive


class Steepest:
    """Flip the pair that gains most; ties go to the smallest (i, j)."""

    name = "steepest"

    def options(self) -> Mapping[str, Any]:
        """Return the options: there are none."""
        return {}

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> "Ascending":
        """Score the graph with these edges; locked pairs are never flipped."""
        require_additive(self, score)
        return Ascending(score, edges, locked)


class Ascending(Gains):
    """Steepest ascent that has begun."""

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do up to ``limit`` flips."""
        flips: list[Flip] = []
        while len(flips) < limit:
            x = int(first_best(self.best)) if self.score.n else 0
            if not (self.score.n and self.best[x] > TIE):
                self.finished = not self.revise()
                if self.finished:
                    break
                continue
            y = int(self.partner[x])
            flips += self.flip([(min(x, y), max(x, y))])
        return flips
