"""A plugin of pytest for ``mutate.py``: note which functions each test calls, or run those that call one.

With ``IBMAP_NOTE=FOLDER`` each process leaves a file there; with ``IBMAP_CHOSEN=FILE`` the tests that it
lists are run, in this order, and the first that fails is named in a file beside it.
"""

import os
import pickle
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from cProfile import Profile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

NOTE, CHOSEN = os.environ.get("IBMAP_NOTE"), os.environ.get("IBMAP_CHOSEN")
LIBRARY = "/src/ibmap/"
Functions = set[tuple[str, int]]  #: file and first line
profile = Profile(builtins=False)
in_threads: list[CodeType] = []
notes: dict[str, tuple[float, Functions]] = {}
shared: dict[str, Functions] = defaultdict(set)  #: by file: what fixtures call, for whomever
failed: set[str] = set()


def _note(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        in_threads.append(frame.f_code)


def functions() -> Functions:
    """Return the functions of the library that were called."""
    profile.disable()
    codes = [entry.code for entry in profile.getstats() if isinstance(entry.code, CodeType)] + in_threads
    names = [(code.co_filename.partition(LIBRARY)[2], code.co_firstlineno) for code in codes]
    return {(name, line) for name, line in names if name}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test calls, and how long it takes."""
    if not NOTE:
        return (yield)
    profile.clear()
    in_threads.clear()
    threading.setprofile(_note)
    began = time.process_time()
    profile.enable()
    result = yield
    notes[item.nodeid] = time.process_time() - began, functions()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Note what its fixtures call for all tests of the file."""
    result = yield
    if NOTE:
        shared[item.nodeid.partition("::")[0]] |= functions()
        profile.enable()
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note that it failed."""
    if report.failed:
        failed.add(report.nodeid)
        if CHOSEN:
            Path(CHOSEN).with_name("killer").write_text(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write down what those call that passed."""
    if NOTE and notes:
        passed = {
            test: (seconds, called | shared[test.partition("::")[0]])
            for test, (seconds, called) in notes.items()
            if test not in failed
        }
        Path(NOTE, str(os.getpid())).write_bytes(pickle.dumps(passed))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests that are chosen."""
    if CHOSEN:
        place = {test: k for k, test in enumerate(Path(CHOSEN).read_text().splitlines())}
        items[:] = sorted((i for i in items if i.nodeid in place), key=lambda i: place[i.nodeid])
