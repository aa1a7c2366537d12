#include "climb.hpp"

#include "bind.hpp"
#include "lists.hpp"
#include "numbers.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <stdexcept>

namespace ibmap {

namespace {

constexpr int TILE = 64;  // variables whose pairs are looked at together: a matrix is read along rows and columns

double sigma_of(double t, bool is_edge) { return -softplus(is_edge ? -t : t); }

}  // namespace

Climb::Climb(int n, bool is_whole, double floor)
    : n(n), is_whole(is_whole), floor(floor), bound_(floor == -NEVER ? 0.0 : sigma_of(floor, false)),
      matrix_(is_whole ? std::make_unique_for_overwrite<double[]>(std::size_t(n) * std::size_t(n)) : nullptr), rows_(is_whole ? 0 : n), value_(n),
      lowest_(n, NEVER), adjacent_(n), locked_(n), tried_(n), is_dirty_(n), is_closed_(n), buffer_(n) {
    for (int x = 0; x < n; ++x) mark(x);
}

bool Climb::contains(const List& sorted, int y) { return std::binary_search(sorted.begin(), sorted.end(), y); }

void Climb::insert(List& sorted, int y) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), y);
    if (at == sorted.end() || *at != y) sorted.insert(at, y);
}

void Climb::erase(List& sorted, int y) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), y);
    if (at != sorted.end() && *at == y) sorted.erase(at);
}

void Climb::toggle(int x, int y) {
    const bool there = is_edge(x, y);
    for (auto [a, b] : {Pair(x, y), Pair(y, x)}) there ? erase(adjacent_[a], b) : insert(adjacent_[a], b);
}

std::vector<Climb::Pair> Climb::edges() const {
    std::vector<Pair> out;
    for (int x = 0; x < n; ++x)
        for (int y : adjacent_[x])
            if (x < y) out.push_back({x, y});
    return out;
}

void Climb::lock(int x, int y) { insert(locked_[x], y), insert(locked_[y], x), mark(x), mark(y); }

void Climb::close(int x, int y) { insert(tried_[x], y), insert(tried_[y], x), mark(x), mark(y); }

void Climb::open_all() {
    for (int x = 0; x < n; ++x)
        if (!tried_[x].empty()) tried_[x].clear(), mark(x);
}

void Climb::begin(std::span<const double> values) {
    std::copy(values.begin(), values.end(), value_.begin());
}

void Climb::put(std::span<const std::int64_t> xs, const Rows& rows) {
    for (std::size_t q = 0; q < xs.size(); ++q) {
        const auto x = int(xs[q]);
        const auto begin = std::size_t(rows.start[q]), size = std::size_t(rows.start[q + 1]) - begin;
        value_[x] = rows.value[q];
        is_whole ? put_whole(x, rows.t.subspan(begin, size)) : put_listed(x, rows.y.subspan(begin, size), rows.t.subspan(begin, size));
        mark(x);
    }
}

void Climb::put_whole(int x, std::span<const double> t) {
    const auto width = std::size_t(n);
    double *row = buffer_.data(), *old = matrix_.get() + std::size_t(x) * width;
    for (int y = 0; y < x; ++y) row[y] = -softplus(t[y]);
    for (int y = x + 1; y < n; ++y) row[y] = -softplus(t[y - 1]);
    row[x] = 0.0;
    for (int y : adjacent_[x]) row[y] = -softplus(-t[y < x ? y : y - 1]);
    flag_closed(x, true);
    for (int i = 0; i < n && dirty_.size() < width; ++i) {  // at first nobody is looked at
        const double back = matrix_[std::size_t(i) * width + std::size_t(x)];
        mend(i, x, back + old[i], back + row[i]);
    }
    flag_closed(x, false);
    std::copy_n(row, n, old);
}

