// The neighbours of every variable, one list after another.
#pragma once
#include <algorithm>
#include <stdexcept>

#include "arrays.hpp"

namespace ibmap {

// Those of variable i are neighbours[start[i]], ..., neighbours[start[i + 1] - 1].
struct Neighbours {
    std::span<const std::int64_t> start, neighbours;

    Neighbours(const Vector<const std::int64_t>& start_, const Vector<const std::int64_t>& neighbours_, std::size_t n)
        : start(span_of(start_)), neighbours(span_of(neighbours_)) {
        const auto size = static_cast<std::int64_t>(neighbours.size());
        if (start.size() != n + 1 || start.front() != 0 || start.back() != size || !std::ranges::is_sorted(start))
            throw std::invalid_argument("start must rise from 0 to the number of neighbours");
        for (const std::int64_t j : neighbours)
            if (j < 0 || j >= static_cast<std::int64_t>(n))
                throw std::invalid_argument("a neighbour is not a variable");
    }

    std::span<const std::int64_t> of(std::size_t i) const {
        return neighbours.subspan(start[i], start[i + 1] - start[i]);
    }
};

}  // namespace ibmap
