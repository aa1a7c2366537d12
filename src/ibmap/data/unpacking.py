"""The bytes of a file on their way to a table: unzipped, and text as UTF-8."""

from pathlib import Path

from ibmap.errors import DataError

BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
#: how files begin that hold no delimited text, and what they are
OTHERS = {
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"%PDF": "a PDF document",
    b"<!": "HTML or XML",
    b"<?": "XML",
    b"<html": "HTML",
    b"[{": "JSON",
    b'{"': "JSON",
}


def read_bytes(path: Path) -> bytes:
    """Return what a file holds: Parquet as it is, text without byte order mark, unzipped."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {str(path)!r}") from None
    except IsADirectoryError:
        raise DataError(f"{str(path)!r} is a directory, not a file") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
    raw = _unzipped(path, raw)
    if raw.startswith(UTF_16):
        raw = _from_utf_16(path, raw)
    raw = raw.removeprefix(BOM)
    if not raw.strip():
        raise DataError(f"{str(path)!r} is empty")
    for start, kind in OTHERS.items():
        if raw.startswith(start):
            raise DataError(f"{path.name} is {kind}: save the table as CSV or Parquet")
    if b"\n" not in raw and not raw.startswith(b"PAR1"):
        raw = raw.replace(b"\r", b"\n")  # lines as old Macs end them
    return raw


def _unzipped(path: Path, raw: bytes) -> bytes:
    """Undo gzip, whatever the file is called."""
    if not raw.startswith(GZIP):
        return raw
    import gzip
    import zlib

    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{str(path)!r} is not a whole gzip file: {error}") from None


def _from_utf_16(path: Path, raw: bytes) -> bytes:
    try:
        return raw.decode("utf-16").encode()
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is not UTF-8 text, nor UTF-16: save it as UTF-8") from None
