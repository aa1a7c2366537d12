"""The claims are the paper's: every quote stands in its text, word for word."""

import re
from pathlib import Path

import pytest

from ibmap.paper.registry import experiment_names, find_experiment

PAPER = Path(__file__).parents[3] / "shared" / "paper"
SIGNS = {
    r"\\ibmaphc": "IBMAP-HC",
    r"\\HHCMN": "HHC-MN",
    r"\\moaIBMAP": "MOA'",
    r"\\moaMI": "MOA",
    r"\\tau": "τ",
    r"\\in(?![a-z])": "∈",
    r"\\(leq|le)(?![a-z])": "≤",
    r"\\(geq|ge)(?![a-z])": "≥",
    r"\\(textbf|emph|multicolumn\{1\}\{\|\|c\|\|\})": "",
    r"\\([{}%])": r"\1",
    r"\^\*": "*",
    r"[$~&]": "",
    r"\^\{?2\}?": "^2",
}


def squeezed(text: str) -> str:
    """The text without LaTeX, spaces and braces."""
    for pattern, sign in SIGNS.items():
        text = re.sub(pattern, lambda found, sign=sign: found.expand(sign), text)
    return re.sub(r"[\s{}]", "", text)


@pytest.fixture(scope="module")
def paper() -> str:
    files = sorted(PAPER.glob("*.txt"))
    if not files:
        pytest.skip(f"needs the paper's text in {PAPER}")
    return squeezed(files[0].read_text())


CLAIMS = [(name, claim) for name in experiment_names() for claim in find_experiment(name).claims]


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=[f"{n}-{c.reading[:30]}" for n, c in CLAIMS])
def test_every_quote_is_in_the_paper(paper, name, claim):
    place = 0
    for part in claim.quote.split("…"):
        found = paper.find(squeezed(part), place)
        assert found >= 0, part
        place = found


def test_this_file_would_notice_a_wrong_word(paper):
    assert squeezed("the landscape shapes to an increasing curve") not in paper
