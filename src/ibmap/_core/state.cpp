#include "state.hpp"

#include "bind.hpp"
#include "numbers.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace ibmap {

namespace {

double tolerance(double value) { return State::TIE * std::max(1.0, std::abs(value)); }

}  // namespace

void State::insert(std::vector<std::int32_t>& sorted, int y) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), y);
    if (at == sorted.end() || *at != y) sorted.insert(at, y);
}

void State::erase(std::vector<std::int32_t>& sorted, int y) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), y);
    if (at != sorted.end() && *at == y) sorted.erase(at);
}

void State::toggle(int x, int y) {
    if (trial_) trial_->toggled.push_back({x, y});
    const bool there = is_edge(x, y);
    for (auto [a, b] : {Pair(x, y), Pair(y, x)}) there ? erase(adjacent_[a], b) : insert(adjacent_[a], b);
    mark(x), mark(y);
}

std::vector<State::Pair> State::edges() const {
    std::vector<Pair> out;
    for (int x = 0; x < n; ++x)
        for (int y : adjacent_[x])
            if (x < y) out.push_back({x, y});
    return out;
}

void State::mark_around(int x) {
    mark(x);
    for (const auto* some : {&positive_[x], &positive_from_[x], &adjacent_[x]})
        for (int y : *some) mark(y);
}

void State::find_positive(int x) {
    for (int y : positive_[x]) erase(positive_from_[y], x);
    positive_[x].clear();
    const Row& row = rows_[x];
    for (std::size_t i = 0; i < row.y.size(); ++i)
        if (row.t[i] > -shift) positive_[x].push_back(row.y[i]);
    for (int y : positive_[x]) insert(positive_from_[y], x);
}

void State::replace(int x, Row row) {
    mark_around(x);
    rows_[x] = std::move(row);
    find_positive(x);
    mark_around(x);
}

void State::put(std::span<const std::int64_t> xs, const Rows& rows) {
    for (std::size_t q = 0; q < xs.size(); ++q) {
        const auto x = int(xs[q]);
        const auto begin = std::size_t(rows.start[q]), end = std::size_t(rows.start[q + 1]);
        Row row;
        row.y.assign(rows.y.begin() + long(begin), rows.y.begin() + long(end));
        row.t.assign(rows.t.begin() + long(begin), rows.t.begin() + long(end));
        row.rest = rows.rest[q] * std::exp(-shift), row.value = rows.value[q], row.floor = LISTED - shift;
        if (shift != 0.0)
            for (double& t : row.t) t -= shift;
        if (trial_) trial_->rows.try_emplace(x, std::move(rows_[x]));
        replace(x, std::move(row));
    }
}

std::vector<std::int32_t> State::wanted(int x) const {
    std::vector<std::int32_t> out;
    std::set_union(positive_from_[x].begin(), positive_from_[x].end(), adjacent_[x].begin(), adjacent_[x].end(), std::back_inserter(out));
    return out;
}

std::optional<double> State::find_in(const Row& row, int x, int y) const {
    if (row.y.size() + 1 == std::size_t(n)) return row.t[std::size_t(y < x ? y : y - 1)];
    const auto at = std::lower_bound(row.y.begin(), row.y.end(), y);
    if (at == row.y.end() || *at != y) return {};
    return row.t[std::size_t(at - row.y.begin())];
}

std::optional<double> State::find(int x, int y) const {
    const auto t = find_in(rows_[x], x, y);
    if (!t) return {};
    return *t + shift;
}

double State::total() const {
    double sum = 0.0;
    for (const Row& row : rows_) sum += row.value;
    return sum;
}

void State::keep_rows(std::span<const std::int64_t> xs, std::span<const std::int64_t> ys) {
    for (std::size_t i = 0; i < xs.size(); ++i)
        for (auto [x, y] : {Pair(xs[i], ys[i]), Pair(ys[i], xs[i])}) {
            kept_[x].reset();
            if (!is_edge(x, y)) kept_[x] = {y, rows_[x]};
        }
}

double State::gain(int x, int y) const {
    const double mean = (find(x, y).value_or(LISTED + shift) + find(y, x).value_or(LISTED + shift)) / 2;
    return is_edge(x, y) ? -mean : mean;
}

