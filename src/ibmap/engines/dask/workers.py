"""The workers of a Dask cluster, as they come and go: who has which piece of a table, and who answers.

Every worker has one actor, a :class:`ibmap.engines.dask.worker.Workplace`. When a worker is gone, its pieces
are packed again by others, and what was asked is asked again; no answer depends on who gave it.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from time import monotonic, sleep
from typing import Any

from ibmap import errors
from ibmap._libraries import library
from ibmap.data.parquet import Piece
from ibmap.engines.dask.worker import ANSWER, REFUSED, Workplace
from ibmap.errors import EngineError, IbmapError

LISTEN = 1.0  #: seconds after which somebody looks whether a worker that does not answer is still there
WAIT = 30.0  #: seconds to wait for another worker where none is left
NOTICE = 5.0  #: seconds that the scheduler may need to see that a worker is gone
MOST_LOSSES = 3  #: of workers, for each that there was: whatever kills more of them will kill the next one

Told = Callable[[int, int], object]  #: how many pieces are done, of how many


class LostWorkerError(Exception):
    """A worker is gone."""


class ClusterWorkplace(Workplace):
    """A workplace that asks its Dask worker where files go, and how much there is of everything."""

    def __init__(self, threads: int) -> None:
        worker = library("distributed").get_worker()
        super().__init__(worker.local_directory, threads, worker.memory_manager.memory_limit)


class Workers:
    """The workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        A client that is connected.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self.trips, self.shipped = 0, 0  #: questions, and bytes that travelled for them
        self._actors: dict[str, tuple[Any, Any]] = {}  # by address: the future of an actor, and the actor
        self._homes: dict[int, str] = {}  # of each piece
        self._losses, self._most = 0, MOST_LOSSES * max(1, len(self.workers()))

    def workers(self) -> dict[str, int]:
        """Return the workers that there are, by address, and their threads."""
        try:
            found: dict[str, int] = self.client.nthreads()
        except Exception as error:  # whatever the connection broke by
            raise self._gone() from error
        return found

    def for_each(self, method: str, jobs: dict[int, Any], told: Told | None = None) -> list[Any]:
        """Call a method for every piece, where it lives; return the answers in the order of the jobs."""
        found: dict[int, Any] = {}
        try:
            while rest := [k for k in jobs if k not in found]:
                self._find_homes(rest)
                for k, answer in self._each(method, {k: jobs[k] for k in rest}):
                    found[k] = answer
                    if told is not None:
                        told(len(found), len(jobs))
        finally:  # who has not answered has nothing
            self._homes = {k: home for k, home in self._homes.items() if k in found or k not in jobs}
        return [found[k] for k in jobs]

    def _each(self, method: str, jobs: dict[int, Any]) -> Iterator[tuple[int, Any]]:
        """Yield the pieces whose homes answer, and what; forget those who do not."""
        calls = {k: self._call(self._homes[k], method, job) for k, job in jobs.items()}
        for k, future in calls.items():
            if (home := self._homes.get(k)) is None:
                continue  # lost with another piece
            try:
                yield k, self._answer(future, home)
            except LostWorkerError:
                self._forget_worker(home)

    def ask(self, method: str, arguments: tuple[Any, ...]) -> list[Any]:
        """Ask everyone at once; one answer each. Raises :class:`LostWorkerError` if somebody is gone."""
        pieces: dict[str, list[int]] = {}
        for k, home in self._homes.items():
            pieces.setdefault(home, []).append(k)
        calls = [(home, self._call(home, method, (mine, *arguments))) for home, mine in pieces.items()]
        self.trips += 1
        found, lost = [], False
        for home, future in calls:
            try:
                found.append(self._answer(future, home))
            except LostWorkerError:
                self._forget_worker(home)
                lost = True
        if lost:
            raise LostWorkerError
        return found

    def unassigned(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the pieces that nobody has any more."""
        return [piece for piece in pieces if piece.number not in self._homes]

    def forget(self, piece: Piece) -> None:
        """Let nobody have a piece."""
        self._homes.pop(piece.number, None)

    def close(self) -> None:
        """Let the workers forget all pieces."""
        self._actors.clear()
        self._homes.clear()

    def _find_homes(self, pieces: Sequence[int]) -> None:
        """Give a home to every piece that has none: to those first who have fewest for their threads."""
        wanted = [k for k in pieces if k not in self._homes]
        if not wanted:
            return
        threads, since = self.workers(), monotonic()
        while not threads:
            if monotonic() - since > WAIT:
                raise EngineError(
                    "no worker of the cluster is left: start some ('dask worker ADDRESS'), and begin again"
                )
            sleep(LISTEN / 4)
            threads = self.workers()
        load = dict.fromkeys(threads, 0)
        for home in self._homes.values():
            load[home] = load.get(home, 0) + 1
        for k in wanted:
            home = min(threads, key=lambda address: ((load[address] + 1) / threads[address], address))
            load[home] += 1
            self._homes[k] = home
        for home in dict.fromkeys(self._homes[k] for k in wanted):
            if home not in self._actors:
                self._actors[home] = self._start_worker(home, threads[home])

    def _start_worker(self, home: str, threads: int) -> tuple[Any, Any]:
        """Return a new actor on a worker; None for one that is gone already."""
        future = self.client.submit(ClusterWorkplace, threads, actor=True, workers=[home], pure=False)
        since = monotonic()
        while True:
            try:
                with self.client.as_current():  # an actor looks for its client
                    return future, future.result(timeout=LISTEN)
            except library("distributed").TimeoutError:
                if home not in self.workers() or monotonic() - since > WAIT:
                    return future, None
            except Exception as error:
                if home in self.workers():
                    raise EngineError(f"a worker at {home} cannot start: {_line(error)}") from error
                return future, None

    def _call(self, home: str, method: str, arguments: tuple[Any, ...]) -> Any:
        """Call the actor of a worker; returns what will have the answer, None if the worker is gone."""
        message = pickle.dumps(arguments, protocol=5)
        self.shipped += len(message)
        actor = self._actors[home][1] if home in self._actors else None
        try:
            with self.client.as_current():
                return None if actor is None else actor.call(method, message)
        except RuntimeError:  # Dask's word for an actor that is lost
            return None

    def _answer(self, future: Any, home: str) -> Any:
        """Wait for an answer; while there is none, look whether the worker is still there."""
        while True:
            if future is None:
                raise LostWorkerError
            try:
                raw = future.result(timeout=LISTEN)
                break
            except library("distributed").TimeoutError:
                if not self._is_there(home):
                    raise LostWorkerError from None
            except OSError:
                raise LostWorkerError from None
        self.shipped += len(raw)
        kind, *said = pickle.loads(raw)
        if kind == ANSWER:
            return said[0]
        if kind == REFUSED:
            raise _as_error(*said)
        raise EngineError(f"the worker at {home} failed: {said[0]}")

    def _is_there(self, home: str) -> bool:
        future = self._actors[home][0] if home in self._actors else None
        return future is not None and future.status == "finished" and home in self.workers()

    def _forget_worker(self, home: str) -> None:
        """Forget a worker, and where its pieces were; give up if too many are lost."""
        self._actors.pop(home, None)
        self._homes = {k: there for k, there in self._homes.items() if there != home}
        self._losses += 1
        since = monotonic()
        while home in self.workers() and monotonic() - since < NOTICE:  # an error, if the scheduler is gone
            sleep(LISTEN / 10)
        if self._losses > self._most:
            raise EngineError(
                f"{self._losses} workers were lost, one after the other: they may need more memory; "
                "the workers' logs say why they ended"
            )

    def _gone(self) -> EngineError:
        scheduler = getattr(getattr(self.client, "scheduler", None), "address", "its address")
        return EngineError(
            f"the Dask scheduler at {scheduler} is gone: start it again, and the search; with a checkpoint "
            "it goes on where it was"
        )


def _as_error(kind: str, words: str) -> IbmapError:
    """Return an error that a worker has told in words."""
    made = getattr(errors, kind, EngineError)
    return EngineError(words) if made is errors.ContinuousError else made(words)


def _line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
