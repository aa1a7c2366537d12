// Ctrl-C inside long loops that run without the GIL.
#pragma once
#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>

namespace ibmap {

// Asks Python twenty times a second whether a signal has come; its handler's exception ends the loop.
class Interrupt {
  public:
    // Reports how many small steps (of some nanoseconds) were done. Looking at the clock takes as long as a few.
    void after(std::size_t steps) {
        done_ += steps;
        if (done_ < steps_per_look) return;
        done_ = 0;
        const auto now = Clock::now();
        if (now < next_) return;
        next_ = now + std::chrono::milliseconds(50);
        nanobind::gil_scoped_acquire locked;
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t steps_per_look = 4096;
    std::size_t done_ = 0;
    Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(50);
};

}  // namespace ibmap
