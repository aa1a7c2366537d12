"""What lives on a worker of a cluster: pieces of a table, packed once, and who counts in them.

It is called with bytes and answers with bytes, so that only Python and ibmap must agree about them. Pieces
are kept in files of the worker's own folder, and mapped from there: a table may be larger than the memory.
"""

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, TypeVar
from weakref import finalize

import numpy as np

from ibmap._types import Ints
from ibmap.data.declared import ColumnOptions as Told
from ibmap.data.packed_file import open_packed, write_packed
from ibmap.data.packing import Plan
from ibmap.data.parquet import Piece
from ibmap.data.reader import Reader as Passing
from ibmap.data.reader import apply_plan as settled
from ibmap.data.reader import read_piece, without_rows
from ibmap.data.table import PackedData
from ibmap.engines.dask.wire import Message, pack_tables, unpack_questions
from ibmap.engines.memory import MemoryEngine
from ibmap.engines.merge import add_tables
from ibmap.engines.partitioned import ThreadPlaces, level_sizes
from ibmap.errors import IbmapError

T = TypeVar("T")

ANSWER, REFUSED, FAILED = "answer", "refused", "failed"  #: how an answer begins
TRIES = 3  #: to write a file, if the folder vanishes
ROOM = 0.4  #: share of the memory of a worker that mapped pieces may take between two questions


class Workplace:
    """Pieces of a table on one worker.

    Parameters
    ----------
    folder : str
        Where its files go; they are removed when it is no longer needed.
    threads : int
        Threads that count.
    memory : int or None
        Bytes that the worker may use, if there is a limit.
    """

    def __init__(self, folder: str | None, threads: int = 1, memory: int | None = None) -> None:
        self._folder = Path(mkdtemp(prefix="ibmap-", dir=folder))
        finalize(self, rmtree, self._folder, ignore_errors=True)
        self._threads, self._memory = threads, memory
        self._pieces: dict[int, MemoryEngine] = {}
        self._places: ThreadPlaces | None = None
        self._asked: list[int] = []  # the pieces that they have

    def call(self, method: str, arguments: bytes) -> bytes:
        """Call a method; what goes wrong is told in words, as some exceptions do not travel."""
        try:
            found: tuple[Any, ...] = (ANSWER, getattr(self, method)(*pickle.loads(arguments)))
        except IbmapError as error:
            found = (REFUSED, type(error).__name__, str(error))
        except Exception as error:
            found = (FAILED, f"{type(error).__name__}: {error}")
        return pickle.dumps(found, protocol=5)

    def read(self, piece: Piece, names: tuple[str, ...], missing: str, about: Told) -> Passing:
        """Read a piece and keep it, packed by its own labels; return what was seen in it."""
        passing = read_piece(piece, names, missing, about)

        def keep() -> None:
            with self._path(piece, "read").open("wb") as file:
                pickle.dump(passing, file, protocol=5)

        self._in_folder(keep)
        return without_rows(passing)

    def settle(self, piece: Piece, plan: Plan, missing: str, about: Told) -> tuple[int, list[Ints], str]:
        """Pack a piece by the labels of all; return its rows, those of every level, and a digest.

        A piece that was read elsewhere, by a worker that is gone, or whose file is gone, is read again.
        """
        kept = self._path(piece, "read")
        try:
            with kept.open("rb") as file:
                passing = pickle.load(file)
            kept.unlink(missing_ok=True)
        except FileNotFoundError:
            passing = read_piece(piece, plan.names, missing, about)
        data = settled(passing, plan)
        digest = _digest(data)
        mapped = self._mapped(piece, PackedData(data.bits, data.names, data.levels, digest=digest))
        del passing, data
        self._pieces[piece.number] = MemoryEngine(mapped)
        self._places = None
        return mapped.n_rows, [level_sizes(mapped.bits, v) for v in range(mapped.n_variables)], digest

    def tables(self, pieces: list[int], asked: Message) -> Message:
        """Count: one table for every y of every question, added up over some pieces."""
        found = self._ask(pieces, "tables", unpack_questions(asked))
        return pack_tables(found[0] if len(found) == 1 else add_tables(found))

    def colour_sums(self, pieces: list[int], colours: Any) -> Any:
        """Add up the scrambled colours of the rows of every cell."""
        return np.sum(self._ask(pieces, "colour_sums", colours), axis=0, dtype=np.uint64)

    def _ask(self, pieces: list[int], method: str, *arguments: Any) -> list[Any]:
        if self._places is None or self._asked != pieces:
            engines = [self._pieces[number] for number in pieces]
            bits = [engine.bits for engine in engines]
            mapped = sum(each.bits.nbytes + each.columns.nbytes + each.wide_codes.nbytes for each in bits)
            releases_pages = bool(self._memory) and mapped > ROOM * float(self._memory or 0)
            self._places, self._asked = ThreadPlaces(engines, self._threads, releases_pages), pieces
        return self._places.ask(method, *arguments)

    def _mapped(self, piece: Piece, data: PackedData) -> PackedData:
        """Write a piece, and map it from there."""

        def written() -> PackedData:
            path = self._path(piece, "ibmap")
            write_packed(data, path)
            return open_packed(path, mapped=True)

        return self._in_folder(written)

    def _in_folder(self, work: Callable[[], T]) -> T:
        """Do something with files; again, if somebody has removed the folder meanwhile."""
        for _ in range(TRIES):
            self._folder.mkdir(parents=True, exist_ok=True)
            with suppress(OSError, IbmapError):
                return work()
            if self._folder.is_dir():
                break
        return work()

    def _path(self, piece: Piece, suffix: str) -> Path:
        return self._folder / f"{piece.number}.{suffix}"


def _digest(data: PackedData) -> str:
    """Return what tells the rows of a piece from others."""
    digest = hashlib.sha256(str(data.n_rows).encode())
    digest.update(np.ascontiguousarray(data.bits.bits).data)
    digest.update(np.ascontiguousarray(data.bits.wide_codes).data)
    return digest.hexdigest()
