"""What the missing cells of rows of levels and numbers may be, given what their rows know.

Missing cells that are joined by edges are a part of their own. Of a part all configurations of its levels are
looked at, given which its numbers are normal; where these are too many, cells are drawn.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ibmap._random import RandomState, generator
from ibmap._types import Floats, Ints
from ibmap.model.missing_cells import parts_of
from ibmap.model.missing_draws import fill_missing

if TYPE_CHECKING:
    from ibmap.model.mixed_network import MixedNetwork

MOST = 1 << 12  #: configurations of a part that are looked at
AT_ONCE = 1 << 20  #: of these, in all rows
DRAWS = 400  #: of a part with more
HALVINGS = 45  #: of the interval in which a median lies

Found = tuple[int, Ints, Floats]  #: a variable, rows, its distribution there (rows, levels) or its medians


def missing_mixed(network: "MixedNetwork", rows: Floats, random_state: RandomState = None) -> Iterator[Found]:
    """Yield distributions of missing levels and medians of missing numbers, of codes and standard scores."""
    rng = generator(random_state)
    for variables, where in parts_of(network.graph, np.isnan(rows)).items():
        some, n_configurations = np.array(where), 1.0
        for v in variables:
            n_configurations *= max(len(network.levels[v]), 1)
        if n_configurations > MOST:
            yield from _drawn(network, variables, rows, some, rng)
            continue
        step = max(AT_ONCE // int(n_configurations), 1)
        for first in range(0, len(some), step):
            part = some[first : first + step]
            for v, found in _looked_at(network, variables, rows[:, part]):
                yield v, part, found


def _looked_at(
    network: "MixedNetwork", variables: tuple[int, ...], rows: Floats
) -> Iterator[tuple[int, Floats]]:
    """Yield what each variable of a part may be, in rows in which no other neighbour is missing."""
    coded = [v for v in variables if not network.is_number[v]]
    numbers = [v for v in variables if network.is_number[v]]
    sizes = [len(network.levels[v]) for v in coded]
    configurations = np.indices(sizes).reshape(len(sizes), int(np.prod(sizes)))
    logs = np.zeros((rows.shape[1], configurations.shape[1]))
    for v, code in zip(coded, configurations, strict=True):
        logs += network.pulls(v, rows)[code].T
    place = {v: k for k, v in enumerate(numbers)}
    precision = np.diag([network.fields[v][1] for v in numbers]).reshape(len(numbers), len(numbers))
    shift = np.zeros((len(numbers), configurations.shape[1]))
    own = dict(zip(coded, configurations, strict=True))
    for i, j, factor in network.edges_among(variables):
        if i in place and j in place:
            precision[place[i], place[j]] = precision[place[j], place[i]] = -factor[0, 0]
        elif i in place or j in place:
            number, level = (i, j) if i in place else (j, i)
            shift[place[number]] += factor.ravel()[own[level]]
        else:
            logs += factor[own[i], own[j]]
    means = np.empty(0)
    if numbers:
        slope = np.stack([network.pulls(v, rows)[0] for v in numbers])
        spread = np.linalg.inv(precision)
        logs += slope.T @ spread @ shift + 0.5 * (shift * (spread @ shift)).sum(axis=0)
        means = (spread @ slope)[:, :, None] + (spread @ shift)[:, None, :]
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    for v, code, size in zip(coded, configurations, sizes, strict=True):
        yield v, shares @ np.eye(size)[code]
    for k, v in enumerate(numbers):
        yield v, medians(shares, means[k], float(np.sqrt(spread[k, k])))


def medians(shares: Floats, means: Floats, deviation: float) -> Floats:
    """Return the medians of mixtures of normal distributions: (rows, parts), all with one deviation.

    Examples
    --------
    >>> medians(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0.0, 4.0], [0.0, 4.0]]), 1.0).round(6)
    array([2., 0.])
    """
    if means.shape[1] == 1:
        return means[:, 0].copy()
    from scipy.special import ndtr

    low, high = means.min(axis=1), means.max(axis=1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = (shares * ndtr((middle[:, None] - means) / deviation)).sum(axis=1) < 0.5
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _drawn(
    network: "MixedNetwork", variables: tuple[int, ...], rows: Floats, where: Ints, rng: np.random.Generator
) -> Iterator[Found]:
    """Yield shares and medians of cells that were drawn many times."""
    for row in where.tolist():
        copies = np.repeat(rows[:, row : row + 1], DRAWS, axis=1)
        drawn = fill_missing(network.cell_program, copies, random_state=rng)
        for v in variables:
            if network.is_number[v]:
                found = np.array([np.median(drawn[v])])
            else:
                counts = np.bincount(drawn[v].astype(np.int64), minlength=len(network.levels[v]))
                found = counts[None, :] / DRAWS
            yield v, np.array([row]), found
