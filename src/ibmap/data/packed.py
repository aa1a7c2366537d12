"""Tables as bits, one row of bits per level: what streamed tables are, in memory or in a file."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._types import Ints
from ibmap.data.table import CategoricalData, among, described, smallest_dtype

WIDE = 32  #: a variable with more levels keeps its codes: bits would cost more memory than they save time
BLOCK = 256  #: variables that are scored together; their counts and log odds fit the first-level cache
AT_ONCE = 1 << 12  #: words of bits that are turned together

Bits = NDArray[np.uint64]
Levels = tuple[tuple[Hashable, ...], ...]


@dataclass(frozen=True, eq=False)
class LevelBits:
    """The rows of a table as bits; variables with more than ``WIDE`` levels keep their codes instead.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    levels : ndarray of int
        Number of levels of each variable.
    bits : ndarray of shape (sum of the levels of narrow variables, words)
        Which rows have this level.
    wide_codes : ndarray of shape (wide variables, rows)
        Codes of the others, -1 is missing.
    level_sizes : ndarray of int
        How many rows have the level of each row of ``bits``.
    turned : ndarray or None
        ``columns``, where a file has them.

    Examples
    --------
    >>> narrow = np.array([[0b101], [0b010]], np.uint64)
    >>> bits = LevelBits(3, np.array([2]), narrow, np.empty((0, 3), np.int32), np.array([2, 1]))
    >>> bits.codes_of(0).tolist(), bits.complete.tolist()
    ([0, 1, 0], [True])
    """

    n_rows: int
    levels: Ints
    bits: Bits
    wide_codes: NDArray[np.int32]
    level_sizes: Ints
    turned: Bits | None = None

    @cached_property
    def narrow(self) -> NDArray[np.bool_]:
        """Which variables are bits."""
        return self.levels <= WIDE

    @cached_property
    def first(self) -> Ints:
        """Row of ``bits`` that holds level 0 of each variable; -1 if it is wide."""
        sizes = np.where(self.narrow, self.levels, 0)
        return np.where(self.narrow, np.cumsum(sizes) - sizes, -1)

    @cached_property
    def wide(self) -> Ints:
        """Row of ``wide_codes`` of each variable; -1 if it is narrow."""
        return np.where(self.narrow, -1, np.cumsum(~self.narrow) - 1)

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """Which variables have a value in every row."""
        ends = np.concatenate([[0], np.cumsum(self.level_sizes)])
        found = self.narrow.copy()
        last = self.first[found] + self.levels[found]
        found[found] = ends[last] - ends[self.first[found]] == self.n_rows
        found[~self.narrow] = [bool((codes >= 0).all()) for codes in self.wide_codes]
        return found

    @cached_property
    def order(self) -> Ints:
        """The narrow, complete variables, by number of levels, then by index."""
        order = np.flatnonzero(self.narrow & self.complete)
        if self.levels.size and self.levels.min() != self.levels.max():
            order = order[np.argsort(self.levels[order], kind="stable")]
        return order

    @cached_property
    def blocks(self) -> tuple[Ints, Ints]:
        """The order cut into blocks of equal levels, and which row of bits stands in each column.

        A block is (levels, first and last position in ``order``, first column, their stride). Columns come in
        multiples of 8; what is left over repeats the last variable and is never read.
        """
        levels, order = self.levels, self.order
        blocks, rows, start, column = [], [np.empty(0, np.int64)], 0, 0
        while start < len(order):
            n_levels = levels[order[start]]
            same = np.searchsorted(levels[order], n_levels, side="right")
            stop = min(int(same), start + BLOCK)
            stride = -(-(stop - start) // 8) * 8
            blocks.append((n_levels, start, stop, column, stride))
            members = order[np.minimum(np.arange(start, start + stride), stop - 1)]
            rows += [self.first[members] + level for level in range(1, n_levels)]
            column += (n_levels - 1) * stride
            start = stop
        return np.array(blocks, np.int64).reshape(-1, 5), np.concatenate(rows)

    @cached_property
    def columns(self) -> Bits:
        """Levels 1, 2, ... of the blocks, word by word: as kernels count them."""
        if self.turned is not None:
            return self.turned
        rows, n_words = self.blocks[1], self.bits.shape[1]
        out = np.empty((n_words, len(rows)), np.uint64)
        for some in (slice(word, word + AT_ONCE) for word in range(0, n_words, AT_ONCE)):
            out[some] = self.bits[:, some][rows].T
        return out

    def codes_of(self, variable: int) -> NDArray[np.signedinteger[Any]]:
        """Return the codes of one variable."""
        first = int(self.first[variable])
        if first < 0:
            return np.asarray(self.wide_codes[self.wide[variable]])
        return _core.unpack_bits(self.bits[first : first + int(self.levels[variable])], self.n_rows)

    def variables(self, kept: Sequence[int]) -> "LevelBits":
        """Return some of the variables."""
        first, wide, levels = self.first[kept], self.wide[kept], self.levels[kept]
        rows = [np.arange(a, a + size) for a, size in zip(first, levels, strict=True) if a >= 0]
        chosen = np.concatenate([np.empty(0, np.int64), *rows])
        codes = self.wide_codes[wide[wide >= 0]]
        return LevelBits(self.n_rows, levels, self.bits[chosen], codes, self.level_sizes[chosen])


class PackedData(CategoricalData):
    """A table of categorical variables as bits; codes are made one variable at a time, on demand.

    Parameters
    ----------
    bits : LevelBits
        The rows.
    names, levels, bin_edges, backend, warnings, ordinal, reading
        As those of :class:`CategoricalData`.
    digest : str or None
        The digest where it is known, as in a file.
    path : Path or None
        The file that the bits are mapped from; None if they are in memory.

    Examples
    --------
    >>> narrow = np.array([[0b101], [0b010]], np.uint64)
    >>> bits = LevelBits(3, np.array([2]), narrow, np.empty((0, 3), np.int32), np.array([2, 1]))
    >>> data = PackedData(bits, ("wet",), (("no", "yes"),))
    >>> data, data.codes_of(0).tolist(), data.has_missing
    (PackedData(1 variables, 3 rows), [0, 1, 0], False)
    """

    bits: LevelBits
    known_digest: str | None
    path: Path | None

    def __init__(
        self,
        bits: LevelBits,
        names: tuple[str, ...],
        levels: Levels,
        bin_edges: Mapping[str, tuple[float, ...]] | None = None,
        backend: str | None = None,
        warnings: tuple[str, ...] = (),
        digest: str | None = None,
        path: Path | None = None,
        ordinal: Iterable[str] = (),
        reading: Mapping[str, Any] | None = None,
    ) -> None:
        about: dict[str, Any] = {"bits": bits, "names": names, "levels": levels}
        about |= {"bin_edges": dict(bin_edges or {}), "ordinal": among(ordinal, names)}
        about |= {"backend": backend, "warnings": warnings, "known_digest": digest, "path": path}
        about |= {"reading": dict(reading or {})}
        for name, value in about.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"PackedData({self.n_variables} variables, {self.n_rows} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            from ibmap.data.packed_file import open_packed

            return open_packed, (self.path, True)  # the other process maps the same pages
        about = (self.names, self.levels, self.bin_edges, self.backend, self.warnings, self.known_digest)
        return PackedData, (self.bits, *about, None, self.ordinal, self.reading)

    @cached_property
    def codes(self) -> NDArray[np.signedinteger[Any]]:
        """All codes at once, (n_variables, n_rows): many times the memory of the bits."""
        codes = np.empty((self.n_variables, self.n_rows), self.dtype)
        for i, row in enumerate(codes):
            row[:] = self.codes_of(i)
        codes.flags.writeable = False
        return codes

    @property
    def dtype(self) -> type[np.signedinteger[Any]]:
        """The type of the codes."""
        return smallest_dtype(max(map(len, self.levels), default=0))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.bits.n_rows

    @cached_property
    def has_missing(self) -> bool:
        """Whether some value is missing."""
        return not bool(self.bits.complete.all())

    def codes_of(self, variable: int) -> NDArray[np.signedinteger[Any]]:
        """Return the codes of one variable."""
        return self.bits.codes_of(variable)

    def variables(self, kept: Sequence[int]) -> "PackedData":
        """Return some of the variables."""
        return PackedData(self.bits.variables(list(kept)), **self._about(kept))

    def _codes_of_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.stack([self.codes_of(i)[rows].astype(self.dtype) for i in range(self.n_variables)])

    def _digest(self) -> Callable[[], str] | str:
        about = (self.names, self.levels, self.ordinal)
        return self.known_digest or partial(digest_of, self.bits, *about, self.dtype)


def digest_of(
    bits: LevelBits, names: tuple[str, ...], levels: Levels, ordinal: tuple[str, ...], dtype: type[Any]
) -> str:
    """Return the checksum that the same table has as codes, made column by column."""
    shape = (len(names), bits.n_rows)
    digest = hashlib.sha256(described(names, levels, ordinal, np.dtype(dtype).name, shape))
    for i in range(len(names)):
        digest.update(np.ascontiguousarray(bits.codes_of(i), dtype).data)
    return digest.hexdigest()