std::vector<State::Pair> State::choose() {
    std::vector<Pair> unknown;
    std::vector<std::pair<std::int32_t, double>> gains;
    std::sort(dirty_.begin(), dirty_.end());
    for (int x : dirty_) {
        gains.clear();
        double best = NEVER;
        for (const auto* some : {&positive_[x], &positive_from_[x], &adjacent_[x]})
            for (int y : *some) {
                if (!may_flip(x, y)) continue;
                const auto one = find(x, y), other = find(y, x);
                double gain = (one.value_or(LISTED + shift) + other.value_or(LISTED + shift)) / 2;
                if (is_edge(x, y)) gain = -gain;
                if (gain > TIE && !one) unknown.push_back({x, y});
                if (gain > TIE && !other) unknown.push_back({y, x});
                gains.push_back({y, gain}), best = std::max(best, gain);
            }
        best_[x] = best, partner_[x] = n;
        for (auto [y, gain] : gains)
            if (gain >= best - tolerance(best)) partner_[x] = std::min(partner_[x], y);
    }
    if (unknown.empty()) {
        for (int x : dirty_) is_dirty_[x] = 0;
        dirty_.clear();
    }
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    return unknown;
}

std::vector<State::Pair> State::mutual_choices() const {
    std::vector<Pair> out;
    for (int x = 0; x < n; ++x)
        if (best_[x] > TIE && x < partner_[x] && partner_[partner_[x]] == x) out.push_back({x, partner_[x]});
    return out;
}

std::optional<State::Pair> State::best_choice() const {
    double best = NEVER;
    for (double gain : best_) best = std::max(best, gain);
    if (!(best > TIE)) return {};
    for (int x = 0; x < n; ++x)
        if (best_[x] >= best - tolerance(best)) return Pair(std::min(x, int(partner_[x])), std::max(x, int(partner_[x])));
    return {};
}

std::vector<State::Pair> State::near_misses(std::size_t most) const {
    std::vector<std::pair<double, Pair>> found;
    for (int x = 0; x < n; ++x)
        for (const auto* some : {&positive_[x], &positive_from_[x]})
            for (int y : *some)
                if (!is_edge(x, y)) found.push_back({-gain(x, y), Pair(std::min(x, y), std::max(x, y))});
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::vector<Pair> out;
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i) out.push_back(found[i].second);
    return out;
}

double State::mean_degree() const {
    double total = 0.0;
    for (const Row& row : rows_) {
        double sum = 0.0;
        const double *t = row.t.data(), floor_ = row.floor, added = shift;
        const std::size_t listed = row.t.size();
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < listed; ++i) {
            const double odds = t[i] + added, small = exp_below_zero(odds < 0 ? odds : -odds);
            sum += t[i] > floor_ ? (odds < 0 ? small : 1.0) / (1.0 + small) : small;
        }
        total += sum + row.rest * std::exp(shift);
    }
    return total / std::max(n, 1);
}

void State::shift_prior(double more) {
    shift += more;
    for (int x = 0; x < n; ++x) rows_[x].value += more * double(adjacent_[x].size()) / 2;
    for (int x = 0; x < n; ++x) find_positive(x), mark(x);
}

void State::shift_prior(std::span<const double> more) {
    for (int x = 0; x < n; ++x) {
        const double* of = more.data() + std::size_t(x) * n;
        for (Row* row : {&rows_[x], kept_[x] ? &kept_[x]->second : nullptr})
            for (std::size_t i = 0; row && i < row->y.size(); ++i) row->t[i] += of[row->y[i]];
        for (int y : adjacent_[x]) rows_[x].value += of[y] / 2;
    }
    for (int x = 0; x < n; ++x) find_positive(x), mark(x);
}

void State::rebase() {
    for (Row& row : rows_) {
        for (double& t : row.t) t += shift;
        row.rest *= std::exp(shift), row.floor = LISTED;
    }
    for (auto& kept : kept_) kept.reset();
    shift = 0.0;
}

std::vector<double> State::log_sums() const {
    std::vector<double> out;
    std::vector<Pair> unknown;
    for (int x = 0; x < n; ++x) {
        const End end = compare_row(x, -1, rows_[x], shift, unknown);
        const double high = std::max(end.others, end.evidence);
        out.push_back(high + std::log(std::exp(end.others - high) + std::exp(end.evidence - high)));
    }
    return out;
}

// Whether a row lists all that could come in the place of a neighbour of x.
bool State::knows_all(int x, const Row& row) const {
    if (row.y.size() + 1 == std::size_t(n)) return true;
    return std::includes(row.y.begin(), row.y.end(), positive_from_[x].begin(), positive_from_[x].end());
}

