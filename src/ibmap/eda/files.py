"""The state of an optimiser in a file: never half of one."""

import os
import pickle
from pathlib import Path
from typing import Any, TypeVar

from ibmap.errors import RequestError

T = TypeVar("T")


def write_state(path: Any, state: object) -> None:
    """Write under a temporary name, then rename."""
    try:
        content = pickle.dumps(state)
    except Exception as error:  # pickle raises errors of many kinds
        raise RequestError(
            f"cannot save: {error}; a learner or a cooling of your own must be a function of a module, "
            "not one made inside another function or a lambda"
        ) from None
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    except OSError as error:
        raise RequestError(f"cannot write {str(target)!r}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def read_state(path: Any, kind: type[T]) -> T:
    """Return the object in a file, if it is of this kind."""
    try:
        found = pickle.loads(Path(path).read_bytes())
    except OSError as error:
        raise RequestError(f"cannot read {str(path)!r}: {error.strerror or error}") from None
    except Exception as error:  # a pickle that is damaged can raise anything
        raise RequestError(f"{str(path)!r} holds no {kind.__name__}: {error}") from None
    if not isinstance(found, kind):
        raise RequestError(f"{str(path)!r} holds no {kind.__name__} but a {type(found).__name__}")
    return found
