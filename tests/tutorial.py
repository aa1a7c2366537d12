"""The tutorial and the README are programs: their console and Python blocks run in order, in one folder.

``python -m tests.tutorial [README] --write`` runs one of them and puts what came out into the document and
its pictures. A ``text`` block is the output of the Python block before it.
"""

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ibmap.cli.demo import ROWS
from ibmap.synthetic import simulate_people

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "tutorial.md"
README = ROOT / "README.md"
PICTURES = ROOT / "docs" / "tutorial"
DATA = Path(os.environ.get("IBMAP_DATA", ROOT.parent / "shared" / "data")) / "large" / "adult" / "adult.data"

BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b\d[\d.,]* (s|min)\b")
DRAWN = re.compile(r"\.savefig\(\"([\w-]+\.png)\"")
TEXT_COLUMNS = (1, 6, 13)  # workclass, job, country
COLOURS = 64


@dataclass(frozen=True)
class Ran:
    """One command or Python block: what the document shows, and what came out."""

    what: str
    shown: str
    said: str
    code: int = 0

    @property
    def code_shown(self) -> int:
        """The exit code that the document promises: 1 after the one line of an error."""
        return int(self.shown.startswith("ibmap: error:"))

    @property
    def as_shown(self) -> bool:
        """Whether only seconds differ."""
        return self.code == self.code_shown and masked(self.shown) == masked(self.said)


def masked(text: str) -> str:
    """Return the text without the seconds that work took."""
    return SECONDS.sub("SECONDS", text)


def put_data(folder: Path, every: int = 1) -> None:
    """Put adult.data into the folder, as UCI gives it, or every so many-th row of it.

    The copy in the data folder has 0 where UCI has ?, in the three columns of text with missing values.
    """
    lines = []
    for line in DATA.read_text().splitlines()[::every]:
        fields = line.split(", ")
        for i in TEXT_COLUMNS if len(fields) > 1 else ():
            fields[i] = "?" if fields[i] == "0" else fields[i]
        lines.append(", ".join(fields))
    (folder / "adult.data").write_text("\n".join(lines) + "\n")


def put_people(folder: Path) -> None:
    """Put the table of ``ibmap demo`` into the folder, where the demo does."""
    (folder / "demo").mkdir()
    simulate_people(ROWS, random_state=0).frame.write_csv(folder / "demo" / "people.csv")


def run(document: str, folder: Path) -> Iterator[Ran]:
    """Run the blocks of the document in the folder, one after the other."""
    names: dict[str, Any] = {"__name__": "tutorial"}
    blocks = [*BLOCK.finditer(document), None]
    for block, after in pairwise(blocks):
        kind, body = block.groups()
        if kind == "console":
            for command, shown in commands(body):
                yield run_command(command, shown, folder)
        elif kind == "python":
            shown = after[2] if after is not None and after[1] == "text" else ""
            yield Ran(body, shown, run_python(body, names, folder))


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands and what each says."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def run_command(command: str, shown: str, folder: Path) -> Ran:
    program, *arguments = shlex.split(command)
    if program != "ibmap":
        raise ValueError(f"the tutorial runs ibmap and nothing else, not {program!r}")
    done = subprocess.run(
        [sys.executable, "-m", "ibmap", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Ran(command, shown, _tidy(done.stdout), done.returncode)


def run_python(body: str, names: dict[str, Any], folder: Path) -> str:
    """Run a Python block, which sees the names of those before it; return what it prints."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        exec(compile(body, "docs/tutorial.md", "exec"), names)
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
    return _tidy(said.getvalue())


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def rewritten(document: str, results: list[Ran]) -> str:
    """Return the document with what came out; text that differs in seconds only stays."""
    rest = iter(results)
    said = ""

    def replace(block: re.Match[str]) -> str:
        nonlocal said
        kind, body = block.groups()
        if kind == "console":
            ran = [next(rest) for _ in commands(body)]
            body = "".join(f"$ {r.what}\n{r.shown if r.as_shown else r.said}" for r in ran)
        elif kind == "python":
            r = next(rest)
            said = r.shown if r.as_shown else r.said
        else:
            body = said
        return f"```{kind}\n{body}```"

    return BLOCK.sub(replace, document)


def pictures(document: str) -> list[str]:
    """Return the names of the pictures that the blocks draw."""
    return DRAWN.findall(document)


def save_picture(source: Path, target: Path) -> None:
    """Copy a picture, in few colours."""
    from PIL import Image

    temporary = target.with_suffix(".tmp")
    with Image.open(source) as image:
        image.convert("RGB").quantize(COLOURS).save(temporary, "PNG", optimize=True)
    temporary.replace(target)


def main() -> None:
    """Run a document on its whole table; with --write, bring it up to date."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("document", nargs="?", choices=["tutorial", "README"], default="tutorial")
    parser.add_argument("--write", action="store_true", help="put what came out into the document")
    asked = parser.parse_args()
    file, put = (README, put_people) if asked.document == "README" else (DOCUMENT, put_data)
    document = file.read_text()
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put(folder)
        results = list(run(document, folder))
        failed = [r for r in results if r.code != r.code_shown]
        if asked.write and not failed:
            temporary = file.with_suffix(".tmp")
            temporary.write_text(rewritten(document, results))
            temporary.replace(file)
            for picture in pictures(document):
                save_picture(folder / picture, PICTURES / picture)
    for r in results:
        if not r.as_shown:
            sys.stdout.write(f"differs (exit code {r.code}): {r.what.splitlines()[0]}\n")
    sys.exit(bool(failed) or (not asked.write and not all(r.as_shown for r in results)))


if __name__ == "__main__":
    main()