State::End State::compare_kept(int x, int y, std::vector<Pair>& unknown) const { return compare_row(x, y, kept_[x]->second, shift, unknown); }

State::End State::compare(int x, int y, const Rows& rows, std::size_t q, std::vector<Pair>& unknown) const {
    Row row;
    const auto begin = long(rows.start[q]), end = long(rows.start[q + 1]);
    row.y.assign(rows.y.begin() + begin, rows.y.begin() + end), row.t.assign(rows.t.begin() + begin, rows.t.begin() + end);
    row.rest = rows.rest[q];
    return compare_row(x, y, row, 0.0, unknown);
}

// Sum up a row of x without its neighbour y over the variables outside the blanket; `added` is to be added to every t.
State::End State::compare_row(int x, int y, const Row& row, double added, std::vector<Pair>& unknown) const {
    End out;
    static thread_local std::vector<double> outside;  // t of the variables outside the blanket; those inside can do nothing
    const auto n_listed = row.y.size();
    outside.resize(n_listed);
    for (std::size_t i = 0; i < n_listed; ++i) outside[i] = row.t[i] + added;
    if (n_listed + 1 == std::size_t(n)) {
        for (int z : adjacent_[x]) outside[std::size_t(z < x ? z : z - 1)] = NEVER;
    } else {
        for (std::size_t i = 0, next = 0; i < n_listed; ++i) {
            while (next < adjacent_[x].size() && adjacent_[x][next] < row.y[i]) ++next;
            if (next < adjacent_[x].size() && adjacent_[x][next] == row.y[i]) outside[i] = NEVER;
        }
    }
    const auto best = std::max_element(outside.begin(), outside.end());
    if (best != outside.end() && *best > NEVER) {
        out.evidence = *best, out.rival = row.y[std::size_t(best - outside.begin())];
        *best = NEVER;
    }
    const double rest = std::log1p(row.rest * std::exp(added)), *t = outside.data();
    double top = rest, sum = 0.0;
    for (std::size_t i = 0; i < n_listed; ++i) top = t[i] > top ? t[i] : top;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < n_listed; ++i) sum += exp_below_zero(t[i] - top);
    out.others = top + std::log(std::exp(rest - top) + sum);
    if (y < 0) return out;
    // the best swap: at rest the score would miss the edge, so one end at least must be for its rival
    const double lost = gain(x, y);
    std::vector<std::pair<std::int32_t, double>> promises;
    auto consider = [&](int z) {
        if (z == y || is_edge(x, z) || !may_flip(x, z)) return;
        const auto own = find_in(row, x, z);
        const auto other = find(z, x);
        const double promised = ((own ? *own + added : LISTED + shift) + other.value_or(LISTED + shift)) / 2 + lost;
        if (promised <= TIE) return;
        if (!other) unknown.push_back({z, x});
        promises.push_back({z, promised}), out.promised = std::max(out.promised, promised);
    };
    for (int z : positive_from_[x]) consider(z);
    for (std::size_t i = 0; i < row.y.size(); ++i)
        if (row.t[i] + added > 0.0) consider(row.y[i]);
    if (!may_flip(x, y)) out.promised = NEVER;
    for (auto [z, promised] : promises)
        if (promised >= out.promised - tolerance(out.promised) && (out.z < 0 || z < out.z)) out.z = z;
    return out;
}

void State::begin_trial() {
    trial_.emplace();
    trial_->partner = partner_, trial_->best = best_, trial_->closed = closed_;
    closed_.clear();
}

void State::end_trial(bool take_back) {
    Trial trial = std::move(*trial_);
    trial_.reset();
    closed_ = take_back ? std::move(trial.closed) : closed_;
    if (!take_back) return;
    for (auto [x, y] : trial.toggled) toggle(x, y);
    for (auto& [x, row] : trial.rows) replace(x, std::move(row)), kept_[x].reset();
    partner_ = std::move(trial.partner), best_ = std::move(trial.best);
    for (int x : dirty_) is_dirty_[x] = 0;
    dirty_.clear();
}

