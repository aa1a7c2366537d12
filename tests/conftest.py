"""Hypothesis: the same examples on every run; ``--hypothesis-profile=explore`` draws new ones."""

import signal
import threading
from contextlib import contextmanager

import pytest
from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, derandomize=False)
settings.load_profile("same")

if threading.current_thread() is threading.main_thread():
    # A shell starts background work deaf to Ctrl-C, and the processes that tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let what opens a browser be slow."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@contextmanager
def signals_as_before():
    """Put back what answers signals: ``ibmap`` ignores them from its end on, which is that of its process."""
    numbers = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
