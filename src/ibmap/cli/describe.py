"""``ibmap describe``: what a preset sets, and why."""

from typing import Annotated

import typer

from ibmap.cli import options, screen


def describe(
    name: Annotated[str, typer.Argument(metavar="PRESET", help="Preset: {presets}.")] = "paper",
    *,
    as_json: options.Json = False,
) -> None:
    """Show the settings of a preset with the reason for each."""
    from dataclasses import asdict

    from ibmap.paper.presets import find_preset

    preset = find_preset(name)
    if as_json:
        screen.tell_json(asdict(preset))
    else:
        for line in preset.describe().splitlines():
            screen.tell(line)
