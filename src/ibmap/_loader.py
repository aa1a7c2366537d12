"""Load the build of the native core that suits this processor, and refuse one that does not belong here.

A clone has one build, ``_core_native``, made by ``make core``; a wheel has one for each generation of
processors. The environment variable ``IBMAP_CORE`` names the file of another one (``make debug``).
"""

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType

from ibmap import __version__
from ibmap.errors import CoreError

INTERFACE = 2  #: of the core: raise it when a signature in _core.pyi changes; CMake compiles it in

AGAIN = "run make core, or pip install . again"


def load(name: str) -> ModuleType:
    """Import the native core under a name, in place of the module that has it.

    Raises
    ------
    CoreError
        If there is no build that can be loaded here; the message says what to do.
    """
    path = os.environ.get("IBMAP_CORE") or path_of(choose(*known_builds()))
    loader = ExtensionFileLoader(name, os.path.abspath(path))
    spec = spec_from_file_location(name, loader.path, loader=loader)
    if spec is None:
        raise CoreError(f"{path} is not a native core: {AGAIN}")
    try:
        module = module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise unreadable(error) from None
    check(module)
    sys.modules[name] = module
    return module


def known_builds() -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
    """Return the builds, fastest first, each with the features that it needs; and the features there are."""
    try:
        processor = import_module("ibmap._processor")
    except ModuleNotFoundError:
        raise CoreError("the native core is not built: run make core, or pip install .") from None
    except ImportError as error:
        raise unreadable(error) from None
    return processor.BUILDS, processor.FEATURES


def choose(builds: Mapping[str, Sequence[str]], features: Sequence[str]) -> str:
    """Return the first build that needs no feature that the processor lacks.

    >>> choose({"v3": ["popcnt", "avx2"], "v2": ["popcnt"]}, ["popcnt"])
    'v2'
    """
    lacking: list[str] = []
    for name, needs in builds.items():
        lacking = [feature for feature in needs if feature not in features]
        if not lacking:
            return name
    more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
    raise CoreError(
        f"the native core was built for another processor (this one has no {', '.join(lacking[:3])}{more}): "
        "run make core on this machine"
    )


def path_of(build: str) -> str:
    """Return the file of a build."""
    spec = find_spec(f"ibmap._core_{build}")
    if spec is None or spec.origin is None:
        python = ".".join(map(str, sys.version_info[:2]))
        raise CoreError(
            f"the native core is not built for Python {python}, or was not built to the end: {AGAIN}"
        )
    return spec.origin


def check(module: ModuleType) -> None:
    """Refuse a core that was built for another version of the package."""
    version, interface = getattr(module, "VERSION", None), getattr(module, "INTERFACE", None)
    if (version, interface) != (__version__, INTERFACE):
        raise CoreError(
            f"the native core was built for ibmap {version} (interface {interface}), "
            f"but this is {__version__} (interface {INTERFACE}): {AGAIN}"
        )


def unreadable(error: ImportError) -> CoreError:
    """Return the error of a core that the system cannot load, on one line."""
    return CoreError(f"the native core cannot be loaded ({' '.join(str(error).split())}): {AGAIN}")
