"""With what, and where, rows were made."""

import os
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ibmap import __version__


@cache
def _parts() -> tuple[tuple[str, str], ...]:
    found = [("ibmap", __version__), ("python", platform.python_version())]
    for package in ("numpy", "numba"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, "unknown"))
    return (*found, ("machine", f"{os.cpu_count()} × {_processor()}"))


def made_with() -> dict[str, str]:
    """Return the versions that matter and the processor (for the wall times)."""
    return dict(_parts())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
