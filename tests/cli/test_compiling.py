"""What compiles is counted once, with what it calls."""

import numba

from ibmap.cli.compiling import CompileClock, compile_clock


def test_a_function_that_compiles_is_counted():
    def add(a, b):
        return a + b

    compiled = numba.njit(add)  # which is not kept on disk
    with compile_clock() as clock:
        assert compiled(1, 2) == 3
        assert compiled(2, 3) == 5
    assert clock.functions == 1
    assert clock.seconds > 0
    assert not clock.is_running
    numba.njit(add)(1.0, 2.0)
    assert clock.functions == 1


def test_calls_within_calls_take_no_time_of_their_own(monkeypatch):
    times = iter([1.0, 2.0, 4.0])
    monkeypatch.setattr("ibmap.cli.compiling.perf_counter", lambda: next(times, 4.0))
    clock = CompileClock()
    clock.begin()
    clock.begin()
    clock.end()
    assert clock.is_running
    clock.end()
    assert clock.functions == 2
    assert str(clock) == "2 functions, 3 s"
