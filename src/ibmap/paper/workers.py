"""Processes that run cells: each takes a batch, sends row after row, and asks for the next batch."""

import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from ibmap.errors import IbmapError, RequestError
from ibmap.paper.experiment import Setup, Study
from ibmap.paper.results import Cell, Row

Batch = list[tuple[Cell, int]]
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def run(study: Study, setup: Setup, batches: Sequence[Batch], n_jobs: int) -> Generator[Row, None, None]:
    """Run all batches and yield the rows as they come; with one job everything happens in this process."""
    if n_jobs <= 1 or len(batches) <= 1:
        for batch in batches:
            yield from _rows(study, setup, batch)
        return
    waiting = deque(batches)
    with _processes(study, setup, min(n_jobs, len(batches))) as processes:
        for connection in processes:
            connection.send(waiting.popleft())
        busy = list(processes)
        while busy:
            for connection in _ready(busy):
                kind, content = _received(connection, processes)
                if kind == "row":
                    yield content
                elif kind == "failed":
                    raise content
                elif waiting:
                    connection.send(waiting.popleft())
                else:
                    busy.remove(connection)


def _ready(connections: list[Connection]) -> list[Connection]:
    """Wait until someone has something to say."""
    heard = wait(connections)
    return [connection for connection in connections if connection in heard]


def _rows(study: Study, setup: Setup, batch: Batch) -> Iterator[Row]:
    for cell, repetition in batch:
        yield Row(cell, repetition, study.run(cell, repetition, setup))


def _serve(connection: Connection, study: Study, setup: Setup) -> None:
    """Run batches until the other side hangs up: it is done, was interrupted, or was killed."""
    with suppress(EOFError, OSError):
        while True:
            rows = _rows(study, setup, connection.recv())
            while True:
                reply = _next(rows)
                connection.send(reply)
                if reply[0] != "row":
                    break


def _next(rows: Iterator[Row]) -> tuple[str, Any]:
    """Return the next row, or why there is none, in a form that can be sent."""
    try:
        return "row", next(rows)
    except StopIteration:
        return "done", None
    except IbmapError as error:
        return "failed", error
    except Exception:
        return "failed", RuntimeError(traceback.format_exc())


def _received(connection: Connection, processes: dict[Connection, BaseProcess]) -> tuple[str, Any]:
    try:
        kind, content = connection.recv()
    except (EOFError, OSError):
        process = processes[connection]
        process.join()
        raise RequestError(
            f"a process was killed (code {process.exitcode}), perhaps for lack of memory; the rows that were "
            "finished are kept: run the same command again, with fewer --jobs"
        ) from None
    return kind, content


@contextmanager
def _processes(study: Study, setup: Setup, number: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Start processes with one thread each; they end with the block, whatever ends it."""
    context = get_context("spawn")
    processes: dict[Connection, BaseProcess] = {}
    try:
        with _one_thread(), _deaf_to_interrupts():
            for _ in range(number):
                ours, theirs = context.Pipe()
                process: BaseProcess = context.Process(
                    target=_serve, args=(theirs, study, setup), daemon=True
                )
                process.start()
                theirs.close()
                processes[ours] = process
        yield processes
    finally:
        for connection, process in processes.items():
            connection.close()
            process.terminate()
            process.join()


@contextmanager
def _one_thread() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let the processes that are started inherit that they hear no Ctrl-C: it is for the one that writes.

    It is held back, not ignored: if it comes in this moment, it is answered after it.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would let Ctrl-C in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
