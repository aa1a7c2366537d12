"""The native core is there, belongs to this package, and is the one that was asked for."""

import os
import sys
from pathlib import Path

import ibmap
from ibmap import _core, _loader


def test_the_core_belongs_to_the_package() -> None:
    assert (ibmap.__version__, _loader.INTERFACE) == (_core.VERSION, _core.INTERFACE)


def test_the_core_has_one_name_whatever_its_build() -> None:
    assert _core.__name__ == "ibmap._core"
    assert sys.modules["ibmap._core"] is _core is ibmap._core


def test_the_environment_names_another_build() -> None:
    """``make sanitize`` and ``make debug`` rest on it."""
    chosen = os.environ.get("IBMAP_CORE")
    expected = (
        Path(chosen).resolve() if chosen else Path(_loader.path_of(_loader.choose(*_loader.known_builds())))
    )
    assert Path(_core.__file__) == expected
