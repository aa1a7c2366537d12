"""Ctrl-C and its relatives: answered within a second, whatever the process is doing; nothing is left behind.

Python answers a signal between two steps of its main thread: not while a kernel runs or LLVM compiles one,
and an exception can be lost in code that ignores errors. So the exception has half a second to end the
process in an orderly way; then a thread, which the system wakes through a pipe, removes what is unfinished
and ends it.
"""

import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import sleep
from types import FrameType
from typing import Any

from ibmap._files import STOPS, abandon
from ibmap._folders import at_work

GRACE = 0.5  #: seconds for an orderly end
WORD = {number: "interrupted" if number == signal.SIGINT else "terminated" for number in STOPS}


class _State:
    """What is known about the signals of this process."""

    def __init__(self) -> None:
        self.heard: int | None = None
        self.said = False
        self.advice = ""


_state = _State()


def say_interrupted(number: int = signal.SIGINT) -> None:
    """Write one line to stderr, once."""
    if not _state.said:
        _state.said = True
        with suppress(OSError, ValueError):
            advice = f"; {_state.advice}" if _state.advice else ""
            sys.stderr.write(f"ibmap: {WORD[signal.Signals(_state.heard or number)]}{advice}\n")
            sys.stderr.flush()


@contextmanager
def advised(words: str) -> Iterator[None]:
    """Say how to go on, if a signal comes while the block runs."""
    _state.advice = words
    yield
    _state.advice = ""  # not after an exception: it is told later


def advise(words: str) -> None:
    """Say this, and nothing else, about how to go on."""
    _state.advice = words


@contextmanager
def answered() -> Iterator[None]:
    """Answer signals while the block runs, and until the process ends if there was one.

    If there was none, all is done at the end of the block, and signals are ignored from then on: what is left
    is the end of Python itself, which would die of them without a word.
    """
    _state.heard, _state.said, _state.advice = None, False, ""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    wakened = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    handled = _to_handle()
    for number in handled:
        signal.signal(number, _heard)
    hooks = sys.unraisablehook, threading.excepthook, warnings.showwarning
    sys.unraisablehook, threading.excepthook, warnings.showwarning = map(_quiet, hooks)
    threading.Thread(target=_watch, args=(reading,), daemon=True, name="signals").start()
    try:
        yield
    finally:
        if _state.heard is None:
            for number in handled:
                signal.signal(number, signal.SIG_IGN)
            signal.set_wakeup_fd(wakened)
            sys.unraisablehook, threading.excepthook, warnings.showwarning = hooks
            os.close(writing)


def _to_handle() -> list[signal.Signals]:
    """Return the signals to answer; those that are ignored, or that somebody else answers, stay so."""
    usual = (signal.SIG_DFL, signal.default_int_handler)
    return [number for number in WORD if signal.getsignal(number) in usual]


def _heard(number: int, _: FrameType | None) -> None:
    _state.heard = _state.heard or number
    raise KeyboardInterrupt


def leave() -> None:
    """End the process if a signal was heard.

    At once: an exit by the usual way waits for threads, and ends by a signal of its own (code -2) where the
    exception has passed through ``exec``, as it does while dataclasses are made.
    """
    if _state.heard is None:
        return
    _end_processes()
    abandon()
    say_interrupted()
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    os._exit(128 + _state.heard)


def _quiet(hook: Any) -> Any:
    """Return a hook that keeps silent about exceptions and warnings once a signal was heard."""

    def called(*problem: Any) -> None:
        if _state.heard is None:
            hook(*problem)

    return called


def _watch(reading: int) -> None:
    """Wait for a signal; end the process if it has not ended by itself soon after."""
    while (byte := os.read(reading, 1)) and byte[0] not in WORD:
        pass
    if not byte:
        os.close(reading)
        return
    _state.heard = _state.heard or byte[0]
    sleep(GRACE)
    at_work.acquire(timeout=2 * GRACE)  # never between two renames
    if not _state.said and sys.stderr is not None and os.isatty(2):
        os.write(2, b"\r\x1b[K\x1b[?25h")  # the progress line goes, the cursor comes back
    leave()


def _end_processes() -> None:
    """End the processes that this one has started, if there are any, and give back what they share.

    Python would say after our line that semaphores have leaked: those who clean up were not asked.
    """
    started = sys.modules.get("multiprocessing")
    for process in started.active_children() if started is not None else ():
        with suppress(OSError, ValueError, AttributeError):
            process.kill()
            process.join(GRACE)
    shared: Any = sys.modules.get("multiprocessing.synchronize")
    if shared is not None:
        registry = getattr(shared.util, "_finalizer_registry", {})
        for finalizer in list(registry.values()):
            if getattr(finalizer, "_callback", None) is getattr(shared.SemLock, "_cleanup", finalizer):
                with suppress(OSError, ValueError):
                    finalizer()
