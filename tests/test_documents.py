"""The documents lead where they say: links to files and headings, paths, the oldest versions."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
IN_TREE = re.compile(r"(src|tests|docs|benchmarks|examples|\.ci)/[\w./-]+")


def without_code(text: str) -> str:
    return FENCED.sub("", text)


def anchors(text: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    titles = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title).replace("`", "") for title in HEADING.findall(text)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(document: Path, text: str) -> list[str]:
    """Return the relative links that lead nowhere; addresses of other sites are not asked."""
    broken = []
    for link in LINK.findall(CODE.sub("", without_code(text))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, heading = link.partition("#")
        target = document.parent / path if path else document
        there = not path or (target.exists() and ROOT in target.resolve().parents)
        if there and heading and target.suffix == ".md":
            found = text if target == document else target.read_text()
            there = heading in anchors(without_code(found))
        if not there:
            broken.append(link)
    return broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    assert not broken_links(document, document.read_text())


def test_this_file_would_notice_a_broken_link() -> None:
    text = "# A `b` c, d\n[x](#a-b-c-d) [x](tutorial.md) [x](#b) [x](no.md) [x](design.md#none) [x](../../x)"
    assert broken_links(ROOT / "docs" / "x.md", text) == ["#b", "no.md", "design.md#none", "../../x"]


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/design.md", "docs/glossary.md"])
def test_paths_are_there(document: str) -> None:
    """A path in a document is one of the tree; words in capitals (``NAME.py``) stand for others."""
    said = CODE.findall(without_code((ROOT / document).read_text()))
    paths = {word for code in said for word in code.split() if IN_TREE.fullmatch(word)}
    assert not [path for path in sorted(paths) if "NAME" not in path and not (ROOT / path).exists()]


def test_the_changelog_has_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_page_of_the_documentation_is_there() -> None:
    listed = re.search(r"^PAGES = \[(.*?)\]", (ROOT / "docs/site/pages.py").read_text(), re.M | re.S)
    assert listed
    pages = {ROOT / f"{name}.md" for name in re.findall(r'"(.+?)"', listed[1])}
    assert pages == set(DOCUMENTS)


def lower_bounds() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    bounds = [line.partition(">=") for line in [*project["dependencies"], *extras["report"], *extras["test"]]]
    return {name: bound for name, _, bound in bounds}


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    bounds = lower_bounds()
    first, _, others = (ROOT / "constraints-oldest.txt").read_text().partition("\n\n")
    oldest = dict(line.split("==") for line in first.splitlines() if not line.startswith("#"))
    assert oldest == bounds
    assert not {line.partition("==")[0] for line in others.splitlines()} & set(bounds)


def test_every_extra_asks_for_the_same_version() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    bounds = lower_bounds()
    for name, _, bound in (line.partition(">=") for lines in extras.values() for line in lines):
        assert bounds.get(name, bound) == bound, name
