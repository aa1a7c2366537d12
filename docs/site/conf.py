"""Sphinx settings of the API reference and the pages around it; ``make docs`` builds them, offline."""

import re
import sys
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike
from sphinx.util.typing import stringify_annotation

sys.path.insert(0, str(Path(__file__).parent))

import ibmap
from pages import PACKAGES, homes

project = "ibmap"
author = "The ibmap founders"
version = release = ibmap.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
root_doc = "index"
html_title = f"ibmap {release}"
html_theme_options = {"page_width": "1100px", "sidebar_width": "260px"}
html_copy_source = False

autosummary_generate = False  # pages.py writes the pages, from __all__
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
numpydoc_show_class_members = False
myst_heading_anchors = 4

# Every reference must lead somewhere. Those to other libraries are not followed: no network is needed.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|collections|os|pathlib|typing|sklearn|polars|pl|pandas|matplotlib)\..*"),
    (r"py:class", r"Axes|NDArray|ArrayLike"),
    # in signatures of public functions, and not public themselves
    (
        r"py:class",
        r"ibmap\.(kernels|_core)\..*|(.*\.)?Arrangement|(.*\.)?MixedEngine|tuple\[str|.*\.(BoundBayesianTest|BoundIBScore|BoundBJPScore|EvidenceScore|WholeRows|Climbing|WideClimbing|GainSearch|Progress|State|StructureLearner|Record|Answered|EdgeEffects|MixedEffects|PartialCorrelations|BoundGaussian|BoundGaussianScore|Judged|CellProgram|GaussianPart|Layout|JunctionTree|Filled|Moments|Pair)",
    ),
]

_HOMES = homes(PACKAGES)
_ARRAY = re.compile(r"~numpy\.ndarray\[tuple\[.*?\], ~numpy\.dtype\[([\w.~]+)\]\]")
_ARRAY_LIKE = stringify_annotation(ArrayLike, "smart")


def _shorter(text: str | None) -> str | None:
    """Write arrays in a signature as they are written in the source."""
    return text and _ARRAY.sub(r"NDArray[\1]", text.replace(_ARRAY_LIKE, "ArrayLike"))


def _shorten(app: Any, what: str, name: str, obj: Any, options: Any, said: str, returned: str) -> Any:
    return _shorter(said), _shorter(returned)


def _lead_home(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Resolve a name that is described under another one: ``Step``, or ``ibmap.learners.Step``."""
    home = _HOMES.get(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or home is None:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", home, node, content)


def setup(app: Any) -> None:
    """Connect the two hooks."""
    app.connect("autodoc-process-signature", _shorten)
    app.connect("missing-reference", _lead_home)
