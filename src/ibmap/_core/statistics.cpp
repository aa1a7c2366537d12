// Classical statistics of tables that are lists of observed cells (engines/tables.py).
#include "bind.hpp"
#include "lists.hpp"
#include "matrix.hpp"

#include <cmath>

namespace ibmap {

namespace {

struct CellLists {  // of every table
    Ints start;
    Table2<const std::int64_t> cells;
    const std::int64_t *slice, *x, *y, *rows;

    CellLists(Ints starts, Table2<const std::int64_t> all) : start(starts), cells(all) {
        const std::size_t n = cells.shape(1);
        bool holds = cells.shape(0) == 4 && start.shape(0) > 0 && start.data()[0] == 0 && start.data()[size()] == std::int64_t(n);
        for (std::size_t t = 0; holds && t < size(); ++t) holds = start.data()[t] <= start.data()[t + 1];
        if (!holds) throw std::invalid_argument("cells do not fit their tables");
        slice = cells.data(), x = slice + n, y = x + n, rows = y + n;
    }
    std::size_t size() const { return start.shape(0) - 1; }
    // Call work(begin, end) for every slice of a table.
    template <class Work>
    void for_slices(std::size_t t, Work work) const {
        for (std::int64_t begin = start.data()[t], end; begin < start.data()[t + 1]; begin = end) {
            for (end = begin + 1; end < start.data()[t + 1] && slice[end] == slice[begin]; ++end) {}
            work(begin, end);
        }
    }
    void check(std::int64_t begin, std::int64_t end, std::int64_t n_x, std::int64_t n_y) const {
        for (std::int64_t i = begin; i < end; ++i)
            if (x[i] < 0 || x[i] >= n_x || y[i] < 0 || y[i] >= n_y || rows[i] <= 0) throw std::invalid_argument("a cell is out of range");
    }
};

// How many slices each table has; and their numbers without gaps, cell by cell, if there are gaps.
nb::tuple number_slices(Ints start, Table2<const std::int64_t> cells) {
    const CellLists tables(start, cells);
    std::vector<std::int64_t> n_slices(tables.size()), number(cells.shape(1));
    bool changed = false;
    for (std::size_t t = 0; t < tables.size(); ++t)
        tables.for_slices(t, [&](std::int64_t begin, std::int64_t end) {
            std::fill(number.begin() + begin, number.begin() + end, n_slices[t]);
            changed |= n_slices[t]++ != tables.slice[begin];
        });
    return nb::make_tuple(to_numpy(std::move(n_slices)), changed ? nb::cast(to_numpy(std::move(number))) : nb::none());
}

// χ², G² and the adjusted degrees of freedom of each table.
nb::object contingency_statistics(Ints start, Table2<const std::int64_t> cells, std::int64_t n_levels) {
    const CellLists tables(start, cells);
    const std::size_t n = tables.size();
    std::vector<double> out(3 * n);
    {
        nb::gil_scoped_release unlocked;
        tables.check(0, std::int64_t(cells.shape(1)), n_levels, n_levels);
        std::vector<std::int64_t> by_x(std::size_t(std::max<std::int64_t>(n_levels, 0))), by_y(by_x);
        const std::int64_t *x = tables.x, *y = tables.y, *rows = tables.rows;
        for (std::size_t t = 0; t < n; ++t)
            tables.for_slices(t, [&](std::int64_t begin, std::int64_t end) {
                std::int64_t total = 0, n_x = 0, n_y = 0;
                for (std::int64_t i = begin; i < end; ++i) {
                    n_x += !by_x[x[i]], n_y += !by_y[y[i]];
                    by_x[x[i]] += rows[i], by_y[y[i]] += rows[i], total += rows[i];
                }
                double chi = -double(total), likelihood = 0.0;  // Σ (c - E)² / E = Σ c² / E - n, over observed cells only
                for (std::int64_t i = begin; i < end; ++i) {
                    const double c = double(rows[i]), share = c / (double(by_x[x[i]]) * (double(by_y[y[i]]) / double(total)));
                    chi += c * share, likelihood += c * std::log(share);
                }
                out[t] += std::max(chi, 0.0), out[n + t] += std::max(2.0 * likelihood, 0.0), out[2 * n + t] += double((n_x - 1) * (n_y - 1));
                for (std::int64_t i = begin; i < end; ++i) by_x[x[i]] = by_y[y[i]] = 0;
            });
    }
    return nb::cast(to_numpy(std::move(out), {3, n}));
}

// What a level has in a column of a design: a contrast (a level against the mean of those before it), or the score of an ordered level.
struct Design {
    std::int64_t levels, columns;
    std::vector<double> scale;

    Design(std::int64_t n_levels, std::int64_t n_columns) : levels(n_levels), columns(n_columns) {
        for (std::int64_t c = 0; !has_score() && c < columns; ++c) scale.push_back(1.0 / std::sqrt((double(c) + 1.0) * (double(c) + 2.0)));
    }
    bool has_score() const { return columns < levels - 1; }
    double score(std::int64_t level) const { return (double(level) - 0.5 * double(levels - 1)) * std::sqrt(12.0 / (double(levels) * (double(levels) + 1.0))); }
    double operator()(std::int64_t level, std::int64_t column) const {
        if (has_score()) return score(level);
        if (level > column + 1) return 0.0;
        return level == column + 1 ? (double(column) + 1.0) * scale[column] : -scale[column];
    }
    std::int64_t first_column(std::int64_t level) const { return has_score() ? 0 : std::max<std::int64_t>(level - 1, 0); }
};

// Mantel's M². In slice k of n rows, with the scores s of one variable and the columns v of the other, U_k = Σ (s - s̄)(v - v̄), whose
// covariance, where the two are independent and both margins are known, is V_k = Σ (s - s̄)² Σ (v - v̄)(v - v̄)ᵀ / (n - 1).
// M² = (Σ U_k)ᵀ (Σ V_k)⁻¹ (Σ U_k) has as many degrees of freedom as Σ V_k has rank.
class Mantel {
  public:
    double value = 0.0, rank = 0.0;

