"""``python -m ibmap.cli`` is ``ibmap``."""

from ibmap.cli import main

main()
