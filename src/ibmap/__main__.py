"""``python -m ibmap``."""

from ibmap.cli import main

main()
