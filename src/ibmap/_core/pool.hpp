// Tasks spread over threads; Ctrl-C is looked for between tasks of the calling thread.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

namespace ibmap {

// Call work(thread, task) for every task, in any order; the caller has released the interpreter's lock.
template <class Work>
void spread(int n_threads, std::int64_t n_tasks, Work work) {
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> stopped{false};
    std::vector<std::exception_ptr> failures(std::max(n_threads, 1));
    auto drain = [&](int thread) {
        auto looked = std::chrono::steady_clock::now();
        try {
            for (std::int64_t task; !stopped && (task = next.fetch_add(1)) < n_tasks;) {
                work(thread, task);
                if (thread != 0 || std::chrono::steady_clock::now() - looked < std::chrono::milliseconds(50)) continue;
                looked = std::chrono::steady_clock::now();
                nanobind::gil_scoped_acquire locked;
                if (PyErr_CheckSignals()) throw nanobind::python_error();
            }
        } catch (...) {
            failures[thread] = std::current_exception();
            stopped = true;
        }
    };
    {
        std::vector<std::jthread> others;
        for (int thread = 1; thread < std::min<std::int64_t>(n_threads, n_tasks); ++thread) others.emplace_back(drain, thread);
        drain(0);
    }
    for (const auto& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace ibmap
