"""Greedy search through directed acyclic graphs, move by move, with nothing kept but the structures seen."""

from collections.abc import Callable, Iterator
from itertools import combinations, permutations

Arc = tuple[int, int]  #: (parent, child)
Dag = frozenset[Arc]
Evidence = Callable[[int, int, tuple[int, ...]], float]  #: of x, y and the parents of x


def parents_of(dag: Dag, x: int) -> tuple[int, ...]:
    return tuple(sorted(parent for parent, child in dag if child == x))


def has_cycle(dag: Dag, n: int) -> bool:
    """Whether somebody is always left who has a parent among those who are left."""
    rest = set(range(n))
    while free := {v for v in rest if not rest & set(parents_of(dag, v))}:
        rest -= free
    return bool(rest)


def moral(dag: Dag) -> set[frozenset[int]]:
    """Arcs without direction, and the parents of a common child."""
    edges = {frozenset(arc) for arc in dag}
    for child in {child for _, child in dag}:
        edges |= {frozenset(pair) for pair in combinations(parents_of(dag, child), 2)}
    return edges


def moves(dag: Dag, n: int) -> Iterator[tuple[Dag, Dag]]:
    """What goes and what comes: by parent, then child; deletions before reversals."""
    for parent, child in permutations(range(n), 2):
        arc = frozenset([(parent, child)])
        if arc <= dag:
            yield arc, frozenset()
            yield arc, frozenset([(child, parent)])
        else:
            yield frozenset(), arc


def climb(
    n: int,
    evidence: Evidence,
    start: Dag,
    required: set[frozenset[int]],
    forbidden: set[frozenset[int]],
    max_parents: int,
    tabu: int,
    tolerance: float,
) -> tuple[Dag, list[tuple[int, int, bool]], float]:
    """The best structure, the arcs (parent, child) that came and went on the way to it, and its gain."""
    best, steps, best_gain = start, 0, 0.0
    dag, seen, gained, history, in_vain = start, {start}, 0.0, [], 0
    while in_vain <= tabu:
        found = []
        for gone, new in moves(dag, n):
            after = (dag - gone) | new
            gain = -sum(evidence(x, y, parents_of(dag, x)) for y, x in gone)
            gain += sum(evidence(x, y, parents_of(dag, x)) for y, x in new)
            if (
                after in seen
                or (new and not gone and abs(gain) <= tolerance)
                or has_cycle(after, n)
                or moral(after) & forbidden
                or not required <= {frozenset(arc) for arc in after}
                or any(len(parents_of(after, x)) > max_parents for _, x in new)
            ):
                continue
            found.append((gain, gone, new, after))
        if not found:
            break
        most = max(gain for gain, *_ in found)
        gain, gone, new, dag = next(
            move for move in found if move[0] >= most - max(tolerance, 1e-9 * abs(most))
        )
        if tabu == 0 and gain <= tolerance:
            break
        seen.add(dag)
        gained += gain
        history += [(*arc, False) for arc in gone] + [(*arc, True) for arc in new]
        in_vain += 1
        if gained > best_gain + tolerance:
            best, steps, best_gain, in_vain = dag, len(history), gained, 0
    return best, history[:steps], best_gain
