"""Public functions, estimators and methods, called with what makes no sense: one sentence, or an answer.

A case is a call that works, of which one argument is replaced. Whatever comes out, it is an answer or an
:class:`~ibmap.errors.IbmapError` of one line.
"""

import datetime
import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import ibmap
from ibmap import eda, exchange, learners
from ibmap.engines import as_engine
from ibmap.errors import IbmapError
from ibmap.independence import as_test
from ibmap.model import MarkovNetwork
from ibmap.paper import datasets, presets
from ibmap.report import write_report
from ibmap.results import explain

RNG = np.random.default_rng(0)
A = RNG.integers(2, size=60)
COLUMNS = {"a": A, "b": A ^ (RNG.random(60) < 0.1), "c": RNG.integers(3, size=60)}
DATA = ibmap.load(COLUMNS)
NUMBERS = {name: RNG.normal(size=60) for name in "abc"}
GRAPH = ibmap.Graph("abc", [("a", "b")])
LEARNED = learners.evidence_map(DATA)
MODEL = MarkovNetwork.fit(GRAPH, DATA)
MIXED = ibmap.load({"a": A, "b": A + RNG.normal(size=60), "c": RNG.normal(size=60)}, continuous=["b", "c"])
MIXED_MODEL = MarkovNetwork.fit(GRAPH, MIXED)
FITTED = ibmap.IBMAP().fit(COLUMNS)


ODD: dict[str, Any] = {
    "none": None,
    "true": True,
    "zero": 0,
    "minus": -1,
    "half": 0.5,
    "one": 1,
    "huge": 10**30,
    "nan": float("nan"),
    "infinite": float("inf"),
    "empty word": "",
    "word": "x",
    "known word": "a",
    "nul": "\0",
    "bytes": b"\xff",
    "empty list": [],
    "words": ["x", "y"],
    "pairs": [("a", "b")],
    "triples": [("a", "b", "c")],
    "mixed": [1, "a", None],
    "nested": [[[]]],
    "empty dict": {},
    "dict": {"a": 1},
    "set": {1, 2},
    "array": np.arange(6.0).reshape(2, 3),
    "square": np.eye(3),
    "scalar": np.float64(0.5),
    "objects": np.array([object(), None]),
    "no rows": np.empty((0, 3)),
    "cube": np.zeros((2, 2, 2)),
    "complex": 1j,
    "object": object(),
    "class": int,
    "function": lambda *args, **more: None,
    "iterator": iter(()),
    "date": datetime.date(2020, 1, 1),
    "graph": ibmap.Graph("xy"),
}


def fit(kind: Any, source: Any = COLUMNS, y: Any = None, sample_weight: Any = None, **options: Any) -> Any:
    more = {} if sample_weight is None else {"sample_weight": sample_weight}
    return kind(**options).fit(source, y, **more)


def base(kind: Any, **more: Any) -> dict[str, Any]:
    """Every argument of an estimator, and those of ``fit``."""
    return {**kind().get_params(deep=False), "source": COLUMNS, "sample_weight": None, **more}


def drawn(kind: Any, **options: Any) -> Any:
    """A test or a score, in use."""
    made = kind(**options)
    if kind in (ibmap.FisherZTest, ibmap.GaussianTest):
        return learners.gsmn(ibmap.load(NUMBERS, continuous="all"), made)
    if kind is ibmap.GaussianScore:
        return learners.evidence_map(ibmap.load(NUMBERS, continuous="all"), score=made)
    if hasattr(made, "uses_test"):
        return learners.ibmap_hc(DATA, score=made)
    return learners.gsmn(DATA, made)