void Climb::put_listed(int x, std::span<const std::int32_t> ys, std::span<const double> t) {
    Row before = std::exchange(rows_[x], {}), &row = rows_[x];
    flag_closed(x, true);
    for (std::size_t i = 0, j = 0; i < ys.size() || j < before.y.size();) {
        const bool is_new = j == before.y.size() || (i < ys.size() && ys[i] < before.y[j]);
        const bool is_told = i < ys.size() && (is_new || ys[i] == before.y[j]);
        const int y = is_told ? ys[i] : before.y[j];
        row.y.push_back(y), row.sigma.push_back(is_told ? sigma_of(t[i], is_edge(x, y)) : UNKNOWN);
        Row& theirs = rows_[y];
        const std::size_t at = place(y, x);
        if (at == theirs.y.size()) {  // who is listed is listed at both ends
            const auto where = std::lower_bound(theirs.y.begin(), theirs.y.end(), x);
            theirs.sigma.insert(theirs.sigma.begin() + (where - theirs.y.begin()), UNKNOWN), theirs.y.insert(where, x);
            mend(y, x, NEVER, at_least(row.sigma.back()) + bound_);
        } else {
            const double back = at_least(theirs.sigma[at]);
            mend(y, x, is_new ? NEVER : back + at_least(before.sigma[j]), back + at_least(row.sigma.back()));
        }
        i += is_told, j += !is_new;
    }
    flag_closed(x, false);
}

void Climb::flag_closed(int x, bool closed) {
    for (const auto* some : {&locked_[x], &tried_[x]})
        for (int y : *some) is_closed_[y] = closed;
}

// The credibility of a pair of i with the x at hand has changed.
void Climb::mend(int i, int x, double before, double after) {
    if (i == x || is_dirty_[i] || is_closed_[i]) return;
    if (after <= lowest_[i])
        lowest_[i] = after;
    else if (before <= lowest_[i])
        mark(i);
}

std::size_t Climb::place(int x, int y) const {
    const List& ys = rows_[x].y;
    const auto at = std::lower_bound(ys.begin(), ys.end(), y);
    return at != ys.end() && *at == y ? std::size_t(at - ys.begin()) : ys.size();
}

double Climb::find(int x, int y) const {
    if (is_whole) return matrix_[std::size_t(x) * std::size_t(n) + std::size_t(y)];
    const std::size_t at = place(x, y);
    return at == rows_[x].y.size() ? UNKNOWN : rows_[x].sigma[at];
}

double Climb::total() const {
    double sum = 0.0;
    for (double value : value_) sum += value;
    return sum;
}

std::span<const double> Climb::credibilities(int x) {
    const std::size_t size = is_whole ? std::size_t(n) : rows_[x].y.size();
    double* out = buffer_.data();
    if (is_whole) {
        const double *own = matrix_.get() + std::size_t(x) * size, *back = matrix_.get() + x;
        for (std::size_t y = 0; y < size; ++y) out[y] = own[y] + back[y * size];
        out[x] = NEVER;
        for (const auto* some : {&locked_[x], &tried_[x]})
            for (int y : *some) out[y] = NEVER;
    } else {
        flag_closed(x, true);
        for (std::size_t i = 0; i < size; ++i) {
            const int y = rows_[x].y[i];
            out[i] = is_closed_[y] ? NEVER : at_least(rows_[x].sigma[i]) + at_least(find(y, x));
        }
        flag_closed(x, false);
    }
    return {out, size};
}

void Climb::all_lowest() {
    const auto width = std::size_t(n);
    std::fill(lowest_.begin(), lowest_.end(), NEVER);
    std::vector<double> back(TILE * TILE);  // σ_ji of a tile
    for (int i0 = 0; i0 < n; i0 += TILE)
        for (int j0 = i0; j0 < n; j0 += TILE) {
            const int i1 = std::min(i0 + TILE, n), j1 = std::min(j0 + TILE, n);
            for (int j = j0; j < j1; ++j)
                for (int i = i0; i < i1; ++i) back[std::size_t((i - i0) * TILE + j - j0)] = matrix_[std::size_t(j) * width + std::size_t(i)];
            for (int i = i0; i < i1; ++i) {
                const double *row = matrix_.get() + std::size_t(i) * width, *other = back.data() + (i - i0) * TILE;
                double least = lowest_[i], *of_j = lowest_.data();
#pragma omp simd reduction(min : least)
                for (int j = std::max(i + 1, j0); j < j1; ++j) {
                    const double pair = row[j] + other[j - j0];
                    of_j[j] = pair < of_j[j] ? pair : of_j[j], least = pair < least ? pair : least;
                }
                lowest_[i] = least;
            }
        }
    for (int x : dirty_) is_dirty_[x] = 0;
    dirty_.clear();
    for (int x = 0; x < n; ++x)  // pairs that may not be flipped have been looked at, too
        if (!locked_[x].empty() || !tried_[x].empty()) mark(x);
}

