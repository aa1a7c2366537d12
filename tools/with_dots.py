"""``with_dots.py COMMAND``: run a command, and print a dot every two seconds while it says nothing."""

import subprocess
import sys

EVERY = 2.0  #: seconds


def main() -> int:
    """Run what the command line names; its exit code is ours."""
    command = subprocess.Popen(sys.argv[1:])
    while True:
        try:
            code = command.wait(EVERY)
        except subprocess.TimeoutExpired:
            print(".", end="", flush=True)
        except KeyboardInterrupt:
            return command.wait() or 130
        else:
            print(flush=True)
            return code


if __name__ == "__main__":
    sys.exit(main())
