"""Every option, with every engine: the result is that of memory, and says what was done, or it is refused."""

import json
import math
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from ibmap.cli.groups import expanded
from ibmap.cli.learn import learn
from ibmap.engines import ENGINES
from ibmap.engines.dask import client as clusters
from tests.cli.test_help import VERBS
from tests.engines.partitioned import GpuInNumpy

distributed = pytest.importorskip("distributed")


class Example(NamedTuple):
    """An option as it is typed, beside what it needs, and the engines that refuse it."""

    given: str
    beside: str = "--drop dose"
    refused_by: tuple[str, ...] = ()


DASK, GPU = ("dask",), ("gpu",)
CLIMB, DECIDE, ARCS = (f"--drop dose --learner {name}" for name in ("ibmap-hc", "gsmn", "dag-hc"))
#: by option; one that is not here is forgotten
EXAMPLES: dict[str, list[Example]] = {
    # how the table is read
    "continuous": [
        Example("--continuous all", "--drop mood", GPU),
        Example("--continuous all --numbers ranks --ordinal mood=low<mid<high", "", GPU),
        Example("--continuous dose", "", GPU),
    ],
    "numbers": [Example("--numbers values", "--continuous dose", GPU)],
    "missing": [
        Example("--missing drop --missing-values=-9"),
        Example("--missing category --missing-values=-9"),
        Example("--missing testwise --missing-values=-9", refused_by=DASK),
    ],
    "discretize": [Example("--discretize quantile", "", DASK)],
    "bins": [Example("--bins 2", "--discretize quantile", DASK)],
    "drop": [Example("--drop dose,mood")],
    "only": [Example("--only a,c,mood")],
    "ordinal": [
        Example("--ordinal c --ordinal mood=low<mid<high"),
        Example("--ordinal c=2<0<1"),
        Example("--ordinal c --missing-values=c=1 --missing category"),
    ],
    "nominal": [Example("--nominal dose", ""), Example("--nominal all", "")],
    "missing_values": [
        Example("--missing-values=-9", "--drop dose --missing category"),
        Example(
            "--missing-values=a=-9 --missing-values=mood=low", "--drop dose --nominal c,times --missing drop"
        ),
    ],
    "weights": [Example("--weights times", refused_by=DASK)],
    "weights_are": [Example("--weights-are sampling", "--drop dose --weights times", DASK)],
    "cluster": [Example("--cluster times", refused_by=DASK)],
    "imputation_seed": [
        Example("--imputation-seed 1", "--missing-values=-9,low --missing impute", GPU),
    ],
    # which test is asked
    "test": [
        Example("--test chi-square", DECIDE),
        Example("--test gaussian", "--drop mood", GPU),
    ],
    "prior": [Example("--prior 0.9", CLIMB)],
    "prior_counts": [Example("--prior-counts 0.5", CLIMB)],
    "combine": [Example("--combine global", CLIMB)],
    "slices": [Example("--slices all --combine global", CLIMB)],
    "ties": [Example("--ties dependent", CLIMB)],
    "alpha": [Example("--alpha 0.2", f"{DECIDE} --test g-square")],
    "dof": [Example("--dof full", f"{DECIDE} --test chi-square")],
    "threshold": [Example("--min-information 0.2", f"{DECIDE} --test mutual-information")],
    # who learns, and how
    "learner": [Example(f"--learner {name}") for name in ("gsmn", "hhc-mn", "mi", "dag-hc")],
    "score": [
        Example("--score saturated"),
        Example("--score pairwise --ordinal c"),
        Example("--score bjp", CLIMB),
    ],
    "search": [Example("--search rounds")],
    "view": [Example("--view directed")],
    "posterior": [Example("--posterior averaged")],
    "expected_neighbours": [Example("--expected-neighbours 0.1")],
    "symmetry": [Example("--symmetry and", DECIDE)],
    "max_condition": [Example("--max-condition 1", "--drop dose --learner hhc-mn")],
    "max_neighbours": [Example("--max-neighbours 1", "--drop dose --learner mi")],
    "factor": [Example("--factor 0.2", "--drop dose --learner mi")],
    "patience": [Example("--patience 3", CLIMB)],
    "drop_untested": [Example("--drop-untested", CLIMB)],
    "tabu": [Example("--tabu 2", ARCS)],
    "shakes": [Example("--shakes 1", ARCS)],
    "max_parents": [Example("--max-parents 1", ARCS)],
    "equivalent_sample_size": [Example("--equivalent-sample-size 5", f"{ARCS} --score bdeu")],
    "start": [Example("--start start.json", CLIMB)],
    "require": [Example("--require a,times")],
    "forbid": [Example("--forbid a,b")],
    "knowledge": [Example("--knowledge known.toml")],
    "preset": [Example("--preset paper", "--drop dose --learner ibmap-hc", DASK)],
    "jobs": [Example("--jobs 2")],
    "checkpoint": [Example("--checkpoint search.json")],
}
#: they are not about the result, or the matter itself
OTHERS = {"file", "engine", "out", "force", "as_json", "safe_csv", "top"}
SAME_RESULT = {
    "--jobs 2",
    "--checkpoint search.json",
}  #: what changes nothing
EVERY = [example for examples in EXAMPLES.values() for example in examples]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Workers in threads of this process, for all tests: to start others takes seconds."""
    about = {"n_workers": 2, "processes": False, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**about) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in two files that do not have the same levels, and what options need besides."""
    folder = tmp_path_factory.mktemp("options")
    (folder / "table").mkdir()
    rng = np.random.default_rng(3)
    for k in (3, 2):
        a, c = rng.integers(0, 2, 150), rng.integers(0, k, 150)
        b, gaps = np.where(rng.random(150) < 0.9, a, 1 - a), rng.random(150) < 0.1
        columns = {
            "a": np.where(gaps, -9, a),
            "b": np.where(gaps, -9, b),
            "c": c,
            "mood": np.array(["low", "high", "mid"])[(c + (rng.random(150) < 0.2)) % k],
            "dose": rng.choice([1.0, 0.5 * k, 2.0], 150),
            "times": rng.integers(1, 4, 150),
        }
        pl.DataFrame(columns).write_parquet(folder / "table" / f"{k}.parquet")
    (folder / "known.toml").write_text('required = [["a", "c"]]\nforbidden = [["a", "b"]]\n')
    names = ["a", "b", "c", "mood", "times"]
    (folder / "start.json").write_text(json.dumps({"variables": names, "edges": [["a", "times"]]}))
    return folder