ESTIMATORS = [ibmap.EvidenceMAP, ibmap.IBMAP, ibmap.GSMN, ibmap.HHCMN, ibmap.MutualInformation, ibmap.DAGHC]
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{kind.__name__: (partial(fit, kind), base(kind)) for kind in ESTIMATORS},
    "Bootstrap": (partial(fit, ibmap.Bootstrap), base(ibmap.Bootstrap, n_replicates=2)),
    "NetworkImputer": (
        lambda source=COLUMNS, **options: ibmap.NetworkImputer(**options).fit(source),
        {**ibmap.NetworkImputer().get_params(deep=False), "source": COLUMNS},
    ),
    "load": (
        ibmap.load,
        {
            "source": COLUMNS, "missing": "error", "discretize": None, "bins": None, "drop": None,
            "only": None, "ordinal": None, "nominal": None, "continuous": None, "numbers": None,
            "missing_values": None,
        },
    ),
    "load numbers": (
        ibmap.load,
        {
            "source": NUMBERS, "missing": "error", "drop": None, "only": None, "ordinal": None,
            "nominal": None, "continuous": "all", "numbers": "ranks", "missing_values": None,
        },
    ),
    "Table": (
        ibmap.Table,
        {"codes": DATA.codes, "names": DATA.names, "levels": DATA.levels, "bin_edges": {}, "ordinal": ()},
    ),
    "compare": (
        ibmap.compare,
        {
            "first": COLUMNS, "second": COLUMNS, "learner": None, "labels": None, "n_permutations": 2,
            "random_state": 0, "n_jobs": None,
        },
    ),
    "compare by": (ibmap.compare, {"first": COLUMNS, "by": "a", "n_permutations": 2}),
    "accuracy": (
        ibmap.accuracy,
        {"graph": GRAPH, "data": DATA, "test": None, "queries": 5, "engine": None, "random_state": 0},
    ),
    "log_score": (ibmap.log_score, {"graph": GRAPH, "data": DATA, "engine": None}),
    "hamming": (ibmap.hamming, {"learned": GRAPH, "truth": GRAPH}),
    "f_measure": (ibmap.f_measure, {"learned": GRAPH, "truth": GRAPH, "of": "edges"}),
    "explain": (
        explain,
        {"data": DATA, "learned": LEARNED, "x": "a", "y": "b", "engine": None, "test": None},
    ),
    "IBMAP.explain": (FITTED.explain, {"x": "a", "y": "b"}),
    "IBMAP.score": (FITTED.score, {"X": COLUMNS}),
    "Bootstrap.averaged": (
        ibmap.Bootstrap(n_replicates=2, random_state=0).fit(COLUMNS).averaged,
        {"threshold": 0.5},
    ),
    "NetworkImputer.transform": (ibmap.NetworkImputer().fit(COLUMNS).transform, {"X": COLUMNS}),
    "evidence_map": (learners.evidence_map, {"data": DATA, "score": None, "search": None, "engine": None}),
    "gsmn": (learners.gsmn, {"data": DATA, "test": None, "symmetry": "or", "n_jobs": None, "callback": None}),
    "find_learner": (learners.find_learner, {"name": "gsmn"}),
    "as_engine": (as_engine, {"source": DATA, "engine": None}),
    "as_test": (as_test, {"choice": "bayesian"}),
    "ThreadEngine": (ibmap.ThreadEngine, {"data": DATA, "n_jobs": 2}),
    "MemoryEngine": (ibmap.MemoryEngine, {"data": DATA}),
    "Checkpoint": (
        lambda **how: learners.ibmap_hc(DATA, checkpoint=ibmap.Checkpoint(**how)),
        {"path": "saved.json", "every": 10.0},
    ),
    "Graph": (ibmap.Graph, {"names": ["a", "b"], "edges": [("a", "b")]}),
    "Graph.from_pairs": (ibmap.Graph.from_pairs, {"pairs": [[0, 1]], "names": ["a", "b"]}),
    "Graph.from_adjacency": (
        ibmap.Graph.from_adjacency,
        {"adjacency": [[0, 1], [1, 0]], "names": ["a", "b"]},
    ),
    "Graph.from_json": (ibmap.Graph.from_json, {"source": GRAPH.to_json()}),
    "Graph.from_networkx": (ibmap.Graph.from_networkx, {"graph": GRAPH.to_networkx()}),
    "Graph.complete": (ibmap.Graph.complete, {"names": ["a", "b"]}),
    "Graph.blanket": (GRAPH.blanket, {"x": "a"}),
    "Graph.degree": (GRAPH.degree, {"x": "a"}),
    "Graph.flip": (GRAPH.flip, {"x": "a", "y": "b"}),
    "Graph.has_edge": (GRAPH.has_edge, {"x": "a", "y": "b"}),
    "Graph.neighbours": (GRAPH.neighbours, {"i": 0}),
    "Graph.permute": (GRAPH.permute, {"names": ["c", "b", "a"]}),
    "Graph.reachable": (GRAPH.reachable, {"sources": [0], "blocked": [1]}),
    "Graph.separated": (GRAPH.separated, {"x": "a", "y": "b", "given": ["c"]}),
    "Graph.to_frame": (GRAPH.to_frame, {"backend": "polars"}),
    "MarkovNetwork": (
        MarkovNetwork,
        {
            "graph": GRAPH, "levels": MODEL.levels, "fields": MODEL.fields, "factors": MODEL.factors,
            "bin_edges": {}, "missing_values": {},
        },
    ),
    "MarkovNetwork.fit": (
        MarkovNetwork.fit,
        {
            "graph": GRAPH, "data": DATA, "method": "pseudo-likelihood", "effect_variance": 4.0,
            "pseudo_rows": 1.0, "max_iter": 100,
        },
    ),
    "MarkovNetwork.fit exactly": (
        MarkovNetwork.fit,
        {"graph": GRAPH, "data": DATA, "method": "maximum-likelihood", "pseudo_rows": 1.0, "max_iter": 100},
    ),
    "MarkovNetwork.query": (MODEL.query, {"x": "a", "given": {"b": 1}, "random_state": 0}),
    "MarkovNetwork.sample": (MODEL.sample, {"n_rows": 3, "sweeps": 5, "random_state": 0}),
    "MarkovNetwork.impute": (MODEL.impute, {"data": DATA, "unseen": "missing", "random_state": 0}),
    "MarkovNetwork.log_likelihood": (MODEL.log_likelihood, {"data": DATA, "unseen": "error"}),
    "MarkovNetwork.log_pseudo_likelihood": (MODEL.log_pseudo_likelihood, {"data": DATA, "unseen": "error"}),
    "MarkovNetwork.predict": (MODEL.predict, {"x": "a", "data": DATA, "unseen": "missing"}),
    "MarkovNetwork.fit with interactions": (
        MarkovNetwork.fit,
        {"graph": ibmap.Graph.complete("abc"), "data": DATA, "interactions": [("a", "b", "c")]},
    ),
    "MixedNetwork.fit": (
        MarkovNetwork.fit,
        {"graph": GRAPH, "data": MIXED, "method": "pseudo-likelihood", "effect_variance": 4.0},
    ),
    "MixedNetwork.query": (MIXED_MODEL.query, {"x": "a", "given": {"b": 0.5}, "random_state": 0}),
    "MixedNetwork.sample": (MIXED_MODEL.sample, {"n_rows": 3, "random_state": 0}),
    "MixedNetwork.impute": (MIXED_MODEL.impute, {"data": MIXED, "unseen": "missing", "random_state": 0}),
    "MixedNetwork.log_likelihood": (MIXED_MODEL.log_likelihood, {"data": MIXED, "unseen": "error"}),
    "find_interactions": (
        ibmap.find_interactions,
        {"data": DATA, "least_posterior": 0.5, "most": 1000, "n_jobs": None, "engine": None},
    ),
    "Learned.with_effects": (LEARNED.with_effects, {"data": DATA}),
    "Learned.stand_ins": (LEARNED.stand_ins, {"x": "a", "y": "b"}),
    "read_result": (ibmap.read_result, {"path": "result"}),
    "write_report": (
        write_report,
        {
            "source": FITTED, "path": "page.html", "support": None, "overwrite": True, "safe_csv": False,
            "title": None, "groups": None,
        },
    ),
    "plot": (ibmap.plot, {"source": GRAPH, "layout": "circular", "seed": 0, "groups": None, "about": None}),
    "plot_comparison": (
        ibmap.plot_comparison,
        {"learned": GRAPH, "truth": GRAPH, "labels": ("a", "b", "c"), "layout": "circular", "seed": 0},
    ),
    "plot_scores": (ibmap.plot_scores, {"history": LEARNED}),
    "simulate_ising": (
        ibmap.simulate_ising,
        {
            "n_variables": 4, "n_rows": 5, "boundary": "open", "couplings": "ferromagnetic", "strength": 0.2,
            "field": 0.0, "sweeps": 2, "thin": None, "random_state": 0,
        },
    ),
    "simulate_random": (
        ibmap.simulate_random,
        {
            "n_variables": 4, "tau": 1, "n_rows": 5, "levels": 2, "potentials": "random", "log_odds": 1.0,
            "sweeps": 2, "thin": None, "random_state": 0,
        },
    ),
    "exchange.dumps": (exchange.dumps, {"source": GRAPH, "format": "json"}),
    "exchange.read": (exchange.read, {"path": "net.json", "format": None}),
    "exchange.write": (
        exchange.write,
        {"source": GRAPH, "path": "net.json", "format": None, "overwrite": True},
    ),
    "exchange.loads": (exchange.loads, {"text": '{"variables": [], "edges": []}', "format": "json"}),
    "make_problem": (lambda name, n: eda.make_problem(name, n), {"name": "onemax", "n": 6}),
    "maximize": (
        eda.maximize,
        {
            "function": lambda x: x.sum(axis=-1), "n": 4, "population_size": 10,
            "stop": eda.Stop(generations=2), "vectorized": True, "callback": None, "checkpoint": None,
            "random_state": 0, "levels": 2, "learner": "mi", "sampling": "boltzmann-joint",
            "selection": 0.5, "elitism": 0.5, "cooling": 0.5, "steps": 2,
        },
    ),
    "Stop": (
        lambda **how: eda.maximize(lambda x: x.sum(axis=-1), 4, 10, stop=eda.Stop(**how), learner="mi"),
        {"generations": 2, "evaluations": None, "target": None, "stall": None, "seconds": 0.2},
    ),
    "critical_population_size": (
        eda.critical_population_size,
        {
            "function": lambda x: x.sum(axis=-1), "n": 4, "target": 4.0, "sizes": (20, 40), "repetitions": 2,
            "generations": 2, "n_jobs": 1, "random_state": 0, "learner": "mi",
        },
    ),
    "find_preset": (presets.find_preset, {"name": "paper"}),
    "datasets.load": (datasets.load, {"name": "nursery"}),
    **{
        kind.__name__: (partial(drawn, kind), options)
        for kind, options in {
            ibmap.BayesianTest: {
                "prior": 0.5, "prior_counts": "ones", "combine": "slices", "slices": "observed",
                "ties": "independent",
            },
            ibmap.ChiSquareTest: {"alpha": 0.05, "dof": "adjusted"},
            ibmap.GSquareTest: {"alpha": 0.05, "dof": "adjusted"},
            ibmap.MutualInformationTest: {"threshold": 0.01},
            ibmap.OrdinalTest: {"alpha": 0.05},
            ibmap.OrdinalEvidenceTest: {"prior": 0.5},
            ibmap.OracleTest: {"graph": GRAPH, "doubt": 1e-6},
            ibmap.FisherZTest: {"alpha": 0.05},
            ibmap.GaussianTest: {"prior": 0.5},
            ibmap.FunctionTest: {"function": lambda x, y, given: -1.0, "name": ""},
            ibmap.AdaptiveScore: {
                "saturated_share": 0.01, "effect_variance": 1.0, "prior_count": 0.5,
                "expected_neighbours": 4.0, "prior": None,
            },
            ibmap.PairwiseScore: {"effect_variance": 1.0, "expected_neighbours": 4.0, "prior": None},
            ibmap.SaturatedScore: {"prior_count": 0.5, "expected_neighbours": 4.0, "prior": None},
            ibmap.GaussianScore: {"expected_neighbours": 4.0, "prior": None},
        }.items()
    },
}  # fmt: skip
#: arguments that take functions: what these raise themselves, when they are called, is theirs
FUNCTIONS = {"function", "callback", "test", "learner", "layout", "engine", "criterion", "choice", "cooling"}
CASES = [(name, argument) for name, (_, arguments) in CALLS.items() for argument in arguments]


