"""Lay out the sources of the documentation: the pages of the repository, and one page a public package.

``python docs/site/pages.py FOLDER`` copies README.md, docs/ and what they link to, so that relative links
stay true, and writes a page of reference for every public package from its ``__all__``. Each object is
described once, where a user is meant to import it from; other packages that offer it lead there.
"""

import inspect
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import ibmap

ROOT = Path(__file__).parents[2]
#: in this order: an object belongs to the first that offers it
PACKAGES = [
    "ibmap",
    "ibmap.data",
    "ibmap.engines",
    "ibmap.independence",
    "ibmap.criteria",
    "ibmap.search",
    "ibmap.model",
    "ibmap.results",
    "ibmap.learners",
    "ibmap.synthetic",
    "ibmap.paper.datasets",
    "ibmap.paper.presets",
    "ibmap.metrics",
    "ibmap.eda",
    "ibmap.eda.problems",
    "ibmap.exchange",
    "ibmap.errors",
]
PAGES = [
    "README",
    "docs/tutorial",
    "docs/gallery",
    "docs/choosing",
    "docs/models",
    "docs/learners",
    "docs/reference",
    "docs/for-r-users",
    "docs/scaling",
    "docs/glossary",
    "docs/design",
    "docs/quality",
    "docs/reliability",
    "docs/reproduction",
    "CONTRIBUTING",
    "CHANGELOG",
]
#: what the pages link to besides each other
LINKED = ["docs", "examples", "benchmarks", "src", ".ci", "tests", "Makefile", "pyproject.toml", "LICENSE"]
#: what these bases bring is described elsewhere
BASES = (
    "BaseEstimator, TransformerMixin, _SetOutputMixin, _MetadataRequester, Mapping, Exception, Warning, "
    "Protocol, tuple, dict, str, int, object"
)

THEIRS = "set_fit_request"  #: what scikit-learn puts into every learner


def public_names(module: ModuleType) -> list[str]:
    """Return what a package offers: its ``__all__``, or what is defined in it without an underscore."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("_")]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def identity(value: object) -> object:
    """Return what makes two names names of the same object."""
    if inspect.isclass(value) or inspect.isfunction(value):
        return value.__module__, value.__qualname__
    return id(value)


def directive(name: str, value: object) -> str:
    """Return how autodoc is asked to describe an object."""
    if inspect.isclass(value):
        options = f"   :members:\n   :inherited-members: {BASES}\n   :exclude-members: {THEIRS}\n"
        return f".. autoclass:: {name}\n{options}"
    if inspect.isroutine(value):
        return f".. autofunction:: {name}\n"
    return f".. autodata:: {name}\n   :no-value:\n"


def homes(packages: list[str]) -> dict[str, str]:
    """Return where each public name is described, by all the ways in which it can be written.

    These are ``package.name`` for every package that offers it, ``module.name`` where it is defined, and the
    name alone; if several objects share that, it means the first one.
    """
    first: dict[object, str] = {}
    found: dict[str, str] = {}
    for package in packages:
        module = import_module(package)
        for name in public_names(module):
            value = getattr(module, name)
            home = first.setdefault(identity(value), f"{package}.{name}")
            found[f"{package}.{name}"] = home
            found.setdefault(name, home)
            if inspect.isclass(value) or inspect.isfunction(value):
                found.setdefault(f"{value.__module__}.{value.__qualname__}", home)
    return found


def reference(packages: list[str]) -> dict[str, str]:
    """Return the pages of reference by package."""
    home = homes(packages)
    pages = {}
    for package in packages:
        module = import_module(package)
        objects = {f"{package}.{name}": getattr(module, name) for name in public_names(module)}
        own = [directive(name, value) for name, value in objects.items() if home[name] == name]
        listed = [f"   ~{home[name]}" for name in objects]
        title = f"{package}\n{'=' * len(package)}\n"
        about = f".. automodule:: {package}\n   :no-members:\n\n.. currentmodule:: None\n"
        table = "\n".join([".. autosummary::", "   :nosignatures:", "", *listed, ""])
        pages[package] = "\n".join([title, about, table, *own])
    return pages


def write_sources(folder: Path) -> None:
    """Write everything that Sphinx reads into a folder, from scratch."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "api").mkdir(parents=True)
    for page in PAGES:
        if "/" not in page:
            shutil.copy(ROOT / f"{page}.md", folder)
    skip = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    for name in LINKED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=skip)
        else:
            shutil.copy(source, folder)
    pages = reference(PACKAGES)
    for package, text in pages.items():
        (folder / "api" / f"{package}.rst").write_text(text)
    toctree = "\n".join(["```{toctree}", ":maxdepth: 1", ":caption: %s", "", "%s", "```", ""])
    (folder / "index.md").write_text(
        f"# ibmap {ibmap.__version__}\n\n"
        + toctree % ("Pages", "\n".join(PAGES))
        + toctree % ("Reference", "\n".join(f"api/{package}" for package in pages))
    )


if __name__ == "__main__":
    write_sources(Path(sys.argv[1]))
