"""Libraries that are used if they are there."""

from importlib import import_module
from typing import Any

from ibmap.errors import RequestError


def library(name: str) -> Any:
    """Return a module of another project, or say how to get it.

    Examples
    --------
    >>> library("no_such_thing.inside")
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: no_such_thing is not installed: pip install no_such_thing
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise RequestError(f"{package} is not installed: pip install {package}") from None
