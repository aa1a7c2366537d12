"""The command line: one verb a file, each parses, calls the library and prints.

Exit codes: 0 done, 1 the data or the request is wrong (one line on stderr), 2 usage, 130 interrupted, 143
terminated.
"""

import atexit
import gc
import io
import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run ``ibmap``; everything else is imported in here, so that Ctrl-C is answered from the start."""
    try:
        from ibmap.cli.interrupts import answered, leave

        gc.set_threshold(200_000, 50, 50)  # importing makes very many objects that stay: 0.83 -> 0.63 CPU s
        atexit.register(gc.freeze)
        _mend_streams()
        with answered():
            try:
                from ibmap.cli.app import app

                app(prog_name="ibmap")
            finally:  # whatever a signal has turned into on its way
                leave()
    except KeyboardInterrupt:
        sys.stderr.write("ibmap: interrupted\n")
        sys.exit(130)


def _mend_streams() -> None:
    """Let streams show what they can, spelled out where they cannot, and say so if stdout is closed."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        sys.stderr.write("ibmap: error: stdout is closed: nothing could be shown\n")
        sys.exit(1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
