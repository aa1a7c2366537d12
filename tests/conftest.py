"""Hypothesis: the same examples on every run; ``--hypothesis-profile=explore`` draws new ones."""

import signal
import threading

from hypothesis import settings

settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, derandomize=False)
settings.load_profile("same")

if threading.current_thread() is threading.main_thread():
    # A shell starts background work deaf to Ctrl-C, and the processes that tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
