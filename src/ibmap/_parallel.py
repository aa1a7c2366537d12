"""Threads: how work is spread over them, how to wait without missing Ctrl-C, and who must not have any."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import islice
from os import cpu_count
from queue import SimpleQueue
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from ibmap import _checks
from ibmap._text import in_short
from ibmap.errors import RequestError

T = TypeVar("T")

MOST_THREADS = 10_000
LISTEN = 0.1  #: seconds between two looks at the keyboard


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads as scikit-learn counts: None is 1, -1 is all cores.

    Examples
    --------
    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not _checks.is_whole(n_jobs) or n_jobs > MOST_THREADS:
        raise RequestError(
            f"n_jobs must be a whole number up to {MOST_THREADS:,}, or None, not {in_short(n_jobs)}"
        )
    n_cores = cpu_count() or 1
    if n_jobs == 0 or n_jobs < -n_cores:
        fewest = "" if n_cores == 1 else f", -{n_cores} all but {n_cores - 1}"
        raise RequestError(f"n_jobs must not be {n_jobs}: 1 is one thread, -1 all cores{fewest}")
    return int(n_jobs) if n_jobs > 0 else n_cores + 1 + int(n_jobs)


def result_of(future: Future[T]) -> T:
    """Wait for a result, and hear Ctrl-C meanwhile.

    ``future.result()`` alone does not where polars has done something: its signal handler lets a wait for a
    lock go on (SA_RESTART), and Python learns of Ctrl-C when the wait is over.
    """
    while not future.done():
        wait([future], timeout=LISTEN)
    return future.result()


def in_order(
    work: Callable[[int, Any], T],
    tasks: Iterable[Any],
    threads: int,
    stop: Callable[[], object] = lambda: None,
    ahead: int | None = None,
) -> Iterator[T]:
    """Yield ``work(thread, task)`` in the order of the tasks.

    When the caller wants no more, or a task fails, ``stop`` is called, which may end those that are at work.
    With ``ahead``, tasks are taken only so far ahead of the one whose result is wanted next.

    Examples
    --------
    >>> list(in_order(lambda thread, task: task**2, range(4), threads=2))
    [0, 1, 4, 9]
    """
    if threads <= 1:
        yield from (work(0, task) for task in tasks)
        return
    free: SimpleQueue[int] = SimpleQueue()
    for thread in range(threads):
        free.put(thread)

    def run(task: Any) -> T:
        thread = free.get()
        try:
            return work(thread, task)
        finally:
            free.put(thread)

    with ThreadPoolExecutor(threads) as pool:
        try:
            rest = iter(tasks)
            begun = deque(pool.submit(run, task) for task in islice(rest, ahead))
            while begun:
                yield result_of(begun.popleft())
                begun.extend(pool.submit(run, task) for task in islice(rest, 1))
        finally:  # all done, stopped, or failed: nobody begins anything new
            stop()
            pool.shutdown(wait=False, cancel_futures=True)


def spread(work: Callable[[int, Any], object], tasks: Iterable[Any], threads: int) -> None:
    """Run ``work(thread, task)`` for every task; each thread takes the next one when it is free."""
    if threads <= 1:
        for task in tasks:
            work(0, task)
        return
    waiting = deque(tasks)

    def drain(thread: int) -> None:
        while waiting:
            try:
                task = waiting.popleft()
            except IndexError:  # another thread was faster
                return
            work(thread, task)

    with ThreadPoolExecutor(threads) as pool:
        try:
            for finished in [pool.submit(drain, thread) for thread in range(threads)]:
                result_of(finished)
        finally:
            waiting.clear()  # interrupted, or failed: let the others end


class OneBlasThread:
    """A ``with`` block in which NumPy's linear algebra stays in its thread; they may overlap.

    Where there are many small matrices, threads wait for each other most of the time: ten times slower when
    another process is at work.
    """

    _lock, _inside = Lock(), 0
    _limit: Any = None

    def __enter__(self) -> None:
        with OneBlasThread._lock:
            if not OneBlasThread._inside:
                OneBlasThread._limit = _libraries().limit(limits=1, user_api="blas")
            OneBlasThread._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with OneBlasThread._lock:
            OneBlasThread._inside -= 1
            if not OneBlasThread._inside:
                OneBlasThread._limit.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries that have threads of their own; looking for them takes milliseconds."""
    return ThreadpoolController()