namespace {

using Ints = Vector<const std::int64_t>;
using Numbers = Vector<const double>;

nb::ndarray<nb::numpy, std::int64_t> as_array(const std::vector<State::Pair>& pairs) {
    std::vector<std::int64_t> flat;
    for (auto [x, y] : pairs) flat.insert(flat.end(), {x, y});
    return to_numpy(std::move(flat), {pairs.size(), 2});
}

nb::tuple as_lists(const std::vector<std::vector<std::int32_t>>& lists) {
    std::vector<std::int64_t> start{0}, values;
    for (const auto& one : lists) values.insert(values.end(), one.begin(), one.end()), start.push_back(std::int64_t(values.size()));
    return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(values)));
}

void check_variables(const State& state, const Ints& xs) {
    for (std::size_t i = 0; i < xs.shape(0); ++i)
        if (xs.data()[i] < 0 || xs.data()[i] >= state.n) throw std::invalid_argument("not a variable");
}

void check_pairs(const State& state, const Ints& xs, const Ints& ys) {
    if (xs.shape(0) != ys.shape(0)) throw std::invalid_argument("pairs have two ends");
    check_variables(state, xs), check_variables(state, ys);
    for (std::size_t i = 0; i < xs.shape(0); ++i)
        if (xs.data()[i] == ys.data()[i]) throw std::invalid_argument("a pair has two different ends");
}

State::Rows checked(const State& state, std::size_t n, const Ints& start, const Vector<const std::int32_t>& y, const Numbers& t, const Numbers& rest,
                    const Numbers& value) {
    bool holds = start.shape(0) == n + 1 && rest.shape(0) == n && value.shape(0) == n && y.shape(0) == t.shape(0);
    for (std::size_t q = 0; holds && q < n; ++q) holds = start.data()[q] <= start.data()[q + 1];
    holds = holds && start.data()[0] == 0 && start.data()[n] == std::int64_t(y.shape(0));
    for (std::size_t i = 0; holds && i < y.shape(0); ++i) holds = 0 <= y.data()[i] && y.data()[i] < state.n;
    for (std::size_t q = 0; holds && q < n; ++q)
        for (std::int64_t i = start.data()[q] + 1; holds && i < start.data()[q + 1]; ++i) holds = y.data()[i - 1] < y.data()[i];
    if (!holds) throw std::invalid_argument("rows must list variables in order");
    return {span_of(start), span_of(y), span_of(t), span_of(rest), span_of(value)};
}

}  // namespace

