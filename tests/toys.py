"""A study that costs nothing: processes of their own can import it, and tests can watch it run."""

import os
import time
from pathlib import Path

from ibmap.errors import RequestError
from ibmap.paper.claims import Claim
from ibmap.paper.comparisons import versus
from ibmap.paper.experiment import Experiment, Measure, Panels, Setup, Study, seed_of

GRID = {"n": (2, 3, 5), "learner": ("slow", "fast")}


def run(cell, repetition, setup: Setup):
    seed = seed_of(int(setup.settings["seed"]), {"n": cell["n"]}, repetition)
    time.sleep(float(setup.settings["pause"]))
    if setup.settings["mishap"] == f"{cell['n']} {cell['learner']}":
        raise RequestError("a mishap")
    if setup.settings["mishap"] == f"kill {cell['n']} {cell['learner']}":
        os._exit(9)
    if setup.settings["mishap"] == f"bug {cell['n']} {cell['learner']}":
        raise OSError("a bug")
    if setup.data_dir is not None:  # leave a trace of every run
        with (Path(setup.data_dir) / "runs.txt").open("a") as file:
            file.write(f"{cell['n']} {cell['learner']} {repetition}\n")
    return {"hamming": int(cell["n"]) + (cell["learner"] == "slow") + repetition, "draw": seed % 1000}


def cost(cell):
    return float(cell["n"])


STUDY = Study(
    name="toy",
    grid=GRID,
    quick={"n": (2,), "learner": ("slow", "fast")},
    repetitions=3,
    quick_repetitions=1,
    settings={"seed": 0, "pause": 0.0, "mishap": "none"},
    run=run,
    together=("learner",),
    cost=cost,
)
EXPERIMENT = Experiment(
    name="toy",
    title="A toy",
    about="Nothing to see here.",
    study=STUDY,
    measures=(Measure("hamming", "Hamming distance"),),
    across="learner",
    figure=Panels(x="n", lines="learner"),
    claims=(
        Claim("fast is better", versus("hamming", [{"n": n} for n in GRID["n"]], "fast", "slow")),
        Claim("slow is better", versus("hamming", [{"n": n} for n in GRID["n"]], "slow", "fast"), "indeed"),
    ),
)