def outcome(call: Callable[..., Any], arguments: dict[str, Any]) -> Exception | None:
    """Return what a call raises, other than one sentence of ibmap's own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(**arguments)
    except (IbmapError, NotFittedError) as error:
        return None if is_a_sentence(str(error)) else error
    except Exception as error:
        return error
    return None


def is_a_sentence(words: str) -> bool:
    return bool(words) and "\n" not in words and len(words) < 600


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    yield
    if "matplotlib.pyplot" in __import__("sys").modules:
        __import__("matplotlib.pyplot").pyplot.close("all")


@pytest.mark.parametrize(("name", "argument"), CASES, ids=[f"{name}-{argument}" for name, argument in CASES])
def test_odd_arguments(name: str, argument: str) -> None:
    call, arguments = CALLS[name]
    wrong = {}
    for kind, value in ODD.items():
        if kind in ("class", "function") and argument in FUNCTIONS:
            continue
        value = iter(()) if kind == "iterator" else value
        if error := outcome(call, {**arguments, argument: value}):
            wrong[kind] = f"{type(error).__name__}: {error}"[:200]
    assert not wrong


@pytest.mark.parametrize(
    "name", [name for name in CALLS if name not in ("read_result", "exchange.read", "datasets.load")]
)
def test_the_calls_work_as_they_are(name: str) -> None:
    call, arguments = CALLS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(**arguments)


def test_no_public_function_is_forgotten() -> None:
    """What can be called by name is called here, in some way."""
    called = {name.partition(" ")[0].partition(".")[0] for name in CALLS}
    functions = {name for name in ibmap.__all__ if inspect.isfunction(getattr(ibmap, name))}
    assert functions <= called
