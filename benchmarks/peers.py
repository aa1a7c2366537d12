"""Whole fits beside the fastest peer, pybnesian's PC (C++), on the same data in one run, in CPU time."""

from functools import partial
from time import process_time

import numpy as np
import pandas as pd
import pybnesian

from common import report, times, verdict, without_constants, world
from ibmap import IBMAP, EvidenceMAP

BARS = {IBMAP: {100: 25.0, 500: 50.0}, EvidenceMAP: {100: 7.0, 500: 20.0}}


def main() -> None:
    rows: list[dict[str, object]] = []
    for n in (100, 500):
        data = without_constants(world(n, 1600))
        frame = pd.DataFrame(data.astype(str), columns=[f"x{i}" for i in range(data.shape[1])])
        test = pybnesian.ChiSquare(frame.astype("category"))
        theirs = times(partial(pybnesian.PC().estimate, test, alpha=0.05), 3, process_time)[0]
        for learner, bars in BARS.items():
            ours = times(partial(learner().fit, data), 9, process_time)[0]
            rows.append(
                {
                    "learner": learner.__name__,
                    "n": data.shape[1],
                    "rows": len(data),
                    "pybnesian_ms": round(1e3 * theirs, 1),
                    "ibmap_ms": round(1e3 * ours, 2),
                    "ratio": round(theirs / ours, 1),
                    "bar": verdict(theirs / ours, bars[n], at_least=True),
                }
            )
    report("peers", rows)


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
