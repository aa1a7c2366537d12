"""Files whole or not at all, whoever else writes there, and whenever a process is killed."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ibmap import _files, _folders
from ibmap._files import PREFIX, SUFFIX, claimed, sweep, temporary, write_whole
from ibmap._folders import LIST, settle, write_together
from ibmap.errors import DataError, RequestError
from ibmap.learners import ibmap_hc

OLD = {"a": "old a", "b": "old b", "c": "old c"}
NEW = {"a": "new a", "b": "new b"}  # c is stale


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_threads_that_write_to_one_folder_keep_to_their_files(tmp_path):
    texts = {f"{k}.json": str(k) * (1 + 997 * k % 5000) for k in range(800)}
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: write_whole(tmp_path / name, texts[name]), texts))
    assert content(tmp_path) == dict(sorted(texts.items()))


def test_searches_in_threads_save_themselves_in_one_folder(tmp_path):
    def learn(seed):
        table = np.random.default_rng(seed).integers(2, size=(60, 8))
        table[:, 1] = table[:, 0]
        return ibmap_hc(table_of(table), checkpoint=tmp_path / f"{seed}.json").graph

    with ThreadPoolExecutor(4) as pool:
        graphs = list(pool.map(learn, range(24)))
    assert all(graph.has_edge("x0", "x1") for graph in graphs)
    assert names(tmp_path) == sorted(f"{seed}.json" for seed in range(24))


def table_of(matrix):
    from ibmap.data import load

    return load(matrix)


def test_only_one_of_many_makes_a_file_that_may_not_be_replaced(tmp_path):
    path = tmp_path / "net.json"

    def write(k):
        try:
            write_whole(path, str(k), overwrite=False)
        except RequestError as error:
            assert "exists: pass overwrite=True" in str(error)  # noqa: PT017
            return None
        return k

    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            done = [k for k in pool.map(write, range(8)) if k is not None]
        assert [path.read_text()] == [str(k) for k in done]
        assert names(tmp_path) == ["net.json"]
        path.unlink()


def test_a_link_at_a_temporary_name_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "mine").write_text("my thesis")
    draws = iter([b"12345678", b"87654321"])
    monkeypatch.setattr(os, "urandom", lambda n: next(draws))
    for name in (b"12345678".hex(), str(os.getpid())):
        (tmp_path / f".ibmap-{name}.tmp").symlink_to(tmp_path / "mine")
    write_whole(tmp_path / "net.json", "a net")
    assert list(draws) == []
    assert (tmp_path / "mine").read_text() == "my thesis"
    assert not (tmp_path / "net.json").is_symlink()


def test_everything_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    seen = []
    for module, name in ((os, "fsync"), (os, "replace")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, n=name, real=real: seen.append(n) or real(*a))
    write_whole(tmp_path / "net.json", "a net")
    assert seen == ["fsync", "replace", "fsync"]  # the file, its name, the folder


def test_what_killed_runs_left_is_swept_away_and_nothing_else(tmp_path):
    (tmp_path / ".ibmap-0123.tmp").write_text("left by a killed run")
    (tmp_path / ".ibmap-link.tmp").symlink_to(tmp_path / "somewhere")
    (tmp_path / "mine.tmp").write_text("mine")
    with temporary(tmp_path) as (_, name):
        sweep(tmp_path)
        assert names(tmp_path) == sorted([name.name, ".ibmap-link.tmp", "mine.tmp"])
    assert names(tmp_path) == [".ibmap-link.tmp", "mine.tmp"]


def test_a_name_is_claimed_by_one_at_a_time(tmp_path):
    name = tmp_path / ".ibmap-graph.json.tmp"
    with claimed(name) as mine:
        assert mine
        with claimed(name) as other:
            assert not other
        assert name.exists()
    assert names(tmp_path) == []
    name.touch()  # left by a killed run
    with claimed(name) as mine:
        assert mine
    assert names(tmp_path) == []


def test_pipes_and_devices_are_written_to_and_stay(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        write_whole(pipe, "a net")
        assert read.result() == "a net"
    assert pipe.is_fifo()


KILLED = """
import os, sys
from pathlib import Path
from ibmap import _folders
left = int(sys.argv[2])
def counting(real):
    def call(*arguments, **more):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return real(*arguments, **more)
    return call
for name in ("open", "write", "fsync", "replace", "unlink"):
    setattr(os, name, counting(getattr(os, name)))
_folders.write_together(Path(sys.argv[1]), {"a": "new a", "b": "new b"}, stale=("a", "b", "c"))
"""


def killed_after(folder: Path, calls: int) -> bool:
    """Write the new files in a process that ends without a word before so many calls of the system."""
    command = [sys.executable, "-c", KILLED, str(folder), str(calls)]
    return subprocess.run(command, check=False).returncode == 9


def test_a_folder_is_old_or_new_whenever_its_writer_is_killed(tmp_path):
    seen = set()
    for calls in range(40):
        folder = tmp_path / str(calls)
        folder.mkdir()
        write_together(folder, OLD)
        was_killed = killed_after(folder, calls)
        settle(folder)
        found = {name: text for name, text in content(folder).items() if not name.startswith(".ibmap-")}
        assert found in (OLD, NEW)
        seen.add((was_killed, found == NEW))
        write_together(folder, {"d": "later"})
        assert content(folder) == {**found, "d": "later"}  # and nothing is left behind
        if not was_killed:
            break
    assert seen == {(True, False), (True, True), (False, True)}


@pytest.mark.parametrize("text", ["", "[]", '{"rename": {"../x": "a"}, "remove": []}', '{"rename": 3}'])
def test_a_foreign_list_is_refused(tmp_path, text):
    (tmp_path / LIST).write_text(text)
    with pytest.raises(RequestError, match="was not written by ibmap"):
        settle(tmp_path)
    assert names(tmp_path) == [LIST]


def test_a_folder_that_cannot_be_finished_is_named(tmp_path, monkeypatch):
    (tmp_path / LIST).write_text('{"rename": {}, "remove": []}')

    def denied(path, **_):  # as in a folder that is read-only, in which root could write
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", denied)
    with pytest.raises(DataError, match=r"of a run that was killed.*Permission denied"):
        settle(tmp_path)


def test_together_or_not_at_all(tmp_path, monkeypatch):
    write_together(tmp_path, OLD)
    with pytest.raises(RequestError, match="exists"):
        write_together(tmp_path, {"d": "new", "a": "new"}, overwrite=False)
    real = _folders.write_out

    def full(file, raw):
        real(file, raw[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_folders, "write_out", full)
    with pytest.raises(RequestError, match=f"{tmp_path}.*No space"):
        write_together(tmp_path, NEW)
    assert content(tmp_path) == OLD


def test_a_process_that_must_end_at_once_leaves_nothing(tmp_path):
    with temporary(tmp_path), _folders.made(tmp_path / "x" / "y"):
        _files.abandon()
        assert names(tmp_path) == []


def test_a_claim_is_not_lost_to_somebody_who_sweeps(tmp_path):
    """A sweep locks what it looks at for a moment, between the making of a claim and its lock, too."""
    done = threading.Event()

    def sweeping():
        while not done.is_set():
            sweep(tmp_path)

    sweeper = threading.Thread(target=sweeping)
    sweeper.start()
    try:
        for _ in range(500):
            with claimed(tmp_path / f"{PREFIX}graph.json{SUFFIX}") as mine:
                assert mine
    finally:
        done.set()
        sweeper.join()
