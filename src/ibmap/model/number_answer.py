"""What a model says about a number: a mixture of normal distributions of its standard score, in its units."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from ibmap._types import Floats
from ibmap.drawing.html import summary_html
from ibmap.model.query import SAMPLES
from ibmap.model.scales import Scale

GRID = 4001  #: points at which the distribution function of a mixture is looked at
MEANS_AT_ONCE = 256  #: whose distribution functions are added up together
FINE = 4096  #: means of a mixture that are told from each other
QUANTILES = 2000  #: of the distribution, from which its mean is made
BARS = 10  #: of a histogram, about
WIDTH = 40  #: letters of its largest bar
BEYOND = 0.005  #: share of values at either end that a histogram leaves out


Mixture = tuple[Floats, Floats, float]  #: shares, means, and the deviation of all parts
Bars = tuple[tuple[float, float, float], ...]  #: from, to, share


@dataclass(frozen=True, eq=False)
class NumberAnswer:
    """The distribution of a number.

    Attributes
    ----------
    variable : str
        What was asked about.
    given : mapping
        What was known.
    mean, deviation, median : float
        Mean, standard deviation and median, in the units of the variable.
    low, high : float
        Ends of the central 95 % of the distribution.
    histogram : tuple of (from, to, share)
        Bars, which have at least 99 % of the distribution.
    error : float or None
        The standard error of the mean, if the answer comes from samples; None if it is exact.
    whole : bool
        Whether values are whole numbers.
    model : str
        What the model leaves out.
    """

    variable: str
    given: Mapping[str, Hashable]
    mean: float
    deviation: float
    median: float
    low: float
    high: float
    histogram: Bars
    error: float | None = None
    whole: bool = False
    model: str = ""

    @property
    def method(self) -> str:
        """How it was found: "exact" or "gibbs"."""
        return "exact" if self.error is None else "gibbs"

    def __str__(self) -> str:
        given = ", ".join(f"{name}={level}" for name, level in self.given.items())
        how = "exact" if self.error is None else f"by Gibbs sampling of {SAMPLES:,} rows"
        how = f"{how} for a model {self.model}" if self.model else how
        error = "" if self.error is None else f" ± {self.error:.1g}"
        digits = int(np.clip(1 - np.floor(np.log10(max(self.deviation, 1e-9))), 0, 10))
        form = f".{digits}f" if 1e-6 < self.deviation < 1e9 else ".4g"
        mean, median, low, high = (f"{x:{form}}" for x in (self.mean, self.median, self.low, self.high))
        lines = [
            f"{self.variable}{' given ' * bool(given)}{given}, {how}",
            f"  mean {mean}{error}, standard deviation {self.deviation:.3g}",
            f"  median {median}, 95 % between {low} and {high}",
        ]
        most = max((share for _, _, share in self.histogram), default=1.0)
        ends = [
            f"{a:.6g}" if self.whole and b - a <= 1 else f"{a:.6g} to {b:.6g}" for a, b, _ in self.histogram
        ]
        across = max(map(len, ends), default=0)
        for end, (_, _, share) in zip(ends, self.histogram, strict=True):
            bar = "█" * max(round(WIDTH * share / most), int(share > 0))
            lines.append(f"  {end:>{across}}  {share:6.1%} {bar}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the question, the numbers, and the bars."""
        head, *lines = str(self).splitlines()
        bars = "\n".join(lines[2:])
        return summary_html(head, [line.strip() for line in lines[:2]], f"<pre>{escape(bars)}</pre>")


def number_answer(
    variable: str,
    given: Mapping[str, Hashable],
    scale: Scale,
    mixture: Mixture,
    sampled: bool,
    model: str = "",
) -> NumberAnswer:
    """Return the answer that a mixture of standard scores gives: its shares, means and one deviation.

    Examples
    --------
    >>> scale = Scale(mean=100.0, spread=15.0, decimals=None)
    >>> mixture = np.array([1.0]), np.array([0.0]), 1.0
    >>> print(number_answer("iq", {}, scale, mixture, sampled=False))
    iq, exact
      mean 100, standard deviation 15
      median 100, 95 % between 71 and 129
        60 to 70    1.9% ███
        70 to 80    6.8% ███████████
        80 to 90   16.2% ██████████████████████████
       90 to 100   24.8% ████████████████████████████████████████
      100 to 110   24.8% ████████████████████████████████████████
      110 to 120   16.2% ██████████████████████████
      120 to 130    6.8% ███████████
      130 to 140    1.9% ███
    """
    shares, means, deviation = mixture
    error = None
    if sampled:
        error = float(means.std(ddof=1) / np.sqrt(len(means)))
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    asked = np.concatenate([middles, [0.025, 0.5, 0.975, BEYOND, 1 - BEYOND]])
    found = scale.values_at(quantiles(shares, means, deviation, asked))
    values, (low, median, high, first, last) = found[:QUANTILES], found[QUANTILES:].tolist()
    mean, spread = float(values.mean()), float(values.std())
    if not scale.values:  # values are normal, too, so that both are known
        mean = float(shares @ means) * scale.spread + scale.mean
        spread = float(np.sqrt(deviation**2 + shares @ (means - shares @ means) ** 2)) * scale.spread
    if error is not None:  # in units, as one standard deviation is
        error *= spread / max(float(np.sqrt(deviation**2 + means.var())), 1e-300)
    is_whole = scale.decimals == 0
    bars = histogram(values, first, last, is_whole)
    return NumberAnswer(variable, given, mean, spread, median, low, high, bars, error, is_whole, model)


def quantiles(shares: Floats, means: Floats, deviation: float, asked: Floats) -> Floats:
    """Return quantiles of a mixture of normal distributions with one standard deviation.

    Examples
    --------
    >>> quantiles(np.array([1.0]), np.array([2.0]), 3.0, np.array([0.5, 0.975])).round(3)
    array([2.  , 7.88])
    """
    from scipy.special import ndtr

    low, high = float(means.min()), float(means.max())
    if len(means) > FINE:
        cells = ((means - low) / max(high - low, 1e-300) * (FINE - 1)).round().astype(np.int64)
        shares = np.asarray(np.bincount(cells, shares, minlength=FINE), np.float64)
        means = np.linspace(low, high, FINE)
    grid = np.linspace(low - 6 * deviation, high + 6 * deviation, GRID)
    below = np.zeros(GRID)
    for start in range(0, len(means), MEANS_AT_ONCE):
        part = slice(start, start + MEANS_AT_ONCE)
        below += ndtr((grid[:, None] - means[part]) / deviation) @ shares[part]
    return np.interp(asked, below / shares.sum(), grid)


def histogram(values: Floats, first: float, last: float, whole: bool) -> Bars:
    """Return bars of some equally probable values, from round numbers to round numbers."""
    if last <= first:
        return ((first, last, 1.0),)
    step = 10.0 ** np.floor(np.log10((last - first) / BARS))
    step *= next(times for times in (1, 2, 5, 10, 20) if (last - first) / (times * step) <= BARS)
    step = max(step, 1.0) if whole else step
    start = np.floor(first / step) * step
    edges = start + step * np.arange(int(np.floor((last - start) / step)) + 2)
    counts = np.histogram(values, edges)[0]
    kept = np.flatnonzero(counts)
    return tuple(
        (float(edges[k]), float(edges[k + 1]), float(counts[k] / len(values)))
        for k in range(kept[0], kept[-1] + 1)
    )
