// The maximum of a concave function, by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace ibmap::lbfgs {

using Floats = std::vector<double>;

inline constexpr std::size_t memory = 20;  // steps that are remembered
inline constexpr int halvings = 30;
inline constexpr double enough = 1e-4;     // of what a step promises, that it must keep
inline constexpr double rounding = 1e-12;  // of the value: what is gained or lost below that, nobody can see

struct Past {
    Floats change, turn;  // of the place, and of the gradient, which falls
    double scale = 0.0;
};

struct Found {
    Floats place;
    std::int64_t n_steps = 0;
    double slope = 0.0;  // the largest entry of the gradient there
};

inline double dot(const Floats& a, const Floats& b) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

inline void add(Floats& to, double times, const Floats& values) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += times * values[i];
}

inline double largest(const Floats& values) {
    double found = 0.0;
    for (const double value : values) found = std::max(found, std::abs(value));
    return found;
}

// The gradient times the inverse curvature that the past steps show.
inline Floats direction_of(const Floats& gradient, const std::deque<Past>& past) {
    Floats found = gradient, weight(past.size());
    for (std::size_t p = past.size(); p-- > 0;) {
        weight[p] = past[p].scale * dot(past[p].change, found);
        add(found, -weight[p], past[p].turn);
    }
    if (!past.empty()) {
        const Past& last = past.back();
        const double scale = 1.0 / (last.scale * dot(last.turn, last.turn));
        for (double& entry : found) entry *= scale;
    }
    for (std::size_t p = 0; p < past.size(); ++p)
        add(found, weight[p] - past[p].scale * dot(past[p].turn, found), past[p].change);
    return found;
}

// Climb until no entry of the gradient is larger than ``close``, or no step gains. ``height(place, gradient)`` returns
// the value, and fills the gradient. Curvatures should be near one: the first step is as long as the gradient.
template <class Height>
Found climb(Height height, Floats place, double close, std::int64_t max_iter) {
    Found found;
    Floats gradient(place.size()), slope(place.size()), ahead;
    double reached = height(place, gradient);
    std::deque<Past> past;
    for (; found.n_steps < max_iter && !(largest(gradient) <= close); ++found.n_steps) {
        const Floats direction = direction_of(gradient, past);
        const double promised = dot(gradient, direction);
        double length = 1.0, there = 0.0;
        bool gains = false;
        for (int halved = 0; halved < halvings && !gains; ++halved, length /= 2) {
            ahead = place;
            add(ahead, length, direction);
            there = height(ahead, slope);
            // where rounding hides a gain, the slope shows it: a parabola whose slope is not yet turned round has gained
            gains = there >= reached + enough * length * promised ||
                    (there >= reached - rounding * std::abs(reached) &&
                     dot(slope, direction) >= (2 * enough - 1) * promised);
        }
        if (!gains) break;
        Past step{ahead, gradient};
        add(step.change, -1.0, place);
        add(step.turn, -1.0, slope);
        const double curved = dot(step.change, step.turn);
        if (curved > 1e-12 * dot(step.turn, step.turn)) {
            step.scale = 1.0 / curved;
            past.push_back(std::move(step));
            if (past.size() > memory) past.pop_front();
        }
        std::swap(place, ahead);
        std::swap(gradient, slope);
        reached = there;
    }
    found.slope = largest(gradient);
    found.place = std::move(place);
    return found;
}

}  // namespace ibmap::lbfgs
