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


def best_move(
    n: int,
    dag: Dag,
    seen: set[Dag],
    may_be: Callable[[Dag, Dag], bool],
    gain_of: Callable[[Dag, Dag, Dag], float],
    tolerance: float,
) -> tuple[float, Dag, Dag] | None:
    """The move that gains most, what goes and what comes; the first of those that gain as much."""
    found = []
    for gone, new in moves(dag, n):
        after = (dag - gone) | new
        gain = gain_of(dag, gone, new)
        says_nothing = new and not gone and abs(gain) <= tolerance
        if after not in seen and not says_nothing and may_be(after, new):
            found.append((gain, gone, new))
    if not found:
        return None
    most = max(gain for gain, *_ in found)
    return next(move for move in found if move[0] >= most - max(tolerance, 1e-9 * abs(most)))


def climb(
    n: int,
    evidence: Evidence,
    start: Dag,
    required: set[frozenset[int]],
    forbidden: set[frozenset[int]],
    max_parents: int,
    tabu: int,
    tolerance: float,
    shakes: int,
    lead: Callable[[Dag, Dag], float],
) -> tuple[Dag, list[tuple[int, int, bool]], float]:
    """The best structure, the arcs (parent, child) that came and went on the way to it, and their gains.

    ``lead`` tells how far one structure is ahead of another.
    """

    def may_be(after: Dag, new: Dag) -> bool:
        return not (
            has_cycle(after, n)
            or moral(after) & forbidden
            or not required <= {frozenset(arc) for arc in after}
            or any(len(parents_of(after, x)) > max_parents for _, x in new)
        )

    def gain_of(dag: Dag, gone: Dag, new: Dag) -> float:
        lost = sum(evidence(x, y, parents_of(dag, x)) for y, x in gone)
        return sum(evidence(x, y, parents_of(dag, x)) for y, x in new) - lost

    found = _search(n, start, [], 0.0, None, may_be, gain_of, lead, tabu, tolerance)
    for _ in range(shakes):
        before = found
        for v in range(n):
            dag, history, gained = found
            history = [*history]
            for y, x in sorted(dag, key=lambda arc: arc[::-1]):
                gone, turned = frozenset([(y, x)]), frozenset([(x, y)])
                if v not in (x, y):
                    continue
                new = turned if may_be((dag - gone) | turned, turned) else frozenset()
                if not new and not may_be(dag - gone, new):
                    continue
                gained += gain_of(dag, gone, new)
                history += [(*arc, False) for arc in gone] + [(*arc, True) for arc in new]
                dag = (dag - gone) | new
            if len(history) > len(found[1]):
                found = _search(n, dag, history, gained, found, may_be, gain_of, lead, tabu, tolerance)
        if found == before:
            break
    return found


Found = tuple[Dag, list[tuple[int, int, bool]], float]


def _search(
    n: int,
    dag: Dag,
    history: list[tuple[int, int, bool]],
    gained: float,
    best: Found | None,
    may_be: Callable[[Dag, Dag], bool],
    gain_of: Callable[[Dag, Dag, Dag], float],
    lead: Callable[[Dag, Dag], float],
    tabu: int,
    tolerance: float,
) -> Found:
    """Moves from one structure on, until the optimum was not surpassed for a while."""
    best = (dag, [*history], gained) if best is None else best
    seen, optimum, in_vain = {dag}, dag, 0
    while in_vain <= tabu:
        found = best_move(n, dag, seen, may_be, gain_of, tolerance)
        if found is None:
            break
        gain, gone, new = found
        dag = (dag - gone) | new
        if tabu == 0 and gain <= tolerance:
            break
        seen.add(dag)
        gained += gain
        history += [(*arc, False) for arc in gone] + [(*arc, True) for arc in new]
        in_vain += 1
        if lead(dag, optimum) > tolerance:
            optimum, in_vain = dag, 0
        if lead(dag, best[0]) > tolerance:
            best = dag, [*history], gained
        elif dag == best[0]:
            break
    return best