@pytest.fixture
def run(ibmap: Any, client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Learn with options as they are typed; return the result, or the line that refuses them."""
    monkeypatch.setattr(clusters, "local_cluster", lambda: (client, []))
    monkeypatch.setitem(ENGINES, "gpu", GpuInNumpy)
    monkeypatch.chdir(folder)

    def learned(*options: str) -> Any:
        out = tmp_path / f"out {len(list(tmp_path.iterdir()))}"
        ran = ibmap("learn", "table", *" ".join(options).split(), "--out", out)
        if ran.code:
            assert ran.refuses(), ran
            assert not out.exists()
            return ran.err
        found = json.loads((out / "result.json").read_text())
        assert found["data"].pop("digest")
        return {name: value for name, value in found.items() if name not in ("seconds", "made_at")}

    return learned


def same(one: Any, other: Any) -> bool:
    """Whether two results are the same, numbers to nine digits."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def test_no_option_is_forgotten() -> None:
    forgotten = {*signature(expanded(learn)).parameters} - OTHERS - {*EXAMPLES}
    assert not forgotten, f"add an example of {forgotten} to EXAMPLES, and see what every engine makes of it"


@pytest.mark.parametrize("example", EVERY, ids=[example.given for example in EVERY])
def test_every_engine_does_what_it_is_told_or_refuses(run: Any, example: Example) -> None:
    expected = run(example.beside, example.given)
    assert isinstance(expected, dict), expected
    if example.given not in SAME_RESULT:
        assert run(example.beside) != expected, "the example does not show what the option does"
    for engine in (*(name for name in ENGINES if name != "memory"), "dask"):
        found = run(example.beside, example.given, "--engine", engine)
        if engine in example.refused_by:
            assert isinstance(found, str), f"{engine} should refuse {example.given}"
            continue
        assert isinstance(found, dict), f"{engine}: {found}"
        assert [key for key in expected if not same(expected[key], found[key])] == [], engine


READ = ("--missing", "drop", "--missing-values=-9", "--ordinal", "c", "--drop", "dose")
#: by verb with --engine: what else it needs, and whether a cluster refuses; one that is not here is forgotten
CALLS: dict[str, tuple[str, bool]] = {
    "learn": ("table", False),
    "test": ("table a b", False),
    "interactions": ("table --least-posterior 0.001", False),
    "bootstrap": ("table --replicates 3", True),
    "evaluate": ("start.json --data table", False),
    "fit": ("start.json table --out {out}", False),
    "explain": ("{result} a b", True),
}


@pytest.mark.parametrize("verb", [name for name, verb in VERBS.items() if "engine" in str(verb.params)])
def test_every_verb_with_an_engine_reads_as_memory_does(
    run: Any, ibmap: Any, tmp_path: Path, verb: str
) -> None:
    assert verb in CALLS, f"add a call of {verb} to CALLS"
    call, refuses = CALLS[verb]
    result = tmp_path / "result"
    assert ibmap("learn", "table", *READ, "--out", result).code == 0

    def said(engine: str) -> Any:
        words = call.format(out=tmp_path / f"{engine}.json", result=result).split()
        options = () if verb == "explain" else READ
        return ibmap(verb, *words, *options, "--json", "--engine", engine)

    here, there = said("memory"), said("dask")
    assert here.code == 0, here.err
    if refuses:
        assert there.refuses("cluster") or there.refuses("DaskEngine")
        return
    assert there.code == 0, there.err
    one, other = ({**json.loads(ran.out), "seconds": 0, "out": ""} for ran in (here, there))
    assert same(one, other)
