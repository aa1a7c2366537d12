"""The CS coefficient of strength centrality: against one that is worked out by hand, and where it must go."""

import numpy as np
import pytest

from ibmap import Bootstrap, load
from ibmap.engines import as_engine
from ibmap.learners import evidence_map
from ibmap.learners.bootstrap import DROPPED, centrality_stability


def star(noise: float, n_rows: int) -> dict[str, np.ndarray]:
    """A hub with five leaves, some nearer to it than others, and a stranger."""
    rng = np.random.default_rng(0)
    hub = rng.integers(2, size=n_rows)
    flips = [rng.random(n_rows) < noise + 0.03 * k for k in range(5)]
    leaves = {f"leaf{k}": hub ^ flip for k, flip in enumerate(flips)}
    return {"hub": hub, **leaves, "stranger": rng.integers(2, size=n_rows)}


def slow_centrality(data) -> list[float]:
    learned = evidence_map(data).with_effects(data)
    found = dict.fromkeys(learned.graph.names, 0.0)
    for (x, y), strength in zip(learned.graph.edges, learned.effects.strength.tolist(), strict=True):
        for end in (x, y):
            found[end] += abs(strength)
    return list(found.values())


@pytest.mark.parametrize(("noise", "n_rows"), [(0.25, 60), (0.2, 150)])
def test_it_is_the_largest_share_that_can_go(noise, n_rows):
    data = load(star(noise, n_rows))
    engine, goal = as_engine(data), slow_centrality(data)
    seeds = iter(np.random.default_rng(3).spawn(4 * len(DROPPED)))
    best, failed = 0.0, False
    for share in DROPPED:
        found = [slow_centrality(engine.resampled(next(seeds), 1 - share)) for _ in range(4)]
        kept = [max(one) > 0 and np.corrcoef(one, goal)[0, 1] > 0.7 for one in found]
        best = share if all(kept) and not failed else best
        failed = failed or not all(kept)
    assert centrality_stability(data, evidence_map, n_replicates=4, random_state=3) == best
    assert centrality_stability(data, evidence_map, n_replicates=4, random_state=3, n_jobs=2) == best


def test_what_is_strong_is_stable_and_noise_is_not():
    strong = Bootstrap(n_replicates=5, random_state=0, stability=True).fit(star(0.05, 2000))
    assert strong.centrality_stability_ == DROPPED[-1]
    rng = np.random.default_rng(0)
    noise = Bootstrap(n_replicates=5, random_state=0, stability=True).fit(rng.integers(2, size=(100, 6)))
    assert noise.centrality_stability_ == 0
    assert "unstable" in noise._repr_html_()
    assert Bootstrap(n_replicates=2).fit(star(0.05, 200)).centrality_stability_ is None
