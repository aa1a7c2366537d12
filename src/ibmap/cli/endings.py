"""What is to be closed when a verb ends, however it ends."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

_open: list[ExitStack] = []


@contextmanager
def ended() -> Iterator[None]:
    """Close what was opened while the block ran."""
    with ExitStack() as stack:
        _open.append(stack)
        try:
            yield
        finally:
            _open.remove(stack)


def at_end(close: Callable[[], object]) -> None:
    """Call a function when the verb ends.

    Examples
    --------
    >>> said = []
    >>> with ended():
    ...     at_end(lambda: said.append("closed"))
    >>> said
    ['closed']
    """
    if _open:
        _open[-1].callback(close)
