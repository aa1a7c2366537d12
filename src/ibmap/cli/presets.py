"""What ``--preset`` changes of the options of a verb: only what was not given."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from ibmap.cli import options
from ibmap.errors import RequestError
from ibmap.paper.presets import LEARNERS, TEST, find_preset

PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="Settings that belong together: {presets}. Options on the command line override them.",
    ),
]


def for_learning(
    name: str | None, learner: options.LearnerOptions, test: options.TestOptions, table: options.TableOptions
) -> tuple[options.LearnerOptions, options.TestOptions, options.TableOptions]:
    """Return the options of ``ibmap learn`` with a preset, or with none.

    Examples
    --------
    >>> given = options.LearnerOptions(learner="hhc-mn"), options.TestOptions(prior_counts="ones")
    >>> learner, test, table = for_learning("paper", *given, options.TableOptions())
    >>> learner.symmetry, test.prior_counts, table.discretize
    ('or', 'ones', 'equal-width')
    """
    if name is None:
        return learner.settled(test), test, table
    preset = find_preset(name)
    chosen = learner.learner or next(iter(LEARNERS))
    if chosen not in LEARNERS:
        known = ", ".join(LEARNERS)
        raise RequestError(f"--preset {name} is for {known}: leave it out, or choose --learner {known}")
    if table.suited_to(test.test, learner.score).continuous is not None:
        raise RequestError(
            f"--preset {name} is for categories, and this request is for numbers: leave it out"
        )
    values = {option: str(preset.values[option]) for option in TEST}
    symmetry = preset.learner(chosen).get("symmetry")
    return (
        _filled(replace(learner, learner=chosen), {"symmetry": symmetry}),
        _filled(test, values),
        _filled(table, preset.table()),
    )


def for_worlds(name: str | None, given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``ibmap simulate random``: those that were given, the preset's, the usual ones.

    Examples
    --------
    >>> for_worlds("paper", {"potentials": None, "log_odds": 0.5}, {"potentials": "random", "log_odds": 1.0})
    {'potentials': 'log-uniform', 'log_odds': 0.5}
    """
    known = {**usual, **(find_preset(name).world() if name is not None else {})}
    return {option: known[option] if value is None else value for option, value in given.items()}


def _filled(group: Any, values: Mapping[str, Any]) -> Any:
    """Return options with values where there are none."""
    return replace(group, **{name: value for name, value in values.items() if getattr(group, name) is None})