double Climb::limit() {
    if (is_whole && dirty_.size() > std::size_t(n) / 4) all_lowest();
    for (int x : dirty_) {
        is_dirty_[x] = 0, lowest_[x] = NEVER;
        for (double pair : credibilities(x)) lowest_[x] = std::min(lowest_[x], pair);
    }
    dirty_.clear();
    double least = NEVER;
    const double* lowest = lowest_.data();
#pragma omp simd reduction(min : least)
    for (int x = 0; x < n; ++x) least = lowest[x] < least ? lowest[x] : least;
    return least + TIE * std::max(1.0, std::abs(least));
}

std::vector<std::int64_t> Climb::unknown() {
    std::vector<std::int64_t> out;
    const double most = limit();
    if (is_whole || most == NEVER) return out;
    for (int x = 0; x < n; ++x) {
        if (lowest_[x] > most) continue;
        const auto pairs = credibilities(x);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            if (pairs[i] > most) continue;
            if (std::isnan(rows_[x].sigma[i])) out.push_back(x);
            if (std::isnan(find(other(x, i), x))) out.push_back(other(x, i));
        }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

bool Climb::lists_enough() { return is_whole || floor == -NEVER || 2.0 * bound_ > limit(); }

std::optional<Climb::Pair> Climb::least_credible() {
    const double most = limit();
    for (int x = 0; x < n && most < NEVER; ++x) {
        if (lowest_[x] > most) continue;
        const auto pairs = credibilities(x);
        for (std::size_t i = 0; i < pairs.size(); ++i)
            if (other(x, i) > x && pairs[i] <= most) return Pair(x, other(x, i));
    }
    return {};
}

std::vector<Climb::Pair> Climb::near_misses(std::size_t most) const {
    std::vector<std::pair<double, Pair>> found;
    for (int x = 0; !is_whole && x < n; ++x)
        for (std::size_t i = 0; i < rows_[x].y.size(); ++i) {
            const int y = rows_[x].y[i];
            if (x < y && !is_edge(x, y)) found.push_back({at_least(rows_[x].sigma[i]) + at_least(find(y, x)), {x, y}});
        }
    most = std::min(most, found.size());
    std::partial_sort(found.begin(), found.begin() + long(most), found.end());
    std::vector<Pair> out;
    for (std::size_t i = 0; i < most; ++i) out.push_back(found[i].second);
    return out;
}

namespace {

using Numbers = Vector<const double>;

void check(const Climb& climb, std::int64_t x, std::int64_t y) {
    if (std::min(x, y) < 0 || std::max(x, y) >= climb.n || x == y) throw std::invalid_argument("not a pair of variables");
}

// Lists of some x, one after the other.
template <class Of>
nb::tuple lists_of(const Climb& climb, const Ints& xs, Of of) {
    check_variables(xs, climb.n, "x");
    std::vector<std::int64_t> start{0}, values;
    for (std::int64_t x : span_of(xs)) {
        const Climb::List& list = of(int(x));
        values.insert(values.end(), list.begin(), list.end()), start.push_back(std::int64_t(values.size()));
    }
    return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(values)));
}

nb::ndarray<nb::numpy, std::int64_t> as_array(const std::vector<Climb::Pair>& pairs) {
    std::vector<std::int64_t> flat;
    for (auto [x, y] : pairs) flat.insert(flat.end(), {x, y});
    return to_numpy(std::move(flat), {pairs.size(), 2});
}

