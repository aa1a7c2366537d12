"""Start fast: a second ``ibmap learn`` of a small file should feel like a command, not like a program.

Measured on two busy cores, 7 runs of ``ibmap learn`` each, in turn, compiled kernels on the disk; medians:
1.77 s without the measures below, 1.18 s with them.
"""

import atexit
import gc
import sys

BLAS = "scipy.linalg.cython_blas"


def start_fast() -> None:
    """Collect garbage more seldom, and not at the end: importing makes very many objects that stay."""
    gc.set_threshold(500_000, 50, 50)
    atexit.register(gc.freeze)


def import_numba() -> None:
    """Import Numba without SciPy's linear algebra (0.2 s), which no kernel of ours calls.

    Numba looks for it when it loads its first kernel, and does without if it cannot be imported. It can be
    imported again afterwards; only ``@`` and ``np.linalg`` inside compiled functions are off in this process.
    """
    if BLAS in sys.modules or "numba.np.arraymath" in sys.modules:
        return
    sys.modules[BLAS] = None  # type: ignore[assignment]
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[BLAS]
