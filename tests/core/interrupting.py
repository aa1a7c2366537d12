"""Ctrl-C while the core works."""

import os
import signal
import threading
import time

import pytest


def interrupted(endless):
    """Run what never ends, and demand that it answers Ctrl-C within a second.

    The signal is sent by another thread, which can only run if the core does not hold the GIL.
    """
    began = time.monotonic()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless()
    timer.join()
    assert time.monotonic() - began < 1.2
