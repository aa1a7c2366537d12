"""Where variables stand, and small pictures as SVG and HTML; it knows nothing but names and edges."""

from typing import Any, Protocol

from numpy.typing import NDArray


class Drawn(Protocol):
    """What a network must offer to be drawn: a :class:`ibmap.Graph` does."""

    names: tuple[str, ...]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        ...

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are adjacent."""
        ...

    @property
    def adjacency(self) -> NDArray[Any]:
        """The same as a matrix."""
        ...

    def neighbours(self, i: int) -> NDArray[Any]:
        """Return the positions of those adjacent to a variable."""
        ...

    def reachable(self, sources: Any, blocked: Any = ()) -> NDArray[Any]:
        """Return who can be reached."""
        ...

    def to_networkx(self) -> Any:
        """Return a graph of networkx."""
        ...
