"""Numbers and lists in words, the same wherever they are shown."""

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any


def probability(log_p: float) -> str:
    """Return a probability for reading, also when it is next to one.

    Examples
    --------
    >>> probability(math.log(0.25)), probability(-1.2e-24), probability(-800.0), probability(0.0)
    ('0.250', '1 - 1e-24', 'e^-800', '1')
    """
    if log_p > -1e-3:
        rest = -math.expm1(log_p)
        return f"1 - {rest:.0e}" if rest else "1"
    if log_p < -600:
        return f"e^{log_p:.0f}"
    p = math.exp(log_p)
    return f"{p:.3f}" if p >= 1e-3 else f"{p:.0e}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "edge"), counted(1200, "row")
    ('1 edge', '1,200 rows')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def in_seconds(seconds: float) -> str:
    """Return how long something took.

    Examples
    --------
    >>> in_seconds(0.01234), in_seconds(1391.2)
    ('0.0123 s', '1,391 s')
    """
    return f"{seconds:.3g} s" if seconds < 999.5 else f"{seconds:,.0f} s"


def in_bytes(n: float) -> str:
    """Return a size in words.

    Examples
    --------
    >>> in_bytes(1500), in_bytes(3 * 2**30)
    ('1.5 KiB', '3.0 GiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} TiB"


def listed(words: Sequence[str]) -> str:
    """Return words in a row.

    Examples
    --------
    >>> listed(["tea"]), listed(["tea", "coffee", "milk"])
    ('tea', 'tea, coffee and milk')
    """
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else words[0]


def either(words: Sequence[str]) -> str:
    """Return words of which one is to be chosen.

    Examples
    --------
    >>> either(["tea"]), either(["tea", "coffee", "milk"])
    ('tea', 'tea, coffee or milk')
    """
    return ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else words[0]


def one_of(words: Iterable[str]) -> str:
    """Return words in quotes of which one is to be chosen, for the message that refuses another one.

    Examples
    --------
    >>> one_of(("or", "and"))
    "'or' or 'and'"
    """
    return either([repr(word) for word in words])


def listing(names: Iterable[object], at_most: int = 5) -> str:
    """Return names in quotes, the first few of them when there are many.

    Examples
    --------
    >>> listing(["a", "b"])
    "'a', 'b'"
    >>> listing("abcdefg", at_most=3)
    "'a', 'b', 'c' and 4 more"
    """
    return first_few([repr(name) for name in names], at_most)


def first_few(words: Sequence[str], at_most: int = 5) -> str:
    """Return words in a row, the first few of them when there are many.

    Examples
    --------
    >>> first_few(["a", "b", "c"], at_most=1)
    'a and 2 more'
    """
    rest = len(words) - at_most
    return ", ".join(words) if rest <= 0 else f"{', '.join(words[:at_most])} and {rest} more"


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Return text that does nothing to a terminal: control characters are spelled out.

    Examples
    --------
    >>> print(visible("\x1b[31mred"))
    \x1b[31mred
    """
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


_FORMULA = re.compile("'*[=+@\t\r-]")


def safe_cell(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula; different names stay different.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("a=b"), safe_cell("'=1+1")
    ("'=1+1", 'a=b', "''=1+1")
    """
    return f"'{name}" if _FORMULA.match(name) else name


def json_line(content: Any, encoding: str = "utf-8") -> str:
    r"""Return JSON that does nothing to a terminal, and that a stream of this encoding can hold.

    Examples
    --------
    >>> print(json_line("\x1b café \x9b"), json_line("café", "latin-1"))
    "\u001b café \u009b" "caf\u00e9"
    """
    text = json.dumps(content, ensure_ascii=encoding.lower().replace("-", "") != "utf8")
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def in_short(value: object) -> str:
    """Return what somebody gave, in one line of at most some eighty characters; an error may name it.

    Examples
    --------
    >>> in_short([("a", "b")]), in_short(range(3)), len(in_short("x" * 500))
    ("[('a', 'b')]", 'range(0, 3)', 80)
    """
    try:
        words = " ".join(repr(value).split())
    except Exception:  # somebody's own repr
        words = f"a {type(value).__name__}"
    return words if len(words) <= 80 else words[:77] + "..."