void bind_state(nb::module_& module) {
    nb::class_<State>(module, "State")
        .def(nb::init<int, double>(), nb::arg("n"), nb::arg("floor"))
        .def_ro("n", &State::n)
        .def_ro("floor", &State::floor)
        .def_ro("shift", &State::shift)
        .def("toggle", [](State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            for (std::size_t i = 0; i < xs.shape(0); ++i) s.toggle(int(xs.data()[i]), int(ys.data()[i]));
        })
        .def("lock", [](State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            for (std::size_t i = 0; i < xs.shape(0); ++i) s.lock(int(xs.data()[i]), int(ys.data()[i]));
        })
        .def("close", [](State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            for (std::size_t i = 0; i < xs.shape(0); ++i) s.close(int(xs.data()[i]), int(ys.data()[i]));
        })
        .def("open_all", &State::open_all)
        .def("edges", [](const State& s) { return as_array(s.edges()); })
        .def("is_edge", [](const State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            std::vector<std::uint8_t> out;
            for (std::size_t i = 0; i < xs.shape(0); ++i) out.push_back(s.is_edge(int(xs.data()[i]), int(ys.data()[i])));
            return to_numpy(std::move(out));
        })
        .def("blankets", [](const State& s, Ints xs, Ints without) {
            check_variables(s, xs);
            std::vector<std::vector<std::int32_t>> out;
            for (std::size_t i = 0; i < xs.shape(0); ++i) {
                out.push_back(s.neighbours(int(xs.data()[i])));
                if (without.shape(0)) std::erase(out.back(), std::int32_t(without.data()[i]));
            }
            return as_lists(out);
        })
        .def("wanted", [](const State& s, Ints xs) {
            check_variables(s, xs);
            std::vector<std::vector<std::int32_t>> out;
            for (std::size_t i = 0; i < xs.shape(0); ++i) out.push_back(s.wanted(int(xs.data()[i])));
            return as_lists(out);
        })
        .def("put", [](State& s, Ints xs, Ints start, Vector<const std::int32_t> y, Numbers t, Numbers rest, Numbers value) {
            check_variables(s, xs);
            s.put(span_of(xs), checked(s, xs.shape(0), start, y, t, rest, value));
        })
        .def("find", [](const State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            std::vector<double> out;
            for (std::size_t i = 0; i < xs.shape(0); ++i)
                out.push_back(s.find(int(xs.data()[i]), int(ys.data()[i])).value_or(std::numeric_limits<double>::quiet_NaN()));
            return to_numpy(std::move(out));
        })
        .def("matrix", [](const State& s) {
            std::vector<double> out(std::size_t(s.n) * s.n, 0.0);
            for (int x = 0; x < s.n; ++x)
                for (int y = 0; y < s.n; ++y)
                    if (x != y) out[std::size_t(x) * s.n + y] = s.find(x, y).value_or(std::numeric_limits<double>::quiet_NaN());
            return to_numpy(std::move(out), {std::size_t(s.n), std::size_t(s.n)});
        })
        .def("gains", [](const State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            std::vector<double> out;
            for (std::size_t i = 0; i < xs.shape(0); ++i) out.push_back(s.gain(int(xs.data()[i]), int(ys.data()[i])));
            return to_numpy(std::move(out));
        })
        .def("values", [](const State& s) {
            std::vector<double> out;
            for (int x = 0; x < s.n; ++x) out.push_back(s.value(x));
            return to_numpy(std::move(out));
        })
        .def("total", &State::total)
        .def("keep_rows", [](State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            s.keep_rows(span_of(xs), span_of(ys));
        })
        .def("choose", [](State& s) { return as_array(s.choose()); })
        .def("mutual_choices", [](const State& s) { return as_array(s.mutual_choices()); })
        .def("best_choice", [](const State& s) {
            const auto best = s.best_choice();
            return as_array(best ? std::vector<State::Pair>{*best} : std::vector<State::Pair>{});
        })
        .def("near_misses", [](const State& s, std::size_t most) { return as_array(s.near_misses(most)); })
        .def("mean_degree", &State::mean_degree)
        .def("shift_prior", [](State& s, Table2<const double> more) {
            if (more.shape(0) == 1 && more.shape(1) == 1) return s.shift_prior(more.data()[0]);
            if (more.shape(0) != std::size_t(s.n) || more.shape(1) != std::size_t(s.n)) throw std::invalid_argument("odds are a matrix, or one number");
            s.shift_prior(std::span<const double>(more.data(), std::size_t(s.n) * s.n));
        })
        .def("rebase", &State::rebase)
        .def("log_sums", [](const State& s) { return to_numpy(s.log_sums()); })
        .def("has_kept", [](const State& s, Ints xs, Ints ys) {
            check_pairs(s, xs, ys);
            std::vector<std::uint8_t> out;
            for (std::size_t i = 0; i < xs.shape(0); ++i) out.push_back(s.has_kept(int(xs.data()[i]), int(ys.data()[i])));
            return to_numpy(std::move(out));
        })
        .def("compare", [](const State& s, Ints xs, Ints ys, Ints start, Vector<const std::int32_t> y, Numbers t, Numbers rest, Numbers value) {
            check_pairs(s, xs, ys);
            const std::size_t n = xs.shape(0), given = rest.shape(0);
            if (given && given != n) throw std::invalid_argument("a row for every end, or none for those that are kept");
            std::vector<double> others, evidence, promised;
            std::vector<std::int64_t> rival, z;
            std::vector<State::Pair> unknown;
            const State::Rows rows = given ? checked(s, n, start, y, t, rest, value) : State::Rows{};
            for (std::size_t q = 0; q < n; ++q) {
                const int x = int(xs.data()[q]), neighbour = int(ys.data()[q]);
                if (!given && !s.has_kept(x, neighbour)) throw std::invalid_argument("no row is kept of this end");
                const State::End end = given ? s.compare(x, neighbour, rows, q, unknown) : s.compare_kept(x, neighbour, unknown);
                others.push_back(end.others), rival.push_back(end.rival), evidence.push_back(end.evidence);
                promised.push_back(end.promised), z.push_back(end.z);
            }
            std::sort(unknown.begin(), unknown.end());
            unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
            return nb::make_tuple(to_numpy(std::move(others)), to_numpy(std::move(rival)), to_numpy(std::move(evidence)), to_numpy(std::move(promised)),
                                  to_numpy(std::move(z)), as_array(unknown));
        })
        .def("begin_trial", &State::begin_trial)
        .def("end_trial", &State::end_trial, nb::arg("take_back"));
}

}  // namespace ibmap