    // score: levels that have one, of cells begin to end; other: the other levels.
    Mantel(const CellLists& tables, std::size_t t, const std::int64_t* score, const Design& scores, const std::int64_t* other, const Design& design)
        : r_(std::size_t(design.columns)), total_(r_), size_(r_), spread_(r_, r_) {
        std::vector<double> first(r_), both(r_);
        Matrix<double> second(r_, r_);
        tables.for_slices(t, [&](std::int64_t begin, std::int64_t end) {
            double n = 0.0, s1 = 0.0, s2 = 0.0;
            std::fill(first.begin(), first.end(), 0.0), std::fill(both.begin(), both.end(), 0.0), second.resize(r_, r_);
            for (std::int64_t i = begin; i < end; ++i) {
                const double count = double(tables.rows[i]), s = scores(score[i], 0);
                n += count, s1 += count * s, s2 += count * s * s;
                const auto from = std::size_t(design.first_column(other[i]));
                for (std::size_t a = from; a < r_; ++a) {
                    const double v = count * design(other[i], std::int64_t(a));
                    first[a] += v, both[a] += v * s;
                    for (std::size_t b = from; b <= a; ++b) second[a][b] += v * design(other[i], std::int64_t(b));
                }
            }
            if (n <= 1.0) return;
            const double variance = (s2 - s1 * s1 / n) / (n - 1.0);
            for (std::size_t a = 0; a < r_; ++a) {
                size_[a] += s2 / (n - 1.0) * second[a][a], total_[a] += both[a] - s1 * first[a] / n;
                for (std::size_t b = 0; b <= a; ++b) spread_[a][b] += variance * (second[a][b] - first[a] * first[b] / n);
            }
        });
        solve();
    }

  private:
    static constexpr double RANK = 1e-13;  // of what is subtracted from to get a variance, below which it is rounding
    std::size_t r_;
    std::vector<double> total_, size_;
    Matrix<double> spread_;  // its lower triangle

    void solve() {
        for (std::size_t a = 0; a < r_; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                double left = spread_[a][b];
                for (std::size_t k = 0; k < b; ++k) left -= spread_[a][k] * spread_[b][k];
                spread_[a][b] = spread_[b][b] > 0.0 ? left / spread_[b][b] : 0.0;
            }
            double left = spread_[a][a], rest = total_[a];
            for (std::size_t k = 0; k < a; ++k) left -= spread_[a][k] * spread_[a][k], rest -= spread_[a][k] * total_[k];
            const bool found = left > RANK * size_[a];
            spread_[a][a] = found ? std::sqrt(left) : 0.0, total_[a] = found ? rest / spread_[a][a] : 0.0;
            value += total_[a] * total_[a], rank += found;
        }
    }
};

// M² and its degrees of freedom of each table; columns: of a design, one for variables whose levels have a score. Where neither has one: -1.
nb::object score_statistics(Ints x, Ints y, Ints start, Table2<const std::int64_t> cells, Ints levels, Ints columns) {
    const CellLists tables(start, cells);
    const std::size_t n = tables.size();
    const auto n_variables = int(levels.shape(0));
    check_variables(x, n_variables, "x"), check_variables(y, n_variables, "y");
    bool holds = x.shape(0) == n && y.shape(0) == n && columns.shape(0) == levels.shape(0);
    for (int v = 0; holds && v < n_variables; ++v) holds = columns.data()[v] == levels.data()[v] - 1 || (columns.data()[v] == 1 && levels.data()[v] > 1) || !columns.data()[v];
    if (!holds) throw std::invalid_argument("tables, levels and columns do not fit");
    std::vector<double> out(2 * n);
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t t = 0; t < n; ++t) {
            std::int64_t one = x.data()[t], other = y.data()[t];
            tables.check(tables.start.data()[t], tables.start.data()[t + 1], levels.data()[one], levels.data()[other]);
            const bool turned = columns.data()[one] > 1;
            if (turned) std::swap(one, other);
            if (columns.data()[one] > 1) {
                out[n + t] = -1.0;
            } else if (columns.data()[one] == 1 && columns.data()[other] > 0) {
                const Design scores(levels.data()[one], 1), design(levels.data()[other], columns.data()[other]);
                const Mantel found(tables, t, turned ? tables.y : tables.x, scores, turned ? tables.x : tables.y, design);
                out[t] = found.value, out[n + t] = found.rank;
            }
        }
    }
    return nb::cast(to_numpy(std::move(out), {2, n}));
}

}  // namespace

void bind_statistics(nb::module_& module) {
    module.def("number_slices", &number_slices, nb::arg("start"), nb::arg("cells"));
    module.def("contingency_statistics", &contingency_statistics, nb::arg("start"), nb::arg("cells"), nb::arg("n_levels"));
    module.def("score_statistics", &score_statistics, nb::arg("x"), nb::arg("y"), nb::arg("start"), nb::arg("cells"), nb::arg("levels"), nb::arg("columns"));
}

}  // namespace ibmap
