"""Fonts for names in any script: those of this machine that have the letters, one after the other."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

#: fonts with many scripts, those that are usual first
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans JP", "IPAexGothic", "IPAGothic", "TakaoGothic", "VL Gothic",
    "Hiragino Sans", "Yu Gothic", "Meiryo", "MS Gothic", "Noto Sans CJK SC", "Noto Sans SC",
    "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Microsoft YaHei", "PingFang SC", "Noto Sans CJK KR",
    "Malgun Gothic", "NanumGothic", "Droid Sans Fallback", "Arial Unicode MS", "Unifont", "Noto Sans",
    "Noto Sans Hebrew", "Noto Sans Arabic", "Noto Sans Devanagari", "Noto Sans Thai", "FreeSans",
    "FreeSerif", "Noto Emoji", "Symbola",
)  # fmt: skip
UNKNOWN = "\N{WHITE SQUARE}"  #: instead of a letter that no font has


def legible(texts: Sequence[str]) -> tuple[list[str], list[str], str]:
    """Return the fonts that texts need, the texts, and the letters that no font has: squares stand for them.

    Examples
    --------
    >>> legible(["plain", "déjà vu"])[1:]
    (['plain', 'déjà vu'], '')
    """
    from matplotlib import rcParams

    usual = list(rcParams["font.family"])
    left = {ord(letter) for text in texts for letter in text} - _letters(tuple(usual))
    fonts = []
    for name in (font for font in FALLBACKS if left and font in _installed()):
        if left & _letters((name,)):
            fonts.append(name)
            left -= _letters((name,))
    squares = str.maketrans(dict.fromkeys(left, UNKNOWN))
    return [*usual, *fonts], [text.translate(squares) for text in texts], "".join(map(chr, sorted(left)))


@cache
def _installed() -> frozenset[str]:
    from matplotlib import font_manager

    return frozenset(font.name for font in font_manager.fontManager.ttflist)


@cache
def _letters(family: tuple[str, ...]) -> frozenset[int]:
    """Return the letters that a font has."""
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    path = findfont(FontProperties(family=list(family)))
    return frozenset(FT2Font(path).get_charmap())


def missing_letters(texts: Iterable[Any]) -> str:
    """Return the letters of some names that no font of this machine has."""
    return legible([str(text) for text in texts])[2]
