"""The whole fit beside the fastest peer, pybnesian's PC (C++), on the same data in one run."""

import numpy as np
import pandas as pd
import pybnesian

from common import median, report, verdict, without_constants, world
from ibmap import IBMAP


def main() -> None:
    rows: list[dict[str, object]] = []
    for n, bar in ((100, 25.0), (500, 50.0)):
        data = without_constants(world(n, 1600))
        frame = pd.DataFrame(data.astype(str), columns=[f"x{i}" for i in range(data.shape[1])])
        frame = frame.astype("category")
        theirs = median(lambda frame=frame: pybnesian.PC().estimate(pybnesian.ChiSquare(frame), alpha=0.05))
        ours = median(lambda data=data: IBMAP().fit(data))
        rows.append(
            {
                "n": data.shape[1],
                "rows": len(data),
                "pybnesian_ms": round(1e3 * theirs, 1),
                "ibmap_ms": round(1e3 * ours, 2),
                "ratio": round(theirs / ours, 1),
                "ascents": IBMAP().fit(data).n_iter_,
                "bar": verdict(theirs / ours, bar, at_least=True),
            }
        )
    report("peers", rows)


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
