"""The command line: one verb a file, each parses, calls the library and prints.

Exit codes: 0 done, 1 the data or the request is wrong (one line on stderr), 2 usage, 130 interrupted, 143
terminated.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``ibmap``; everything else is imported in here, so that Ctrl-C is answered from the start."""
    try:
        from ibmap.cli.interrupts import answered, leave
        from ibmap.cli.startup import start_fast

        start_fast()
        with answered():
            try:
                from ibmap.cli.app import app

                app(prog_name="ibmap")
            finally:  # whatever a signal has turned into on its way
                leave()
    except KeyboardInterrupt:
        sys.stderr.write("ibmap: interrupted\n")
        sys.exit(130)
