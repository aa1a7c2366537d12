"""Seeds that depend on what is run, never on the order in which it is run."""

import hashlib
import json
from collections.abc import Mapping


def seed_of(base: int, what: Mapping[str, object], repetition: int) -> int:
    """Return the seed of a world: 63 bits of the SHA-256 of base, description and repetition as JSON.

    Parameters
    ----------
    base : int
        The seed of the whole study.
    what : mapping
        What is drawn. Leave out what must not change it: the number of rows (a longer sample begins with
        the shorter one) and the learner.
    repetition : int
        Which of the worlds of this kind.

    Examples
    --------
    >>> seed_of(0, {"n": 100, "tau": 4}, 0) == seed_of(0, {"tau": 4, "n": 100}, 0)
    True
    >>> seed_of(0, {"n": 100, "tau": 4}, 0) == seed_of(0, {"n": 100, "tau": 4}, 1)
    False
    """
    text = json.dumps([base, dict(what), repetition], sort_keys=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
