// Rows between Python and C++: log prior odds come in, compressed rows go out.
#pragma once
#include "conditionals.hpp"

#include <stdexcept>

namespace ibmap {

struct Odds {  // log prior odds: a matrix, or one number
    Table2<const double> values;
    Odds(Table2<const double> given, int n) : values(given) {
        const bool one = given.shape(0) == 1 && given.shape(1) == 1;
        if (!one && (given.shape(0) != std::size_t(n) || given.shape(1) != std::size_t(n))) throw std::invalid_argument("odds are a matrix, or one number");
    }
    std::span<const double> of(std::int64_t x) const { return {values.data() + (values.shape(0) == 1 ? 0 : x * values.shape(1)), values.shape(1)}; }
    double operator()(std::int64_t x, std::int64_t y) const { return values.data()[values.shape(0) == 1 ? 0 : std::size_t(x) * values.shape(1) + std::size_t(y)]; }
};

inline nb::tuple joined(std::vector<Row>& rows) {
    std::vector<std::int64_t> start{0};
    std::vector<double> rest, value;
    for (const Row& row : rows) start.push_back(start.back() + std::int64_t(row.y.size())), rest.push_back(row.rest), value.push_back(row.value);
    std::vector<std::int32_t> y(std::size_t(start.back()));
    std::vector<double> t(y.size());
    for (std::size_t q = 0; q < rows.size(); ++q) {
        std::copy(rows[q].y.begin(), rows[q].y.end(), y.begin() + start[q]);
        std::copy(rows[q].t.begin(), rows[q].t.end(), t.begin() + start[q]);
        rows[q] = {};
    }
    return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(y)), to_numpy(std::move(t)), to_numpy(std::move(rest)), to_numpy(std::move(value)));
}

}  // namespace ibmap
