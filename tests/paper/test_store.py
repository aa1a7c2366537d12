"""Rows on disk: nothing is lost, nothing is mixed, damage is named."""

import json
import os

import pytest

from ibmap.errors import DataError, RequestError
from ibmap.paper.results import Row
from ibmap.paper.store import Store, read
from tests.toys import STUDY

SETTINGS = dict(STUDY.settings)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.jsonl"


def row(n: int, repetition: int = 0) -> Row:
    return Row({"n": n, "learner": "fast"}, repetition, {"hamming": n})


@pytest.fixture
def three(path):
    with Store(path, STUDY, SETTINGS) as store:
        for n in (2, 3, 5):
            store.append(row(n))
    return path


def test_rows_come_back_as_they_went(three):
    with Store(three, STUDY, SETTINGS) as store:
        assert store.rows == [row(2), row(3), row(5)]
    assert read(three).header["settings"] == SETTINGS


def test_every_torn_end_is_dropped_and_the_row_can_be_written_again(three):
    whole = three.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        three.write_bytes(whole[:cut])
        assert read(three).rows == [row(2), row(3)]
        with Store(three, STUDY, SETTINGS) as store:
            store.append(row(5))
        assert three.read_bytes() == whole


def test_a_torn_first_line_is_a_file_without_rows(three):
    whole = three.read_bytes()
    for cut in range(whole.index(b"\n")):
        three.write_bytes(whole[:cut])
        assert read(three) is None
    with Store(three, STUDY, SETTINGS) as store:
        assert store.rows == []


def test_a_file_of_something_else_is_left_alone(path):
    for text in ("my diary", "my diary\n", '{"a": 1}\n', '{"format": "other"}\n', "[1]\n"):
        path.write_text(text)
        with pytest.raises(DataError, match=r"toy\.jsonl"):
            Store(path, STUDY, SETTINGS)
        assert path.read_text() == text


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (b'{"cell":{"n":3,"lear', "it is no JSON"),
        (b"\x00\xff\x00", "it is no JSON"),
        (b"", "it is no JSON"),
        (b"[1,2]", "it is no row"),
        (b'{"cell":{},"repetition":0}', "it is no row"),
        (b'{"cell":{"n":3},"repetition":0,"measures":{}}', "its factors are not n, learner"),
        (b'{"cell":{"n":2,"learner":"fast"},"repetition":0,"measures":{}}', "it repeats line 2"),
    ],
)
def test_damage_is_named_and_nothing_is_changed(three, damage, words):
    lines = three.read_bytes().split(b"\n")
    lines[2] = damage
    three.write_bytes(b"\n".join(lines))
    before = three.read_bytes()
    for attempt in (lambda: read(three), lambda: Store(three, STUDY, SETTINGS)):
        with pytest.raises(DataError, match=f"line 3: {words}") as refused:
            attempt()
        assert str(three) in str(refused.value)
        assert "\n" not in str(refused.value)
    assert three.read_bytes() == before


def test_other_settings_are_refused_and_named(three):
    before = three.read_bytes()
    with pytest.raises(RequestError, match=r"seed is 0 there and 7 here.*another --out"):
        Store(three, STUDY, {**SETTINGS, "seed": 7})
    with pytest.raises(RequestError, match=r"pause is 0\.0 there and 'absent' here"):
        Store(three, STUDY, {"seed": 0, "mishap": "none"})
    assert three.read_bytes() == before


def test_rows_of_another_study_are_refused(three):
    header, *rest = three.read_text().split("\n")
    entry = json.loads(header)
    for part, value in (("study", "other"), ("factors", ["n"])):
        three.write_text("\n".join([json.dumps({**entry, part: value})]) + "\n")
        with pytest.raises(RequestError, match="rows of another"):
            Store(three, STUDY, SETTINGS)
    assert rest


def test_two_writers_at_a_time_are_refused(three):
    pytest.importorskip("fcntl")
    with Store(three, STUDY, SETTINGS), pytest.raises(RequestError, match="another run is writing"):
        Store(three, STUDY, SETTINGS)
    with Store(three, STUDY, SETTINGS) as store:  # and let in again afterwards
        assert len(store.rows) == 3


def test_a_full_disk_is_one_line_and_the_rows_before_it_stay(three, monkeypatch):
    before = three.read_bytes()
    write = os.write

    def full(file, data):
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return write(file, data[: len(data) // 2])  # the first part still fits

    with Store(three, STUDY, SETTINGS) as store:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(RequestError, match=r"No space left on device.*3 rows"):
            store.append(row(7))
        assert three.read_bytes() == before
        monkeypatch.undo()
        store.append(row(7))
    assert [each.cell["n"] for each in read(three).rows] == [2, 3, 5, 7]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="it is, or lies in, a file"):
        Store(tmp_path / "file" / "toy.jsonl", STUDY, SETTINGS)
    (tmp_path / "toy.jsonl").mkdir()
    with pytest.raises(RequestError, match="cannot write to"):
        Store(tmp_path / "toy.jsonl", STUDY, SETTINGS)


def test_rows_of_another_version_are_kept_apart_by_a_line(three, monkeypatch):
    monkeypatch.setattr("ibmap.paper.store.made_with", lambda: {"ibmap": "99"})
    for _ in range(2):  # the second time the version is known
        with Store(three, STUDY, SETTINGS) as store:
            assert len(store.rows) == 3
    content = read(three)
    assert [origin["ibmap"] for origin in content.origins][1:] == ["99"]
    assert content.rows == [row(2), row(3), row(5)]


def test_what_is_no_number_is_refused(three):
    with Store(three, STUDY, SETTINGS) as store, pytest.raises(ValueError, match="JSON compliant"):
        store.append(Row({"n": 9, "learner": "fast"}, 0, {"hamming": float("nan")}))
    assert len(read(three).rows) == 3


def test_settings_that_cannot_be_run_leave_no_file(path):
    with pytest.raises(RequestError, match="sweeps"), Store(path, STUDY, SETTINGS):
        raise RequestError("sweeps must be at least 1")
    assert not path.exists()


def test_a_request_that_fails_later_keeps_the_rows(three):
    with pytest.raises(RequestError), Store(three, STUDY, SETTINGS):
        raise RequestError("too late")
    assert len(read(three).rows) == 3
