"""Text as people write it: blanks after commas, and many words for nothing."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ibmap.data import load
from ibmap.errors import DataError


@pytest.mark.parametrize("word", ["", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>"])
@pytest.mark.parametrize("others", [("red", "blue"), ("1", "2")], ids=["text", "numbers"])
def test_words_for_a_missing_value(tmp_path: Path, word: str, others: tuple[str, str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"colour,size\n{others[0]},1\n{word},2\n{others[1]},1\n")
    with pytest.raises(DataError, match="colour"):
        load(path)
    data = load(path, missing="testwise")
    assert data.cardinalities.tolist() == [2, 2]
    assert data.codes[0, 1] == -1


def test_one_missing_number_leaves_a_column_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "".join(f"{k / 7},{k % 2}\n" for k in range(40)) + "NA,1\n")
    with pytest.raises(DataError, match="x"):
        load(path, discretize="quantile", bins=3)
    data = load(path, missing="drop", discretize="quantile", bins=3)
    assert data.cardinalities.tolist() == [3, 2]


def test_blanks_around_names_and_values_do_not_count(tmp_path: Path) -> None:
    path, bare = tmp_path / "blanks.csv", tmp_path / "bare.csv"
    path.write_text("age, job, pay\n39, State-gov, 1.5\n40, ?, 2.5\n41, Private, 3.5\n")
    bare.write_text(path.read_text().replace(" ", ""))
    one, other = (load(p, missing="testwise", discretize="equal-width", bins=2) for p in (path, bare))
    assert one.names == other.names == ("age", "job", "pay")
    assert one.levels == other.levels
    assert one.codes.tolist() == other.codes.tolist()


def test_a_gzipped_file_is_read_like_a_plain_one(tmp_path: Path) -> None:
    text = b"x\ty\n0\t1\n1\t0\n1\t1\n"
    path = tmp_path / "table.tsv.gz"
    path.write_bytes(gzip.compress(text))
    assert load(path).codes.tolist() == [[0, 1, 1], [1, 0, 1]]
    path.write_bytes(gzip.compress(text)[:-9])
    with pytest.raises(DataError, match="not a whole gzip file"):
        load(path)


def test_quotes_in_names_are_read_as_other_programs_write_them(tmp_path):
    path = tmp_path / "quotes.csv"
    path.write_text('"say ""hi""","a,b"," ""c""",plain\n0,1,0,1\n1,0,1,0\n')
    assert load(path).names == ('say "hi"', "a,b", '"c"', "plain")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("names", [("a\nb", "c"), ("a", "b\nc"), ("a\n\nb", "c\n,"), ('"a"\nb', "c")])
def test_a_name_may_go_on_in_the_next_line(tmp_path, names, end):
    path = tmp_path / "lines.csv"
    header = ",".join('"{}"'.format(name.replace('"', '""')) for name in names)
    path.write_bytes(end.join(["", header, "0,1", "1,0", ""]).encode())
    assert load(path).names == names
    path.write_bytes(end.join([header, "0,1", "1,0,1", ""]).encode())
    with pytest.raises(DataError, match=rf"line {3 + header.count(chr(10))} of lines.csv has 3 fields"):
        load(path)


@pytest.mark.parametrize("header", ['"a,b', 'a,"b', '5" pipe,b'])
def test_a_quote_that_is_never_closed_is_named(tmp_path, header):
    path = tmp_path / "open.csv"
    path.write_text(f"{header}\n0,1\n1,0\n")
    with pytest.raises(DataError, match=r"the header of open.csv opens a quote that is never closed"):
        load(path)


TEXT = "x;y\n0;caf\u00e9\n1;tea\n1;tea\n"


