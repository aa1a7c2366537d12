"""The initial score against the machine's own limit, and two threads against one (n = 2000, D = 3200)."""

import numpy as np
from numpy.typing import NDArray

from common import alternate, report, verdict
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.independence import BayesianTest
from ibmap.kernels.jit import kernel
from ibmap.kernels.popcount import count_32, popcount
from ibmap.scores.ib import IBScoreOfBits

Words = NDArray[np.uint64]


@kernel
def plain_popcount(columns: Words, out: NDArray[np.int32]) -> None:
    """AND and count over all pairs, as one would write it."""
    n, n_words = columns.shape
    for x in range(n):
        for y in range(x + 1, n):
            total = np.uint64(0)
            for w in range(n_words):
                total += popcount(columns[x, w] & columns[y, w])
            out[y] = total


@kernel
def vector_popcount(
    columns: Words, by_word: Words, words: NDArray[np.uint32], out: NDArray[np.int32]
) -> None:
    """The same, 32 columns at a time: the fastest loop that we know here."""
    n, n_words = columns.shape
    for y in range(0, n, 32):
        for x in range(min(n, y + 32)):
            count_32(words, columns[x], 0, n_words, by_word, y, out, y)


@kernel
def lookups(table: NDArray[np.float64], counts: NDArray[np.int32], n: int, out: NDArray[np.float64]) -> None:
    """Four table values for all pairs."""
    half = np.int32(table.size // 2)
    for x in range(n):
        for y in range(x + 1, n):
            c = counts[y]
            out[y] = table[np.uint32(c)] + table[np.uint32(half - c)]
            out[y] += table[np.uint32(half - c)] + table[np.uint32(c)]


def compiled(n: int, n_rows: int) -> tuple[MemoryEngine, IBScoreOfBits, IBScoreOfBits]:
    """A table of coins, and its initial score with one thread and with two."""
    coins = np.random.default_rng(0).integers(0, 2, (n_rows, n), dtype=np.uint8)
    counts = MemoryEngine(load(coins))
    test = BayesianTest().bind(counts)
    return counts, IBScoreOfBits(test, 1), IBScoreOfBits(test, 2)


def threads(n: int) -> dict[str, object]:
    _, one, two = compiled(n, 3200)
    sigma = np.zeros((n, n))
    slow, fast = alternate([lambda: one.fill_empty(sigma), lambda: two.fill_empty(sigma)], repeat=7)
    bar = verdict(slow / fast, 1.6, at_least=True) if n > 2000 else ""
    return {"what": f"two threads against one, n = {n}", "value": round(slow / fast, 2), "bar": bar}


def main() -> None:
    n = 2000
    counts, one, _ = compiled(n, 3200)
    table = np.cumsum(np.log(np.arange(1.0, 3202.0)))  # log Γ
    sigma = np.zeros((n, n))
    columns = np.ascontiguousarray(counts.packed.level_bits[1::2])
    padded = np.zeros((-(-n // 32) * 32, columns.shape[1]), np.uint64)
    padded[:n] = columns
    by_word = np.ascontiguousarray(padded.T)
    words = np.arange(columns.shape[1], dtype=np.uint32)
    out, values = np.zeros(len(padded), np.int32), np.zeros(n)
    pair_counts = np.random.default_rng(1).integers(700, 900, n).astype(np.int32)
    plain, vector, looked_up, ours = alternate(
        [
            lambda: plain_popcount(columns, out),
            lambda: vector_popcount(padded, by_word, words, out),
            lambda: lookups(table, pair_counts, n, values),
            lambda: one.fill_empty(sigma),
        ],
        repeat=9,
    )
    rows: list[dict[str, object]] = [
        {"what": "plain popcount loop, ms", "value": round(1e3 * plain, 1), "bar": ""},
        {"what": "vector popcount loop, ms", "value": round(1e3 * vector, 1), "bar": ""},
        {"what": "table lookup loop, ms", "value": round(1e3 * looked_up, 1), "bar": ""},
        {"what": "initial score, one thread, ms", "value": round(1e3 * ours, 1), "bar": ""},
    ]
    for name, limit in (("plain", plain + looked_up), ("vector", vector + looked_up)):
        share = 100 * limit / ours
        bar = verdict(share, 70, at_least=True)
        rows.append({"what": f"share of the limit ({name} popcount), %", "value": round(share), "bar": bar})
    report("limits", [*rows, threads(2000), threads(8000)])


if __name__ == "__main__":
    main()