void put(Climb& climb, Ints xs, Ints start, Vector<const std::int32_t> y, Numbers t, Numbers, Numbers value) {
    const std::size_t n = xs.shape(0);
    check_variables(xs, climb.n, "x");
    bool holds = start.shape(0) == n + 1 && value.shape(0) == n && y.shape(0) == t.shape(0) && start.data()[0] == 0 && start.data()[n] == std::int64_t(y.shape(0));
    for (std::size_t q = 0; holds && q < n; ++q) holds = start.data()[q] <= start.data()[q + 1];
    for (std::size_t q = 0; holds && q < n; ++q) {
        std::int64_t before = -1;
        for (std::int64_t i = start.data()[q]; holds && i < start.data()[q + 1]; before = y.data()[i++]) holds = before < y.data()[i] && y.data()[i] < climb.n && y.data()[i] != xs.data()[q];
        if (climb.is_whole) holds = holds && start.data()[q + 1] - start.data()[q] == climb.n - 1;
    }
    if (!holds) throw std::invalid_argument("rows must list variables in order, and all of them if they are kept whole");
    climb.put(span_of(xs), {span_of(start), span_of(y), span_of(t), span_of(value)});
}

}  // namespace

void bind_climb(nb::module_& module) {
    nb::class_<Climb>(module, "Climb")
        .def("__init__", [](Climb* self, std::int64_t n, bool is_whole, double floor) {
            if (n < 0 || n > std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("n is out of range");
            new (self) Climb(int(n), is_whole, floor);
        }, nb::arg("n"), nb::arg("is_whole"), nb::arg("floor"))
        .def_ro("is_whole", &Climb::is_whole)
        .def_ro("floor", &Climb::floor)
        .def("toggle", [](Climb& c, std::int64_t x, std::int64_t y) { check(c, x, y), c.toggle(int(x), int(y)); })
        .def("lock", [](Climb& c, std::int64_t x, std::int64_t y) { check(c, x, y), c.lock(int(x), int(y)); })
        .def("close", [](Climb& c, std::int64_t x, std::int64_t y) { check(c, x, y), c.close(int(x), int(y)); })
        .def("open_all", &Climb::open_all)
        .def("edges", [](const Climb& c) { return as_array(c.edges()); })
        .def("is_edge", [](const Climb& c, std::int64_t x, std::int64_t y) { return check(c, x, y), c.is_edge(int(x), int(y)); })
        .def("blankets", [](const Climb& c, Ints xs) { return lists_of(c, xs, [&](int x) -> const Climb::List& { return c.neighbours(x); }); })
        .def("listed", [](const Climb& c, Ints xs) {
            const Climb::List nobody;
            return lists_of(c, xs, [&](int x) -> const Climb::List& { return c.is_whole ? nobody : c.listed(x); });
        })
        .def("begin", [](Climb& c, Numbers values) {
            if (values.shape(0) != std::size_t(c.n)) throw std::invalid_argument("one value for every variable");
            c.begin(span_of(values));
        })
        .def("put", &put)
        .def("find", [](const Climb& c, std::int64_t x, std::int64_t y) { return check(c, x, y), c.find(int(x), int(y)); })
        .def("value", [](const Climb& c, std::int64_t x) { return x < 0 || x >= c.n ? throw std::invalid_argument("x is not a variable") : c.value(int(x)); })
        .def("total", &Climb::total)
        .def("matrix", [](nb::handle self) {
            auto& c = nb::cast<Climb&>(self);
            if (!c.is_whole) throw std::invalid_argument("there is no matrix");
            return nb::ndarray<nb::numpy, double>(c.matrix(), {std::size_t(c.n), std::size_t(c.n)}, self);
        })
        .def("unknown", [](Climb& c) { return to_numpy(c.unknown()); })
        .def("lists_enough", &Climb::lists_enough)
        .def("least_credible", &Climb::least_credible)
        .def("near_misses", [](const Climb& c, std::size_t most) { return as_array(c.near_misses(most)); });
}

}  // namespace ibmap