@pytest.mark.parametrize(
    "raw",
    [
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.replace("\n", ";\n").encode(),
        (TEXT + "\n\n").encode(),
        ("\n" + TEXT.replace(";", " ; ")).encode(),
    ],
)
def test_the_same_table_as_many_programs_write_it(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(raw)
    data = load(path)
    assert data.names == ("x", "y")
    assert data.levels == ((0, 1), ("caf\u00e9", "tea"))
    assert data.codes.tolist() == [[0, 1, 1], [0, 1, 1]]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"PK\x03\x04\x14\0", "t.csv is an Excel workbook.*or another zip archive: save the table as CSV"),
        (b'[{"a": 1, "b": 2}]', "t.csv is JSON: "),
        (b"<!DOCTYPE html><table>", "t.csv is HTML or XML: "),
        (b"a b\n1 2\n", r"1 feature\(s\), 'a b': .* at least two variables, with a comma, a semicolon"),
        (
            b"My survey\n\na,b\n1,2\n",
            "line 3 of t.csv has 2 fields where the header has 1; the first line",
        ),
        (
            b"My survey,,\na,b,c\n1,2,3\n",
            "2 columns have no name in the first line of t.csv",
        ),
        (b'a,b\n1,"2\n3,4\n5,6\n', "t.csv"),
        (
            b'a,b,c\n"1,2,3\n4,5,6\n',
            "line 2 of t.csv opens a quote that is never closed: is the file cut off",
        ),
        (b"a,b,c\n1,2,\n2,1,\n", "no value at all in 'c': drop the column$"),
        (b"\xff\xfea", "not UTF-8 text, nor UTF-16"),
    ],
)
def test_files_that_are_no_table(tmp_path: Path, raw: bytes, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=words):
        load(path)
    if "no value" in words:
        with pytest.raises(DataError, match=words):
            load(path, missing="drop")
        assert load(path, missing="category").cardinalities.tolist() == [2, 2, 1]


@pytest.mark.parametrize(
    "row",
    ['"x",{},{}', "x,{},{}", 'x,"{}",{}', 'x,{},"{}"', '"x","{}","{}"'],
    ids=["a", "-", "b", "c", "all"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n", "\r\r\r\n"], ids=repr)
@pytest.mark.parametrize("blank", [False, True], ids=["dense", "blank lines"])
def test_no_line_end_loses_a_row(tmp_path, row, end, blank):
    path = tmp_path / "windows.csv"
    rows = [row.format(a, b) for a, b in ((0, 1), (1, 1), (0, 1), (1, 0))]
    lines = (
        ["note,a,b", *rows, ""] if not blank else ["", "note,a,b", "", *rows[:2], "", "", *rows[2:], "", ""]
    )
    path.write_bytes(end.join(lines).encode())
    data = load(path)
    assert data.names == ("note", "a", "b")
    assert data.levels == (("x",), (0, 1), (0, 1))
    assert data.codes.tolist() == [[0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 0]]


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_survive_any_mixture_of_quotes_and_line_ends(tmp_path, data):
    ends = st.sampled_from(["\n", "\r\n", "\r\r\n", "\n\n", "\r\n\r\n"])
    cell = st.sampled_from(["0", "1", '"0"', '"1"'])
    rows = data.draw(st.lists(st.tuples(cell, cell, st.sampled_from(['"u"', "v", '"w\r\r\n"'])), min_size=1))
    text = "a,b,c" + data.draw(ends) + "".join(",".join(row) + data.draw(ends) for row in rows)
    path = tmp_path / "mixed.csv"
    path.write_bytes(text.encode())
    read = load(path)
    plain = [[cell.strip('"').strip() for cell in row] for row in rows]
    labels = [[str(read.levels[j][code]).strip() for j, code in enumerate(row)] for row in read.codes.T]
    assert labels == plain


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'a,b\n1,23\n4,"56', "line 3 of t.csv opens a quote that is never closed"),
        (b'a,b\n1,"23"\n4,"56', "line 3 of t.csv opens a quote that is never closed"),
        (b'a,b\n1,"23"\n"4', "line 3 of t.csv opens a quote that is never closed"),
        (b'a,b\r1,2\n3,"4"\n', "line 1 of t.csv holds a carriage return"),
        (b"a,b\r1,2\n3,4\n", "line 1 of t.csv holds a carriage return"),
        (b'a,b\n"1"2,3\n1,2\n', "line 2 of t.csv goes on behind a closing quote"),
        (
            b'"' + b"n" * 200_000 + b'",b\n1,2\n3,4\n',
            "the first line of t.csv has a field of more than 131,072",
        ),
        (b'a,b\n"' + b"v" * 200_000 + b'",2\n3,4\n', "line 2 of t.csv has a field of more than 131,072"),
    ],
)
def test_text_that_cannot_be_read_whole_is_refused(tmp_path, raw, words):
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    with pytest.raises(DataError, match=words):
        load(path)
