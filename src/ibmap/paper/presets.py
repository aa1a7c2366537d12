"""Settings that belong together under one name: what a preset sets, and why.

``paper`` is the reading of the paper under which most of its claims hold at once. The paper leaves open
which prior counts its test has, how HHC-MN joins what two variables say of each other, and what the
potentials of its random networks are; ``ibmap reproduce --readings`` scores the readings of each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ibmap._text import in_short
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.independence import BayesianTest

Value = int | float | str


@dataclass(frozen=True)
class Setting:
    """One choice.

    Parameters
    ----------
    name : str
        What is chosen, as ``ibmap reproduce --set`` calls it.
    value, default : int, float or str
        What the preset says, and what ibmap does without it.
    why : str
        The reason, in a sentence or two.
    """

    name: str
    value: Value
    default: Value
    why: str


@dataclass(frozen=True)
class Preset:
    """A name for settings of the test, the learners, the worlds and the tables.

    Parameters
    ----------
    name, about : str
        What it is called, and what it is for.
    settings : tuple of Setting
        All that it says.

    Examples
    --------
    >>> paper().values["hhc_symmetry"]
    'or'
    >>> paper().learner("hhc-mn")
    {'test': <bayesian(prior_counts=0.25) test>, 'symmetry': 'or'}
    >>> from ibmap import HHCMN, simulate_random
    >>> world = simulate_random(20, 2, 500, **paper().world(), random_state=0)
    >>> HHCMN(**paper().learner("hhc-mn")).fit(world.data).graph_
    Graph(20 variables, 21 edges)
    """

    name: str
    about: str
    settings: tuple[Setting, ...]

    @property
    def values(self) -> dict[str, Value]:
        """The values by name."""
        return {setting.name: setting.value for setting in self.settings}

    def test(self) -> "BayesianTest":
        """Return the test of independence."""
        from ibmap.independence import BayesianTest

        options: dict[str, Any] = {name: self.values[name] for name in TEST}
        return BayesianTest(**options)

    def learner(self, name: str = "ibmap-hc") -> dict[str, Any]:
        """Return the options of a learner, ready for ``IBMAP``, ``GSMN``, ``HHCMN`` or the functions."""
        if name not in LEARNERS:
            raise RequestError(f"the preset {self.name!r} is about {', '.join(LEARNERS)}, not about {name!r}")
        symmetry = {"symmetry": self.values[LEARNERS[name]]} if LEARNERS[name] else {}
        return {"test": self.test(), **symmetry}

    def world(self) -> dict[str, Any]:
        """Return the options of ``simulate_random``."""
        return {name: self.values[name] for name in ("potentials", "log_odds")}

    def table(self) -> dict[str, Any]:
        """Return the options of ``load``: how columns of numbers are cut."""
        return {"discretize": self.values["discretize"]}

    def among(self, settings: Mapping[str, Value]) -> dict[str, Value]:
        """Return what the preset says about these settings, as values of the same kind.

        Examples
        --------
        >>> paper().among({"seed": 0, "prior_counts": "ones"})
        {'prior_counts': '0.25'}
        """
        known = self.values
        return {name: type(value)(known[name]) for name, value in settings.items() if name in known}

    def describe(self) -> str:
        """Return what it sets and why, one paragraph a setting.

        Examples
        --------
        >>> print(paper().describe().splitlines()[2])
        prior_counts = 0.25 (otherwise ones)
        """
        parts = [f"{self.name}: {self.about}"]
        for setting in self.settings:
            same = setting.value == setting.default
            usual = "as always" if same else f"otherwise {setting.default}"
            parts.append(f"{setting.name} = {setting.value} ({usual})\n    {setting.why}")
        return "\n\n".join(parts)


TEST = ("prior_counts", "combine", "ties")  #: settings that are options of the test
#: the learners that the paper's preset is about, and the setting that says how each joins its choices
LEARNERS = {"ibmap-hc": "", "gsmn": "gsmn_symmetry", "hhc-mn": "hhc_symmetry"}


def paper() -> Preset:
    """Return the reading of the paper under which most of its claims hold at once.

    Examples
    --------
    >>> paper().test()
    <bayesian(prior_counts=0.25) test>
    """
    return Preset(
        "paper",
        "the reading of the paper under which most of its claims hold at once (docs/reproduction.md).",
        (
            Setting(
                "prior_counts",
                0.25,
                "ones",
                "The paper cites its Bayesian test and gives no prior counts. With 0.25 in every cell and "
                "margin IBMAP-HC and HHC-MN change places where it says that they do, and its printed errors "
                "(75 and 143 at n=75, D=100) come out.",
            ),
            Setting(
                "combine",
                "slices",
                "slices",
                "Independence in every slice on its own, as the cited test has it; one Bayes factor for all "
                "slices fits the random networks worse.",
            ),
            Setting(
                "ties",
                "independent",
                "independent",
                "Where the data say nothing the posterior equals the prior: independent.",
            ),
            Setting(
                "gsmn_symmetry",
                "or",
                "or",
                '"adding an edge between each variable and the variables found in its Markov blanket".',
            ),
            Setting(
                "hhc_symmetry",
                "or",
                "and",
                "The paper does not say how HHC-MN joins the neighbours of two variables; Aliferis et al. "
                'ask both ends. With "or" its real tables come out as printed, mostly; users get fewer false '
                'edges from "and".',
            ),
            Setting(
                "potentials",
                "log-uniform",
                "random",
                '"We then randomly chose 3 parameters in the range [0, 1], and solved for the remaining one'
                '": read as log-potentials, all four in [0, 1].',
            ),
            Setting("log_odds", 1.0, 1.0, '"to be equal to 1.0 for all edges".'),
            Setting(
                "discretize",
                "equal-width",
                "equal-width",
                "The paper does not say how numbers were cut: 1 + log2 of the rows bins of equal width.",
            ),
        ),
    )


PRESETS = {"paper": paper}  #: by name


def find_preset(name: str) -> Preset:
    """Return the preset of a name.

    Examples
    --------
    >>> find_preset("papper")
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: there is no preset 'papper'; did you mean 'paper'?
    """
    if not isinstance(name, str) or name not in PRESETS:
        close = get_close_matches(str(name), PRESETS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(PRESETS)}"
        raise RequestError(f"there is no preset {in_short(name)}; {hint}")
    return PRESETS[name]()
