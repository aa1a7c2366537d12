// Lists of variables, one after the other, as NumPy has them: where each begins, and all entries.
#pragma once
#include "arrays.hpp"

#include <stdexcept>
#include <string>

namespace ibmap {

using Ints = Vector<const std::int64_t>;

struct Lists {
    Ints start, values;

    std::span<const std::int64_t> operator[](std::size_t q) const {
        return {values.data() + start.data()[q], std::size_t(start.data()[q + 1] - start.data()[q])};
    }
    void check(std::size_t n_lists, std::int64_t n, const char* what) const {
        const std::int64_t *at = start.data(), size = std::int64_t(values.shape(0));
        bool holds = start.shape(0) == n_lists + 1 && at[0] == 0 && at[n_lists] == size;
        for (std::size_t q = 0; holds && q < n_lists; ++q) holds = at[q] <= at[q + 1];
        for (std::int64_t i = 0; holds && i < size; ++i) holds = 0 <= values.data()[i] && values.data()[i] < n;
        if (!holds) throw std::invalid_argument(std::string(what) + " are not lists of variables");
    }
};

inline void check_variables(const Ints& values, int n, const char* what) {
    for (std::size_t i = 0; i < values.shape(0); ++i)
        if (values.data()[i] < 0 || values.data()[i] >= n) throw std::invalid_argument(std::string(what) + " is not a variable");
}

}  // namespace ibmap
