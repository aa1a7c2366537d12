"""Waiting for other threads without getting deaf."""

from concurrent.futures import Future, wait
from typing import TypeVar

T = TypeVar("T")

LISTEN = 0.1  #: seconds between two looks at the keyboard


def result_of(future: Future[T]) -> T:
    """Wait for a result, and hear Ctrl-C meanwhile.

    ``future.result()`` alone does not where polars has done something: its signal handler lets a wait for a
    lock go on (SA_RESTART), and Python learns of Ctrl-C when the wait is over.
    """
    while not future.done():
        wait([future], timeout=LISTEN)
    return future.result()
