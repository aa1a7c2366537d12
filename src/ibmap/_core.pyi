"""The native core (C++, ``src/ibmap/_core``): all that is hot, and nothing else.

Arrays come in as they are, contiguous and of the type that is named; what does not fit raises ValueError. The
interpreter's lock is released while the core works, and Ctrl-C is looked for between rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]

INTERFACE: int  #: raised (in _loader.py) when a signature changes: a core of another checkout is refused
VERSION: str  #: of the package that it was built for

#: compressed rows: start, y, t, rest, value (see ``engines/rows.py``)
Rows = tuple[Ints, SmallInts, Floats, Floats, Floats]

#: tables of counts: start, cells, first slice of every question, of every slice a row or keys, first set of
#: every question, sets (see ``engines/tables.py``)
Counted = tuple[Ints, Ints, Ints, Ints, Ints, Ints]

class Table:
    """The rows of a table as bits; it keeps the arrays that it was made of."""

    def __init__(
        self,
        n_rows: int,
        levels: Ints,
        level_bits: Bits,  # (levels of narrow variables, words): which rows have this level
        level_sizes: Ints,  # and how many
        wide_codes: SmallInts,  # (wide variables, rows): codes, -1 is missing
        columns: Bits | None = None,  # (words, columns): complete variables word by word, as files have them
    ) -> None: ...
    def count(self, x: Ints, y_start: Ints, y: Ints, given_start: Ints, given: Ints) -> Counted:
        """Tables of each x against its ys, given its conditioning set; one row of every slice.

        Slices come in the order of the levels of what is given.
        """

    def keys(self, given_start: Ints, given: Ints, slice_start: Ints, some_row: Ints) -> Ints:
        """Levels of the given variables in one row of every slice: its key."""

    def information(self, x: Ints, y_start: Ints, y: Ints) -> Floats:
        """Mutual information of each x and its ys, in nats, in the rows that know both."""

    def forget(self) -> None:
        """Give back the buffers in which rows are split."""

def are_variables(n: int, x: Ints, y: Ints, given: Ints) -> bool:
    """Whether all of them lie between 0 and n - 1."""

#: what a partition of the rows has: slice_start, keys, set_start, sets, start, cells
Part = tuple[Ints, Ints, Ints, Ints, Ints, Ints]

def merge(
    levels: Ints, x: Ints, y_start: Ints, y: Ints, given_start: Ints, given: Ints, parts: list[Part]
) -> Counted:
    """Tables of several partitions of the rows, added up; keys of slices, in whose order slices come."""

def margins(
    given_start: Ints, given: Ints, slice_start: Ints, keys: Ints, set_start: Ints, sets: Ints
) -> tuple[Ints, Ints]:
    """Tables of x against each given variable, given the others: first cell of each, and cells."""

def number_slices(start: Ints, cells: Ints) -> tuple[Ints, Ints | None]:
    """How many slices each table has; their numbers without gaps, cell by cell, if there are gaps."""

def contingency_statistics(start: Ints, cells: Ints, n_levels: int) -> Floats:
    """(3, tables): χ², G² and the adjusted degrees of freedom."""

def score_statistics(x: Ints, y: Ints, start: Ints, cells: Ints, levels: Ints, columns: Ints) -> Floats:
    """(2, tables): Mantel's M² and its degrees of freedom, -1 where neither variable has a score.

    ``columns`` are those of a design: one for variables with a score, otherwise all levels but one.
    """

# Whole numbers → levels, codes and bits (encode.cpp). Arrays may hold integers, floats or truth values of any
# width. Missing values are no levels: they have code -1 and no bit. A row of bits has a word for 64 rows.

def encode_column(
    values: NDArray[Any], missing: Bools | None = None
) -> tuple[Ints, Bits | SmallInts, int] | None:
    """The levels of a column, ascending; its rows; and how many values are not missing.

    Rows are bits, (levels, words), or codes where there are more than 32 levels. NaN is missing. None if some
    value is not whole, or values lie too far apart for a table of them.
    """

def encode_matrix(matrix: NDArray[Any]) -> tuple[NDArray[np.signedinteger[Any]], Ints, Ints] | None:
    """Codes (columns, rows), and the levels of column j, values[start[j]:start[j + 1]]: codes, start, values.

    The matrix may have any strides. Codes are int8, int16 or int32. None as for ``encode_column``, and if
    some value is NaN.
    """

def pack_codes(codes: NDArray[np.signedinteger[Any]], levels: Ints) -> Bits:
    """The bits of all levels, variable by variable, of codes (variables, rows); fewer than 255 levels."""

def unpack_bits(bits: Bits, n_rows: int) -> NDArray[np.int8]:
    """The codes of one variable, of the bits of its levels."""

def place_bits(bits: Bits, sources: Ints, targets: Ints, start: int, out: Bits) -> None:
    """Set the bits of row ``sources[k]`` in row ``targets[k]`` of ``out``, from bit ``start`` on."""

class Conditionals:
    """How every variable may depend on its blanket, as log evidence: families of conditionals."""

    def __init__(
        self,
        levels: Ints,
        ordinal: Bools,
        counts: Ints,  # rows of every level of every variable
        n_rows: int,
        family: str,  # "pairwise", "saturated" or "adaptive"
        effect_precision: float,
        intercept_precision: float,
        prior_count: float,
        saturated_share: float,
    ) -> None: ...
    def rows(
        self,
        table: Table,
        xs: Ints,
        start: Ints,  # of the blanket of each x among the members
        members: Ints,
        odds: Floats,  # (1, 1) or (n, n): log prior odds of edges
        floor: float,
        also_start: Ints,
        also: Ints,
        exact: bool,
        n_threads: int,
    ) -> Rows:
        """Rows from the bits of a table."""

    def rows_of_cells(self, *arguments: Any) -> Rows:
        """The same from cells that any engine has counted.

        x, y, y_start, given, given_start, slice_start, keys, set_start, sets, start of cells, cells (see
        ``engines/tables.py``), for every x of few enough levels; then all from xs on, as for ``rows``.
        """

    def left_out(
        self,
        x: Ints,
        given: Ints,
        given_start: Ints,
        slice_start: Ints,
        keys: Ints,
        set_start: Ints,
        sets: Ints,
        n_threads: int,
    ) -> Floats:
        """(2, questions): log likelihood, each row left out in turn, of main effects and of full tables."""

class MixedTable:
    """A table of levels and numbers, and the evidence of its variables given their blankets."""

    def __init__(
        self,
        kinds: NDArray[np.uint8],  # of every variable: 0 nominal, 1 ordinal, 2 a number
        levels: Ints,  # of a number 0
        codes: NDArray[np.int16],  # (variables with levels, rows), -1 is missing
        numbers: NDArray[np.float32],  # (2, numbers, rows): standardised, and squares; NaN is missing
        weights: Floats,  # of rows; or empty
        n_threads: int,
        prior_rows: float = 0.0,  # rows of noise of its own variance that every number has beside its own
    ) -> None: ...
    def rows(
        self,
        xs: Ints,
        start: Ints,
        members: Ints,
        odds: Floats,
        floor: float,
        also_start: Ints,
        also: Ints,
        exact: bool,
        n_threads: int,
        rough: bool = False,
    ) -> Rows:
        """Rows, asked for as those of ``Conditionals`` are; rough ones say little about members."""

    def effects(self, x: int, members: Ints) -> tuple[Ints, Floats, Floats, float, float]:
        """Of x given its blanket, at the mode: columns of each member that enter; effects, function by
        function of x and column by column; covariances of the effects of each member, one after the other;
        the variance that is left of a number; rows.
        """

class Families:
    """Scores of families, a variable with its parents in a directed graph: "bic", "bdeu" or "qnml".

    t_xy is what y gains as a parent of x beside its other parents, the value is s_x(P) with the prior odds of
    its arcs. Rows are asked for as those of ``Conditionals`` are, with parents for members; one thread makes
    them.
    """

    def __init__(self, levels: Ints, n_rows: int, score: str, equivalent_sample_size: float) -> None: ...
    def rows(
        self,
        table: Table,
        xs: Ints,
        start: Ints,
        parents: Ints,
        odds: Floats,
        floor: float,
        also_start: Ints,
        also: Ints,
        exact: bool,
        n_threads: int,
    ) -> Rows:
        """Rows from the bits of a table."""

    def rows_of_cells(self, *arguments: Any) -> Rows:
        """The same from cells that any engine has counted: arguments as for ``Conditionals``."""

def directed_left_out(
    levels: Ints,
    x: Ints,
    given: Ints,
    given_start: Ints,
    slice_start: Ints,
    keys: Ints,
    set_start: Ints,
    sets: Ints,
    arcs: Bools,
    size: float,
) -> Floats:
    """Mean log p(x | the rest of the row) of each x in a directed graph, each row left out in turn.

    ``given`` are Markov blankets; ``arcs[x, y]`` is y → x. p is the product of the families that x is in,
    normalised; the prior counts of each add up to ``size``.
    """

class Dag:
    """A directed acyclic graph in a search: children are rows, parents columns.

    A move is (kind, x, y): add (0), delete (1) or reverse (2) the arc y → x. ``required`` and ``forbidden``
    are pairs, symmetric: an arc between the first may be reversed but not deleted; the second get neither an
    arc nor a common child.
    """

    mark: int  #: of the structure: two with the same arcs have the same
    def __init__(
        self,
        required: Bools,
        forbidden: Bools,
        max_parents: int,
        tolerance: float,
        most_kept: int,  # numbers of rows, for families that come back
    ) -> None: ...
    def put(self, xs: Ints, start: Ints, y: SmallInts, t: Floats, keeps: bool = True) -> None:
        """Take rows: what each y gains as a parent of x; they are kept for these parents."""

    def look_up(self, x: int) -> bool:
        """Put the row that is kept for the parents of x, if there is one."""

    def move(self, kind: int, x: int, y: int) -> None:
        """Change the structure; the rows of the children that it touches are to be put again."""

    def best_move(self) -> tuple[int, int, int]:
        """The move that gains most and leads to no structure that was seen; kind 3 if there is none.

        Moves that gain as much, but for the tolerance or 1e-9 of it, tie: the smallest (y, x) comes first. An
        arc about which the data say nothing is never added.
        """

    def can_reverse(self, x: int, y: int) -> bool: ...
    def begin(self) -> None:
        """Forget the structures that were seen, but for this one."""

    def remember(self) -> None:
        """Note that this structure was seen."""

    def parents(self, x: int) -> Ints: ...
    def gain(self, x: int, y: int) -> float:
        """What was put for y as a parent of x."""

    def arcs(self) -> Ints:
        """(arcs, 2): child and parent, in order."""

    def ancestors(self) -> Bytes:
        """Whether a directed path leads from y to x, at [x, y]."""

    def evidence(self) -> Floats:
        """All that was put."""

def triples(table: Table, size: float, threshold: float, most: int, n_threads: int) -> tuple[Ints, Floats]:
    """All triples that say something only together, (triples, 3) ascending, and their log evidence.

    Those above the threshold, the most evidence first (ties, to six digits: the smallest triple), ``most`` of
    them at most; see ``engines/triples.py``. ``size`` is what the prior counts of a joint table add up to.
    """

def triples_of_cells(levels: Ints, start: Ints, cells: Ints, n_rows: int, size: float) -> Floats:
    """The same evidence of triples that any engine has counted.

    ``levels`` has three numbers for each; ``cells`` are three levels and the rows that have them, (4, cells).
    """

class DagSearch:
    """Searches for the best directed graph that share the rows that they have asked for.

    ``t`` and ``value`` are the rows without parents; ``ask(x, parents)`` returns another row and s_x of these
    parents. Arcs are (child, parent). The other arguments are those of :class:`Dag`.
    """

    n_rows: int  #: that were asked for
    gain: float  #: since a structure was loaded
    score: float  #: Σ s_x of the structure as it stands
    def __init__(
        self,
        required: Bools,
        forbidden: Bools,
        max_parents: int,
        tolerance: float,
        most_kept: int,
        t: Floats,
        value: Floats,
        ask: Callable[[int, Ints], tuple[Floats, float]],
        seed: int,
    ) -> None: ...
    def arcs(self) -> list[tuple[int, int]]: ...
    def load(self, arcs: list[tuple[int, int]]) -> None:
        """Go to a structure, and begin there."""

    def rank(self, ranks: list[int]) -> None:
        """Let the smallest (rank of y, rank of x) come first among moves that gain as much."""

    def climb(self, tabu: int) -> None:
        """Make the best moves, so many beyond an optimum; end in the best structure since it was loaded."""

    def shake(self, order: list[int], tabu: int) -> bool:
        """Reverse the arcs of each variable in turn, and climb from there; tell whether that was of use."""

    def walk(self, steps: int) -> None:
        """Reverse covered arcs at random: the score stays, if it is the same for equivalent graphs."""

    def by_orders(
        self, starts: list[list[tuple[int, int]]], patience: int, moved: int
    ) -> tuple[float, list[tuple[int, int]]]:
        """Load the best graph that families counted so far can make, and return it with its score.

        Orders of the variables begin with those of some graphs; then that of the best graph is disturbed,
        ``moved`` variables at a time, until ``patience`` in a row were in vain.
        """

    def without(self, x: int, y: int) -> tuple[float, float, list[tuple[int, int]]]:
        """What the score gains if x and y get no edge, common children losing x: at once, and after a climb.

        And the graph that the climb ends in, if it is better, or the arcs to children that have other parents
        then; the structure stays as it is.
        """

    def with_arc(self, x: int, y: int) -> tuple[float, float, list[tuple[int, int]]]:
        """The same with the arc y → x; -inf if there is one, or it is not allowed."""

    def evidence(self) -> Floats: ...
    def ancestors(self) -> Bytes: ...

class Bayes:
    """The Bayesian test of conditional independence, and the IB-score that asks it.

    ``cell`` and ``margin`` are the prior counts of a cell, and of a level of x, in tables of I x J levels:
    (kinds, kinds), for the numbers of levels that occur, ascending. Any number of threads may ask at the
    same time, and what comes back does not depend on how many the core uses.
    """

    def __init__(
        self,
        levels: Ints,
        n_rows: int,
        log_prior: Floats,  # (1, 1) or (n, n): log prior of independence
        cell: Floats,
        margin: Floats,
        every_slice: bool,  # configurations that no row has are slices, too
        one_factor: bool,  # one Bayes factor decides for all slices
    ) -> None: ...
    def posteriors(
        self,
        table: Table,
        x: Ints,
        y_start: Ints,
        y: Ints,
        given_start: Ints,
        given: Ints,
        n_threads: int = 1,
    ) -> tuple[Floats, Floats]:
        """Log Pr(independent) and log Pr(dependent) of each x with its ys, given its conditioning set."""

    def first_independent(self, table: Table, x: int, y: int, subsets: Ints, threshold: float) -> int:
        """The first row of subsets given which log Pr(independent) exceeds the threshold; -1 if none."""

    def first_dependent(self, table: Table, x: int, ys: Ints, given: Ints, margin: float) -> int:
        """The first of ys whose log Pr(independent) is not above the log prior and a margin; -1 if none."""

    def first_independent_member(self, table: Table, x: int, members: Ints, margin: float) -> int:
        """The first member whose log Pr(independent), given the others, is above that; -1 if none."""

    def posteriors_of_cells(
        self, x: Ints, y: Ints, start: Ints, cells: Ints, log_slices: Floats | None
    ) -> tuple[Floats, Floats]:
        """The same of tables that any engine has counted: lists of cells (see ``engines/tables.py``).

        ``log_slices``, the log of the number of possible slices, is needed if every slice counts.
        """

    def rows(
        self,
        table: Table,
        xs: Ints,
        start: Ints,
        members: Ints,
        floor: float,
        also_start: Ints,
        also: Ints,
        members_only: bool = False,
        n_threads: int = 1,
    ) -> Rows:
        """Rows of the IB-score: t_xy = log Pr(dependent) - log Pr(independent), given the blanket without y.

        The value is Σ_y σ_xy, the log posterior of what the blanket asserts. With ``members_only`` nobody
        else is looked at: members are listed as they come, and the value is theirs.
        """

    def fill_unconditional(self, table: Table, sigma: Floats, n_threads: int = 1) -> None:
        """σ of all pairs in the graph without edges, symmetric, 0 for x = y; every pair is counted once."""

class State:
    """A graph, the row of every x given its blanket, and its best choice (``search/state.py``)."""

    n: int
    floor: float
    shift: float
    def __init__(self, n: int, floor: float) -> None: ...
    def toggle(self, xs: Ints, ys: Ints) -> None: ...
    def lock(self, xs: Ints, ys: Ints) -> None: ...
    def close(self, xs: Ints, ys: Ints) -> None: ...
    def open_all(self) -> None: ...
    def edges(self) -> Ints: ...
    def is_edge(self, xs: Ints, ys: Ints) -> Bytes: ...
    def blankets(self, xs: Ints, without: Ints) -> tuple[Ints, Ints]: ...
    def wanted(self, xs: Ints) -> tuple[Ints, Ints]: ...
    def put(self, xs: Ints, start: Ints, y: SmallInts, t: Floats, rest: Floats, value: Floats) -> None: ...
    def find(self, xs: Ints, ys: Ints) -> Floats: ...
    def matrix(self) -> Floats: ...
    def gains(self, xs: Ints, ys: Ints) -> Floats: ...
    def values(self) -> Floats: ...
    def total(self) -> float: ...
    def keep_rows(self, xs: Ints, ys: Ints) -> None: ...
    def choose(self) -> Ints: ...
    def mutual_choices(self) -> Ints: ...
    def best_choice(self) -> Ints: ...
    def near_misses(self, most: int) -> Ints: ...
    def mean_degree(self) -> float: ...
    def shift_prior(self, more: Floats) -> None: ...
    def rebase(self) -> None: ...
    def log_sums(self) -> Floats: ...
    def has_kept(self, xs: Ints, ys: Ints) -> Bytes: ...
    def compare(
        self, xs: Ints, ys: Ints, start: Ints, y: SmallInts, t: Floats, rest: Floats, value: Floats
    ) -> tuple[Floats, Ints, Floats, Floats, Ints, Ints]: ...
    def begin_trial(self) -> None: ...
    def end_trial(self, take_back: bool) -> None: ...

class Climb:
    """A graph, σ_xy of all pairs or of some, and the least credible pair (``search/climb.py``)."""

    is_whole: bool
    floor: float
    def __init__(self, n: int, is_whole: bool, floor: float) -> None: ...
    def toggle(self, x: int, y: int) -> None: ...
    def lock(self, x: int, y: int) -> None: ...
    def close(self, x: int, y: int) -> None: ...
    def open_all(self) -> None: ...
    def edges(self) -> Ints: ...
    def is_edge(self, x: int, y: int) -> bool: ...
    def blankets(self, xs: Ints) -> tuple[Ints, Ints]: ...
    def listed(self, xs: Ints) -> tuple[Ints, Ints]: ...
    def begin(self, values: Floats) -> None: ...
    def put(self, xs: Ints, start: Ints, y: SmallInts, t: Floats, rest: Floats, value: Floats) -> None: ...
    def find(self, x: int, y: int) -> float: ...
    def value(self, x: int) -> float: ...
    def total(self) -> float: ...
    def matrix(self) -> Floats: ...
    def unknown(self) -> Ints: ...
    def lists_enough(self) -> bool: ...
    def least_credible(self) -> tuple[int, int] | None: ...
    def near_misses(self, most: int) -> Ints: ...

# Gibbs sampling of models (gibbs.cpp): ``rows`` is filled. A row depends on the model, the seed, the sweeps
# and its place alone. The neighbours of variable i are neighbours[start[i]:start[i + 1]]. Where logarithms
# add up to less than ``largest_log``, weights are multiplied, which is faster and gives the same rows.
# Ctrl-C is answered.

def sample_binary(
    fields: Floats,
    start: Ints,
    neighbours: Ints,
    couplings: Floats,
    *,
    seed: int,
    sweeps: int,
    rows: Bytes,
    largest_log: float = 700.0,
) -> None:
    """Draw each row as the end of a chain of its own.

    log p(x) = Σ field_i x_i + Σ coupling_ij x_i x_j. Every neighbour of every variable has a coupling.
    """

def sample_cells(
    levels: Ints,
    fields: Floats,
    precisions: Floats,
    factor_start: Ints,
    place: Ints,
    scope_start: Ints,
    scope: Ints,
    strides: Ints,
    tables: Floats,
    *,
    rows: Floats,
    absent: Bools,
    seed: int,
    sweeps: int,
    n_threads: int = 1,
) -> None:
    """Draw the absent cells of every row (rows, variables), sweep after sweep, from what stands there.

    ``levels`` is 0 of numbers. log p(x) = Σ field_i(x_i) + Σ factors - ½ Σ precision_j z_j²; the field of a
    number is one entry, which is multiplied by it. The factors of a variable i, ``factor_start[i]`` and on,
    begin at ``place`` in ``tables``; the variables that factor f depends on are ``scope[scope_start[f]:]``:
    the levels of these choose an entry by their strides, and their numbers multiply it. Entries are those of
    the levels of i, side by side, or one.
    """

def sample_tables(
    levels: Ints,
    fields: Floats,
    start: Ints,
    neighbours: Ints,
    tables: Floats,
    *,
    seed: int,
    sweeps: int,
    thin: int,
    rows: Bytes,
    largest_log: float = 700.0,
) -> None:
    """Draw each row as the end of a chain of its own; or all from one chain, ``thin`` sweeps before each.

    ``thin=0`` stands for chains of their own. log p(x) = Σ field_i(x_i) + Σ table_ij(x_i, x_j), for 1 to 256
    levels. Fields stand in one array, and so do tables: one for every neighbour of every variable, with a row
    for each level of the neighbour.
    """

# MOA (moa.cpp)

class BlanketTables:
    """How often each level of each variable comes with each configuration of its neighbours.

    Rows hold levels, from 0. A variable whose neighbours have more than ``most_direct`` configurations finds
    the observed ones by a hash.
    """

    def __init__(
        self,
        rows: Ints,
        levels: Ints,
        start: Ints,
        neighbours: Ints,
        *,
        most_direct: int = 2**14,
        hash_factor: int = 0x9E3779B97F4A7C15,
    ) -> None: ...
    @property
    def n_counts(self) -> int:
        """How many counts are kept."""

    @property
    def hashed(self) -> Bools:
        """Which variables need a hash."""

    def probabilities(self, i: int, state: Ints, inverse_temperature: float | None, joint: bool) -> Floats:
        """Return the probabilities of the levels of i where its neighbours are as in ``state``.

        They are e^(f / T), normalised. f is the share of the rows with this level among those with the same
        neighbours, or of the rows with this level and the same neighbours among all (``joint``). Without T
        they are f itself, among those with the same neighbours.
        What was never observed is uniform.
        """

    def sample(
        self, *, seed: int, steps: int, rows: Ints, inverse_temperature: float | None, joint: bool
    ) -> None:
        """Fill each row with the end of a chain of updates of random variables, from a uniform random string.

        Ctrl-C is answered.
        """

class SumProduct:
    """A program of sums and products of strided tables of logarithms, for inference in a junction tree.

    Step s goes over all cells of a table with the dimensions ``size[shape[s]:shape[s + 1]]``, adds up the
    entries of its operands there, and adds the exponentials into its target, as logarithms. Operands, and
    then the target, begin at ``place[places[s]:places[s + 1]]`` in a workspace; ``stride`` has a number for
    every dimension of each of them, one after the other. A stride of 0 leaves a dimension out.
    """

    def __init__(
        self, shape: Ints, size: Ints, places: Ints, place: Ints, stride: Ints, *, work_size: int
    ) -> None: ...
    def run(self, work: Floats, first: int, last: int) -> None:
        """Run the steps from ``first`` to the one before ``last`` in a workspace."""

class PseudoLikelihood:
    """The penalised log pseudo-likelihood of a pairwise model: Σ over variables and rows, log p(x | others).

    Parameters are flat, as in ``model/layout.py``: a field for every variable, then a table for every edge.
    ``pairs`` are the edges, i < j. The slices of all variables (observed configurations of their neighbours)
    follow each other; those of variable v are ``slice_start[v]:slice_start[v + 1]``. ``keys`` has, slice
    after slice, the levels of the neighbours in ascending order; ``counts`` the rows with every level of the
    variable. Half of the precisions times the squares of all parameters is taken off.
    """

    def __init__(
        self,
        levels: Ints,
        pairs: Ints,
        slice_start: Ints,
        keys: Ints,
        counts: Ints,
        *,
        field_precision: float,
        table_precision: float,
    ) -> None: ...
    def value(self, theta: Floats) -> tuple[float, Floats]:
        """Return the value and its gradient."""

    def maximum(self, close: float, max_iter: int) -> tuple[Floats, int, float]:
        """Return the centred parameters with the highest value, the number of steps, and the slope left.

        The search ends where no entry of the gradient is larger than ``close``, along coordinates scaled to
        unit information.
        """

    def covariances(self, theta: Floats, most: int) -> tuple[Ints, Floats]:
        """Return the covariances of the effects of every neighbour of every variable, given the others.

        Those of the k-th neighbour, of all variables one after the other, are ``found[start[k]:start[k +
        1]]``: a matrix with a row and a column for every contrast of the variable and, within it, of the
        neighbour. It is empty where the effects of a variable are more than ``most``.
        """
