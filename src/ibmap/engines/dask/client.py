"""Dask clusters: to start one on this machine, to reach one elsewhere, and to see that all speak the same."""

import logging
import os
import sys
import warnings
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Self

from ibmap._files import forget, remember
from ibmap._libraries import library
from ibmap.errors import EngineError, RequestError

LOOPBACK = "127.0.0.1"  #: whoever can connect may run code: nobody from elsewhere can
REACH = "10s"  #: how long to try to reach a scheduler
#: environment of workers that are started here: what has threads of its own must not have several
ALONE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"),
    "1",
)


class OnCluster:
    """An engine whose rows are elsewhere: it is closed, and neither copied nor sent."""

    def close(self) -> None:
        """Close what was started for it."""
        raise TypeError(f"{type(self).__name__} must define close()")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, memo: object) -> Self:
        return self  # scikit-learn copies the options of estimators; there is one cluster

    def __reduce__(self) -> Any:
        raise EngineError("an engine of a cluster cannot be sent elsewhere: make it where it is used")


def distributed() -> Any:
    """Return Dask's library of clusters, or say how to get it."""
    try:
        return library("distributed")
    except RequestError:
        raise RequestError("Dask is not installed: pip install 'ibmap[dask]'") from None


def connected(client: Any) -> tuple[Any, list[Any]]:
    """Return a client, and what is to be closed with it: nothing, if it was given."""
    if client is None:
        return local_cluster()
    if isinstance(client, str):
        found = reached(client)
        return found, [found]
    if not hasattr(client, "nthreads"):
        raise RequestError(f"client must be a distributed.Client or an address, not {type(client).__name__}")
    if getattr(client, "asynchronous", False):
        raise RequestError("client must not be asynchronous: Client(address)")
    return client, []


def reached(address: str) -> Any:
    """Return a client of the scheduler at an address."""
    dask = distributed()
    _be_quiet()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # versions are compared when it is there
            return dask.Client(address, timeout=REACH, set_as_default=False)
    except (OSError, ValueError, TypeError, dask.TimeoutError) as error:
        said = str(error).partition("\n")[0]
        raise EngineError(
            f"no Dask scheduler answers at {address!r} ({said or type(error).__name__}): start one with "
            "'dask scheduler' and pass the address that it shows; the engine 'dask' starts a cluster here"
        ) from None


def local_cluster(n_workers: int | None = None) -> tuple[Any, list[Any]]:
    """Start a worker for every core of this machine; return a client, and what is to be closed."""
    dask = distributed()
    _be_quiet()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    scratch = Scratch()
    try:
        with library("dask").config.set({"temporary-directory": str(scratch.path)}):  # of the scheduler
            cluster = dask.LocalCluster(
                n_workers=n_workers or cores,
                threads_per_worker=1,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",  # None would be a port of its own choice
                worker_dashboard_address=f"{LOOPBACK}:0",  # distributed 2024.8 listens to all otherwise
                scheduler_kwargs={"dashboard": False},
                local_directory=str(scratch.path),
                silence_logs=logging.CRITICAL,
                env=ALONE,
            )
        client = dask.Client(cluster, set_as_default=False)
    except (OSError, RuntimeError, dask.TimeoutError) as error:
        scratch.close()
        said = str(error).partition("\n")[0]
        raise EngineError(
            f"no cluster could be started on this machine: {said}; use the engine 'memory'"
        ) from None
    return client, [client, cluster, scratch]


class Scratch:
    """A folder for the files and locks of workers, which goes with them."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="ibmap-workers-"))
        remember(self.path, whole=True)

    def close(self) -> None:
        """Remove the folder."""
        rmtree(self.path, ignore_errors=True)
        forget(self.path)


def _be_quiet() -> None:
    """Leave it to errors to say what is wrong."""
    talkers = ("distributed", "asyncio")
    for name in [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in talkers]:
        logging.getLogger(name).setLevel(logging.CRITICAL)


def versions() -> dict[str, str]:
    """Return what must be the same everywhere."""
    from ibmap import __version__

    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python, "ibmap": __version__, "distributed": str(distributed().__version__)}


def check_versions(client: Any) -> None:
    """Refuse a cluster without workers, or whose workers are not like this process."""
    try:
        found = client.run(versions, on_error="return")
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise EngineError(f"the cluster does not answer: {said or type(error).__name__}") from None
    if not found:
        raise EngineError(
            "the cluster has no workers: start some with 'dask worker ADDRESS', or wait until they are there"
        )
    mine = versions()
    for address, theirs in sorted(found.items()):
        if isinstance(theirs, ImportError):
            raise EngineError(
                f"the worker at {address} has no ibmap ({theirs}): there, pip install "
                f"'ibmap[dask]=={mine['ibmap']}'"
            )
        if isinstance(theirs, BaseException):
            raise EngineError(f"the worker at {address} does not understand this ibmap: {theirs}")
        for name, version in mine.items():
            if theirs.get(name) != version:
                raise EngineError(
                    f"the worker at {address} has {name} {theirs.get(name)}, and this process {version}: "
                    "install the same versions on both sides"
                )
