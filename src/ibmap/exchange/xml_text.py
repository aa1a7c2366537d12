"""What GraphML and GEXF share: XML that keeps every character it can hold, and refuses the others."""

import re
from xml.etree import ElementTree

from ibmap.errors import RequestError

_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)  # a parser would turn the last three into spaces


def attribute(text: str, title: str) -> str:
    """Return text as the value of an attribute, in quotes.

    Examples
    --------
    >>> print(attribute('<"a" & b>', "GraphML"))
    "&lt;&quot;a&quot; &amp; b&gt;"
    """
    if found := _UNSPEAKABLE.search(text):
        raise RequestError(
            f"the name {text[:40]!r} holds {found[0]!r}, which {title} cannot: write JSON, or rename it"
        )
    return f'"{text.translate(_ESCAPED)}"'


def content(text: str) -> str:
    """Return text as it stands between two tags."""
    return text.translate(_ESCAPED)


def parsed(text: str, root: str) -> ElementTree.Element:
    """Return the root element, without namespaces in its tags or those below."""
    try:
        top = ElementTree.fromstring(text.encode("utf-8", "surrogatepass"))
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise RequestError(f"the text is damaged ({error})") from None
    for element in top.iter():
        element.tag = element.tag.rpartition("}")[2]
    if top.tag != root:
        raise RequestError(f"the outermost element is <{top.tag[:40]}>, not <{root}>")
    return top


def required(element: ElementTree.Element, name: str) -> str:
    """Return an attribute that must be there."""
    value = element.get(name)
    if value is None:
        raise RequestError(f"a <{element.tag}> lacks its {name}")
    return value


def child(element: ElementTree.Element, tag: str) -> ElementTree.Element:
    """Return a child that must be there."""
    found = element.find(tag)
    if found is None:
        raise RequestError(f"there is no <{tag}> in <{element.tag}>")
    return found
