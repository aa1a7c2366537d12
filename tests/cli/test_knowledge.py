import json

import numpy as np
import pytest

from ibmap import BayesianTest
from ibmap.data import load
from ibmap.learners import evidence_map, ibmap_hc

PAPER = ["--learner", "ibmap-hc"]
TOML = """
required = [["tea", "cough"]]
forbidden = [["cough", "smoke"]]
prior = [["smoke", "tea", 0.9]]
"""
CSV = "x,y,known\ntea,cough,required\ncough,smoke, forbidden\nsmoke,tea,0.9\n"


@pytest.mark.parametrize(("name", "text"), [("known.toml", TOML), ("known.csv", CSV)])
def test_a_file_says_what_python_says(ibmap, survey, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    result = json.loads(ibmap("learn", survey, *PAPER, "--knowledge", tmp_path / name, "--json").out)
    prior = np.full((3, 3), 0.5)
    prior[0, 2] = prior[2, 0] = 0.9
    learned = ibmap_hc(
        load(survey),
        BayesianTest(prior=prior),
        required=[("tea", "cough")],
        forbidden=[("smoke", "cough")],
    )
    assert result["edges"] == [["cough", "tea"]]
    assert result["score"] == learned.score
    assert result["test"] == "bayesian(prior=per pair)"
    result = json.loads(ibmap("learn", survey, "--knowledge", tmp_path / name, "--json").out)
    prior[prior == 0.5] = np.nan
    known = {"required": [("tea", "cough")], "forbidden": [("smoke", "cough")]}
    assert result["score"] == evidence_map(load(survey), prior=prior, **known).score


def test_it_adds_to_the_other_options(ibmap, survey, tmp_path):
    file = tmp_path / "known.toml"
    file.write_text('required = [["tea", "cough"]]\nprior = [["smoke", "tea", 0.9]]')
    options = ["--require", "smoke,tea", "--prior", "0.25", "--json"]
    result = json.loads(ibmap("learn", survey, *PAPER, "--knowledge", file, *options).out)
    prior = np.full((3, 3), 0.25)
    prior[0, 2] = prior[2, 0] = 0.9
    required = [("tea", "cough"), ("smoke", "tea")]
    assert result["score"] == ibmap_hc(load(survey), BayesianTest(prior=prior), required=required).score


def test_bootstrap_takes_it_too(ibmap, survey, tmp_path):
    file = tmp_path / "known.csv"
    file.write_text("x,y,known\ntea,cough,required\n")
    ran = ibmap("bootstrap", survey, "--knowledge", file, "--replicates", 4, "--json")
    assert ["cough", "tea", 1.0, True] in json.loads(ran.out)["support"]


def test_names_with_commas_and_quotes(ibmap, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("\"a, 'b'\",c\n" + "0,0\n1,1\n0,1\n1,0\n" * 5)
    for name, text in (
        ("k.toml", "required = [[\"a, 'b'\", 'c']]"),
        ("k.csv", "x,y,known\nc,\"a, 'b'\",required\n"),
    ):
        (tmp_path / name).write_text(text)
        result = json.loads(ibmap("learn", table, "--knowledge", tmp_path / name, "--json").out)
        assert result["edges"] == [["a, 'b'", "c"]]


BAD = [
    ("k.toml", 'required = [["smoke", "tea"]]\nforbidden = [["tea", "smoke"]]', "are required and forbidden"),
    ("k.csv", "x,y,known\nsmoke,tea,0.9\ntea,smoke,0.8\n", "'tea' and 'smoke' are given the prior 0.9 and"),
    ("k.csv", "x,y,known\nsmoke,tea,0.9\ntea,smoke,required\n", "given the prior 0.9 and required"),
    ("k.toml", 'required = [["smoke", "smoke"]]', "two different variables, not 'smoke' twice"),
    ("k.toml", 'required = [["smoke", "coffee"]]', "there is no variable 'coffee'"),
    ("k.toml", 'prior = [["smoke", "tea", 1.5]]', "the prior of 'smoke' and 'tea' must lie between 0 and 1"),
    ("k.toml", 'prior = [["smoke", "tea", true]]', "prior must look like"),
    ("k.toml", 'needed = [["smoke", "tea"]]', "unknown key 'needed'; there are required"),
    ("k.toml", 'required = ["smoke", "tea"]', 'required must look like [["x", "y"], ...]'),
    ("k.toml", "required = [", "is not TOML"),
    ("k.csv", "a,b\n", "must have the columns x, y and known"),
    ("k.csv", "x,y,known\nsmoke,tea\n", "row 2: 2 cells instead of 3"),
    ("k.csv", "x,y,known\nsmoke,tea,perhaps\n", "'perhaps' is not required, forbidden or a probability"),
    ("k.csv", 'x,y,known\n"smoke,tea', "is not CSV"),
]


@pytest.mark.parametrize(("name", "text", "words"), BAD)
def test_bad_files_and_contradictions(refused, survey, tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    assert words in refused(survey, "--knowledge", tmp_path / name)


def test_contradictions_between_file_and_options(refused, survey, tmp_path):
    file = tmp_path / "k.csv"
    file.write_text("x,y,known\nsmoke,tea,required\n")
    assert "'smoke' and 'tea' is both required and forbidden" in refused(
        survey, "--knowledge", file, "--forbid", "tea,smoke"
    )
    assert "has no option --require" in refused(survey, "--knowledge", file, "--learner", "gsmn")
    assert "there is no file" in refused(survey, "--knowledge", tmp_path / "none.toml")
    prior = tmp_path / "p.csv"
    prior.write_text("x,y,prior\nsmoke,tea,0.9\n")
    file.write_text("x,y,known\nsmoke,tea,0.8\n")
    assert "put them into one file" in refused(survey, "--knowledge", file, "--prior", prior)
    file.write_bytes(b"\xff\xfe")
    assert "is not text in UTF-8" in refused(survey, "--knowledge", file)
