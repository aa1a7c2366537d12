"""What compiles while a command runs, and for how long: it happens once on a machine, and is said."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from time import perf_counter
from typing import Any

from ibmap._text import counted

NOTABLE = 1.0  #: seconds that are worth a word afterwards


class CompileClock:
    """How many functions were compiled, and how long that took; calls within calls count once."""

    def __init__(self) -> None:
        self.functions, self._seconds = 0, 0.0
        self._began: dict[int, list[float]] = {}  # by thread, of every call that is not done

    @property
    def seconds(self) -> float:
        """The seconds so far, of what is compiling just now, too."""
        now = perf_counter()
        return self._seconds + sum(now - began[0] for began in list(self._began.values()) if began)

    @property
    def is_running(self) -> bool:
        """Whether something compiles just now."""
        return any(self._began.values())

    def begin(self) -> None:
        """Note that a function begins to compile in this thread."""
        self._began.setdefault(get_ident(), []).append(perf_counter())

    def end(self) -> None:
        """Note that the last one that began is done."""
        self.functions += 1
        began = self._began[get_ident()]
        first = began.pop()
        if not began:
            self._seconds += perf_counter() - first

    def __str__(self) -> str:
        return f"{counted(self.functions, 'function')}, {self.seconds:.0f} s"


@contextmanager
def compile_clock() -> Iterator[CompileClock]:
    """Count what compiles in the block."""
    from numba.core import event

    clock = CompileClock()

    class Ear(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            clock.begin()

        def on_end(self, _: Any) -> None:
            clock.end()

    with event.install_listener("numba:compile", Ear()):
        yield clock
