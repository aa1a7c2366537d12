"""A step of the sum-product kernel, with dictionaries."""

from collections import defaultdict
from itertools import product
from math import exp, log
from typing import Any


def run_step(sizes: list[int], operands: list[tuple[int, list[int]]], target: Any, work: Any) -> None:
    """Add exponentials of the sums of all operands into the target; strides of 0 leave a dimension out."""
    start, strides = target
    sums: dict[int, float] = defaultdict(float)
    for cell in product(*map(range, sizes)):
        total = sum(
            work[first + sum(s * c for s, c in zip(steps, cell, strict=True))] for first, steps in operands
        )
        sums[start + sum(s * c for s, c in zip(strides, cell, strict=True))] += exp(total)
    for place, value in sums.items():
        work[place] = log(value) if value > 0 else float("-inf")
