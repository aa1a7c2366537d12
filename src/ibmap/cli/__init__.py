"""The command line: one verb a file, each parses, calls the library and prints.

Exit codes: 0 done, 1 the data or the request is wrong (one line on stderr), 2 usage, 130 interrupted.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``ibmap``; everything else is imported in here, so that Ctrl-C is answered from the start."""
    try:
        from ibmap.cli.startup import start_fast

        start_fast()
        from ibmap.cli.app import app

        app(prog_name="ibmap")
    except KeyboardInterrupt:
        sys.stderr.write("ibmap: interrupted\n")
        sys.exit(130)
