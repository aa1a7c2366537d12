#include "bayes.hpp"

#include <cstring>
#include <limits>
#include <numeric>

namespace ibmap {

namespace {

constexpr std::int64_t MOST_TOTALS = 1 << 21;  // numbers that tables of log Γ may hold for the sake of the totals of slices
constexpr std::size_t COUNTED = 1 << 16;       // counts that are made before they are scored
constexpr std::size_t ONE_BY_ONE = 16;         // a share of all ys that is looked at before all others at once: 1 in 16
constexpr int FEW_SETS = 4;                    // of which the last is not counted
constexpr double TOP = 1e100;                  // of a product that is taken down before it can overflow
constexpr int FACTORS = 512;                   // factors up to 2 that a product can take after that
constexpr double SMALL = 1e-290;               // below it a number loses digits

double stirling_rest(double z) {  // log Γ(z) - ((z - ½) log z - z + ½ log 2π), z >= 10
    const double w = 1.0 / (z * z);
    double series = 1.0 / 1188.0 - w * (691.0 / 360360.0 - w / 156.0);
    series = 1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w * series)));
    return series / z;
}

// log Γ(a + n) - log Γ(a) without cancellation: short products are multiplied out; long ones are, up to 10, and then
// the difference of Stirling's series.
double log_rising(double a, std::int64_t n) {
    double log_product = 0.0, product = 1.0;
    std::int64_t i = 0;
    for (; i < n && (n <= 64 || a < 10.0); ++i) {
        product *= a, a += 1.0;
        if (product > 1e200) log_product += std::log(product), product = 1.0;
    }
    log_product += std::log(product);
    if (i == n) return log_product;
    const double rest = double(n - i), b = a + rest;
    return log_product + ((b - 0.5) * std::log1p(rest / a) + rest * (std::log(a) - 1.0) + (stirling_rest(b) - stirling_rest(a)));
}

[[gnu::always_inline]] inline double log1p_of(double m) {  // log(1 + m), m >= 0
    const double u = 1.0 + m;
    return log_and(u, m < 2.0 ? m - (u - 1.0) : 0.0);  // what rounding 1 + m loses; of a large m it does not matter
}

// Eight sums side by side, as each addition waits for the one before; there is a multiple of 8.
double sum_of(std::span<const double> values) {
    double sums[8] = {};
    for (std::size_t i = 0; i < values.size(); i += 8)
        for (std::size_t k = 0; k < 8; ++k) sums[k] += values[i + k];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// (K - K_observed) / K; exactly 0 if all slices are observed.
double unseen_share(std::int64_t observed, double log_possible) {
    if (log_possible > 30.0) return 1.0 - double(observed) * std::exp(-log_possible);
    const double possible = std::floor(std::exp(log_possible) + 0.5);
    return (possible - double(observed)) / possible;
}

// Σ_k softplus(t_k) = above + log(1 + product), above = Σ max(t_k, 0), product = Π (1 + e^-|t_k|) - 1: what is kept is
// small where a posterior is near certainty, and loses no digit.
struct Sums {
    double above = 0.0, product = 0.0;

    void add_equal(double t, std::int64_t times) {  // slices of one row, where all t_k are alike
        if (!times) return;
        above += double(times) * std::max(t, 0.0);
        const double logs = double(times) * std::log1p(std::exp(-std::abs(t)));
        if (logs < 50.0) {
            const double others = std::expm1(logs);
            product += others + product * others;
        } else {
            above += logs;
        }
        lower();
    }
    void lower() {
        if (product > TOP) above += log1p_of(product), product = 0.0;
    }
    bool lost() const { return above == 0.0 && product < SMALL; }  // all t_k are so low that e^t_k has no digits
    double log_odds() const { return above + std::log(product - std::expm1(-above)); }  // log(e^(Σ softplus) - 1)
};

template <int L>  // levels above 0, if it is not 0
void add_cells(const double* table, const std::int32_t* counts, std::int32_t n, int n_levels, std::size_t stride, std::size_t from, double sign, double* d) {
    const int levels = L ? L : n_levels;
    for (std::size_t v = from; v < stride; ++v) {
        std::int32_t rest = n;
        double logs = 0.0;
        for (int l = 0; l < levels; ++l) {
            const std::int32_t count = counts[l * stride + v];
            logs += table[std::uint32_t(count)], rest -= count;
        }
        d[v] += sign * (logs + table[std::uint32_t(rest)]);
    }
}

}  // namespace

void add_all_cells(const double* table, const std::int32_t* counts, std::int32_t n, int n_levels, std::size_t stride, std::size_t from, double sign, double* d) {
    if (n_levels == 1) return add_cells<1>(table, counts, n, 1, stride, from, sign, d);
    if (n_levels == 2) return add_cells<2>(table, counts, n, 2, stride, from, sign, d);
    if (n_levels == 3) return add_cells<3>(table, counts, n, 3, stride, from, sign, d);
    add_cells<0>(table, counts, n, n_levels, stride, from, sign, d);
}

double log_one_minus_exp(double log_p) {
    return log_p > -0.6931471805599453 ? std::log(-std::expm1(log_p)) : std::log1p(-std::exp(log_p));
}

double Priors::of_rows(std::int64_t n) const {
    if (cell_total) return row_total[n] + column_total[n] - cell_total[n];
    return log_rising(row_sum, n) + log_rising(column_sum, n) - log_rising(cell_sum, n);
}

BayesModel::BayesModel(std::span<const std::int64_t> n_levels, std::int64_t rows, Table2<const double> log_prior, Table2<const double> cell,
                       Table2<const double> margin, bool every, bool one)
    : n(int(n_levels.size())), n_rows(rows), levels(n_levels.begin(), n_levels.end()), every_slice(every), one_factor(one),
      kind_levels_(levels) {
    std::sort(kind_levels_.begin(), kind_levels_.end());
    kind_levels_.erase(std::unique(kind_levels_.begin(), kind_levels_.end()), kind_levels_.end());
    n_kinds_ = kind_levels_.size();
    for (int r : levels) kind_.push_back(int(std::lower_bound(kind_levels_.begin(), kind_levels_.end(), r) - kind_levels_.begin()));
    auto copy = [&](Table2<const double> from, std::size_t size, const char* what) {
        if (from.shape(0) != size || from.shape(1) != size) throw std::invalid_argument(what);
        return std::vector<double>(from.data(), from.data() + size * size);
    };
    if (rows < 0 || rows >= std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("rows out of range");
    cell_ = copy(cell, n_kinds_, "one prior count for every two numbers of levels"), margin_ = copy(margin, n_kinds_, "one prior count for every two numbers of levels");
    log_prior_ = copy(log_prior, log_prior.shape(0) == 1 ? 1 : std::size_t(n), "one prior, or one for every pair");
    for (const auto* positive : {&cell_, &margin_})
        for (double a : *positive)
            if (!(a > 0.0)) throw std::invalid_argument("prior counts are positive");
    known_ = std::make_unique<Known[]>(n_kinds_ * n_kinds_);
}

const double* BayesModel::table(double parameter) const {
    const std::lock_guard lock(guard_);
    auto [at, is_new] = tables_.try_emplace(parameter);
    if (is_new) at->second = rising_table(parameter, n_rows);
    return at->second.data();
}

const Priors& BayesModel::priors(int x, int y) const {
    const std::size_t a = std::size_t(kind_[x]), b = std::size_t(kind_[y]);
    Known& known = known_[a * n_kinds_ + b];
    std::call_once(known.once, [&] {
        Priors& out = known.priors;
        const double cell = cell_[a * n_kinds_ + b], row = margin_[a * n_kinds_ + b], column = margin_[b * n_kinds_ + a];
        out.cell = table(cell), out.row = table(row), out.column = table(column);
        out.cell_sum = cell * kind_levels_[a] * kind_levels_[b], out.row_sum = row * kind_levels_[a], out.column_sum = column * kind_levels_[b];
        if (3 * std::int64_t(n_kinds_ * n_kinds_) * n_rows <= MOST_TOTALS)
            out.cell_total = table(out.cell_sum), out.row_total = table(out.row_sum), out.column_total = table(out.column_sum);
    });
    return known.priors;
}

double BayesModel::slice_odds(double log_prior, double log_slices) {
    const double lp = log_prior * std::exp(-log_slices);
    if (log_slices > 40.0) return std::log(-log_prior) - log_slices - lp;  // 1 - e^lp = -lp; K may exceed every float
    return log_one_minus_exp(lp) - lp;
}

double BayesModel::log_slices(Members given, std::int64_t without, std::int64_t observed) const {
    if (!every_slice) return std::log(double(std::max<std::int64_t>(observed, 1)));
    double total = 0.0;
    for (std::int64_t v : given)
        if (v != without) total += std::log(double(levels[v]));
    return total;
}

double BayesModel::log_odds(std::span<double> factors, std::int64_t n_single, double log_prior, double log_slices) const {
    const std::int64_t observed = std::int64_t(factors.size()) + n_single;
    if (!observed) return slice_odds(log_prior, 0.0);
    if (one_factor || (observed == 1 && !every_slice)) {
        double total = slice_odds(log_prior, 0.0);
        for (double d : factors) total += d;
        return total;
    }
    const double offset = slice_odds(log_prior, log_slices);
    Sums sums;
    double shares[64];
    for (std::size_t first = 0; first < factors.size(); first += 64) {
        const std::size_t n_some = std::min<std::size_t>(64, factors.size() - first);
        double* t = factors.data() + first;
        for (std::size_t k = 0; k < n_some; ++k) t[k] += offset, shares[k] = exp_below_zero(-std::abs(t[k]));
        for (std::size_t k = 0; k < n_some; ++k) sums.above += std::max(t[k], 0.0), sums.product += shares[k] + sums.product * shares[k];
        sums.lower();
    }
    sums.add_equal(offset, n_single);
    if (every_slice) sums.above -= log_prior * unseen_share(observed, log_slices);
    if (!sums.lost()) return sums.log_odds();
    double largest = n_single ? offset : -std::numeric_limits<double>::infinity();
    for (double t : factors) largest = std::max(largest, t);
    double total = n_single ? double(n_single) * std::exp(offset - largest) : 0.0;
    for (double t : factors) total += std::exp(t - largest);
    return largest + std::log(total);
}

double BayesCells::log_odds(int x, int y, Table2<const std::int64_t> table, std::int64_t begin, std::int64_t end, double log_slices) {
    const auto stride = std::int64_t(table.shape(1));
    const std::int64_t *slice = table.data(), *of_x = slice + stride, *of_y = of_x + stride, *rows = of_y + stride;
    const Priors& priors = model_.priors(x, y);
    const std::int64_t levels = model_.levels[y];
    if (std::int64_t(by_y_.size()) < levels) by_y_.resize(std::size_t(levels));
    factors_.clear();
    std::int64_t n_single = 0;
    for (std::int64_t i = begin; i < end;) {
        const std::int64_t first = i;
        std::int64_t n = 0;
        double d = 0.0;
        while (i < end && slice[i] == slice[first]) {  // a slice
            std::int64_t row = 0;
            for (const std::int64_t level = of_x[i]; i < end && slice[i] == slice[first] && of_x[i] == level; ++i) {
                if (of_y[i] < 0 || of_y[i] >= levels || rows[i] < 0 || (n += rows[i]) > model_.n_rows) throw std::invalid_argument("cells are of another table");
                d += priors.cell[rows[i]], row += rows[i], by_y_[of_y[i]] += rows[i];
            }
            d -= priors.row[row];
        }
        for (std::int64_t j = first; j < i; ++j) d -= priors.column[std::exchange(by_y_[of_y[j]], 0)];  // 0 when it comes again
        if (n > 1) factors_.push_back(d + priors.of_rows(n));
        n_single += n == 1;
    }
    const auto observed = std::int64_t(factors_.size()) + n_single;
    if (!model_.every_slice) log_slices = observed < 2 ? 0.0 : std::log(double(observed));
    return model_.log_odds(factors_, n_single, model_.log_prior(x, y), log_slices);
}

BayesRows::BayesRows(const BayesModel& model, const Table& table)
    : model_(model), table_(table), counts_of_(table), row_(3, padded(std::size_t(model.n), 8) + APART), t_(row_[0]), sigma_(row_[1]),
      exponentials_(row_[2]), width_(padded(std::size_t(model.n), 8)) {
    for (int v = 0; v < model.n; ++v) {
        if (model.levels[v] < 2) constants_.push_back(v);
        if (model.levels[v] > MOST_LEVELS) wide_.push_back(v);
    }
    for (const Block& block : table.blocks) {
        auto& runs = runs_.emplace_back();
        for (std::size_t i = 0; i < block.variables.size(); ++i) {
            if (!i || block.variables[i] != block.variables[i - 1] + 1) runs.push_back({i, std::size_t(block.variables[i]), 0});
            ++runs.back().size;
        }
    }
}

void BayesRows::ask(int x, Members given, bool and_members) {
    x_ = x, given_.assign(given.begin(), given.end());
    pairs_of_ = nullptr;
    counts_of_.ask(x, given, and_members);
    log_slices_ = model_.log_slices(given, -1, slices().n);
}

double BayesRows::log_odds(int y) {
    const int levels = model_.levels[y];
    if (levels < 2 || model_.levels[x_] < 2) return model_.prior_odds(x_, y);  // a constant says nothing
    const Slices& slices = this->slices();
    const Priors& priors = model_.priors(x_, y);
    const bool complete = table_.complete[y];
    if (by_y_.size() < std::size_t(levels)) by_y_.resize(std::size_t(levels));
    factors_.clear();
    std::int64_t n_single = 0;
    for (int k = 0; k < slices.n; ++k) {
        if (slices.size[k] == 1) {  // g = h, if its row knows y
            n_single += complete || !level_counts_.of(counts_of_, slices.first_set[k], y).empty();
            continue;
        }
        double d = 0.0;
        std::int32_t n = 0;
        seen_.clear();
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) {
            std::int32_t row = 0;
            for (const LevelCount& cell : level_counts_.of(counts_of_, s, y)) {
                d += priors.cell[cell.rows], row += cell.rows;
                if (!by_y_[cell.level]) seen_.push_back(cell.level);
                by_y_[cell.level] += cell.rows;
            }
            d -= priors.row[row], n += row;
        }
        for (int level : seen_) d -= priors.column[std::exchange(by_y_[level], 0)];
        if (n > 1) factors_.push_back(d + priors.of_rows(n));
        n_single += n == 1;
    }
    const auto observed = std::int64_t(factors_.size()) + n_single;
    const double log_slices = model_.every_slice ? log_slices_ : std::log(double(std::max<std::int64_t>(observed, 1)));
    return model_.log_odds(factors_, n_single, model_.log_prior(x_, y), log_slices);
}

std::span<const double> BayesRows::everyone(bool with_sigma) {
    with_sigma_ = with_sigma;
    if (model_.levels[x_] < 2) {
        for (int y = 0; y < model_.n; ++y) put_one(y, model_.prior_odds(x_, y));
    } else {
        for (std::size_t b = 0; b < table_.blocks.size(); ++b) block(b);
        for (int y : constants_) put_one(y, model_.prior_odds(x_, y));
        for (int y : wide_) put_one(y, log_odds(y));
    }
    t_[x_] = 0.0;
    return {t_, std::size_t(model_.n)};
}

void BayesRows::put_one(int y, double t) {
    t_[y] = t;
    if (with_sigma_) sigma_[y] = -softplus(t), exponentials_[y] = exp_below_zero(std::min(t, 0.0));
}

void BayesRows::block(std::size_t b) {
    const Block& block = table_.blocks[b];
    const Slices& slices = this->slices();
    if (block.first_level == 0) {  // with missing values the slices differ from y to y
        for (int y : block.variables) put_one(y, log_odds(y));
        return;
    }
    const std::size_t S = block.stride;
    const Priors& priors = model_.priors(x_, block.variables[0]);
    together_ = model_.one_factor || slices.n == 0 || (slices.n == 1 && !model_.every_slice);
    const double log_slices = together_ ? 0.0 : log_slices_;
    of_block_.reserve(6, S + APART);
    d_ = of_block_[0], offset_ = of_block_[1], above_ = of_block_[2], product_ = of_block_[3], of_sigma_ = of_block_[4], of_exponential_ = of_block_[5];
    std::fill_n(offset_, S, model_.one_prior() ? BayesModel::slice_odds(model_.log_prior(0, 0), log_slices) : 0.0);
    std::fill_n(above_, S, 0.0), std::fill_n(product_, S, 0.0), both_.resize(padded(block.width(), 64));
    if (!model_.one_prior()) {
        for (std::size_t v = 0; v < block.variables.size(); ++v) offset_[v] = BayesModel::slice_odds(model_.log_prior(x_, block.variables[v]), log_slices);
    }
    if (block.levels == 2) find_pairs(priors);
    const int most = int(std::max<std::size_t>(2, COUNTED / padded(block.width(), 64)));
    std::int64_t n_single = 0;
    for (int k = 0, since = 0; k < slices.n;) {
        if (slices.size[k] == 1) {
            ++n_single, ++k;
            continue;
        }
        const int first = slices.first_set[k];
        int stop = k + 1;
        while (stop < slices.n && slices.size[stop] > 1 && slices.first_set[stop + 1] - first <= most) ++stop;
        count(b, first, slices.first_set[stop]);
        for (; k < stop; ++k) {
            add_slice(block, priors, k, first);
            if (++since < FACTORS) continue;
            since = 0;
            for (std::size_t v = 0; v < S; ++v) {
                const bool large = product_[v] > TOP;
                above_[v] += large ? log1p_of(product_[v]) : 0.0, product_[v] = large ? 0.0 : product_[v];
            }
        }
    }
    put(b, n_single);
}

// Count some sets. If they are all rows of the table, the last of them has what the others leave.
void BayesRows::count(std::size_t b, int first, int last) {
    const Slices& slices = this->slices();
    left_over_ = -1;
    if (last - first > FEW_SETS || first || last < slices.n_sets() || std::accumulate(slices.size.begin(), slices.size.end(), std::int64_t(0)) < table_.n_rows)
        return counts_of_.count(b, first, last, counts_);
    left_over_ = last - 1;
    counts_of_.count(b, first, left_over_, counts_);
    const Block& block = table_.blocks[b];
    if (totals_.size() <= b) totals_.resize(table_.blocks.size());
    if (totals_[b].empty()) {
        totals_[b].assign(padded(block.width(), 64), 0);
        for (int l = 0; l < block.n_levels(); ++l)
            for (std::size_t i = 0; i < block.variables.size(); ++i)
                for (std::size_t w = 0; w < table_.n_words; ++w)
                    totals_[b][l * block.stride + i] += std::popcount(table_.bits(block.variables[i], block.first_level + l)[w]);
    }
    rest_.assign(totals_[b].begin(), totals_[b].end());
    const std::size_t width = block.width();
    std::int32_t* rest = rest_.data();
    for (int s = first; s < left_over_; ++s) {
        const std::int32_t* c = counts_[s - first];
        for (std::size_t i = 0; i < width; ++i) rest[i] -= c[i];
    }
    for (int l = 0; l < block.n_levels(); ++l)  // columns beyond the last variable mean nothing, but are looked up
        std::fill_n(rest_.begin() + long(l * block.stride + block.variables.size()), block.stride - block.variables.size(), 0);
}

// d_k of slice k for every y of a block, and what follows from it.
void BayesRows::add_slice(const Block& block, const Priors& priors, int k, int first) {
    const Slices& slices = this->slices();
    const int begin = slices.first_set[k], end = slices.first_set[k + 1];
    const std::size_t S = block.stride;
    auto counts_of = [&](int s) -> const std::int32_t* { return s == left_over_ ? rest_.data() : counts_[s - first]; };
    double *d = d_, start = priors.of_rows(slices.size[k]);
    for (int s = begin; s < end; ++s) start -= priors.row[slices.set_size[s]];
    std::int32_t* both = both_.data();
    if (block.levels == 2 && pairs_of_) {
        auto table = [&](int which) { return pairs_.data() + pairs_start_[which]; };
        const double *one = table(begin), *sum = table(slices.n_sets() + k);
        const std::int32_t* c = counts_of(begin);
        if (end - begin == 2) {
            const std::int32_t* c2 = counts_of(begin + 1);
            const double* two = table(begin + 1);
            for (std::size_t v = 0; v < S; ++v) d[v] = start + (one[std::uint32_t(c[v])] + two[std::uint32_t(c2[v])] - sum[std::uint32_t(c[v] + c2[v])]);
        } else {
            for (std::size_t v = 0; v < S; ++v) both[v] = c[v], d[v] = start + one[std::uint32_t(c[v])];
            for (int s = begin + 1; s < end; ++s) {
                const std::int32_t* more = counts_of(s);
                const double* of = table(s);
                for (std::size_t v = 0; v < S; ++v) both[v] += more[v], d[v] += of[std::uint32_t(more[v])];
            }
            for (std::size_t v = 0; v < S; ++v) d[v] -= sum[std::uint32_t(both[v])];
        }
    } else if (block.levels == 2 && end - begin == 2) {
        const std::int32_t *c = counts_of(begin), *c2 = counts_of(begin + 1), n = slices.set_size[begin], n2 = slices.set_size[begin + 1];
        const double *cell = priors.cell, *column = priors.column;
        for (std::size_t v = 0; v < S; ++v) {
            const double columns = column[std::uint32_t(c[v] + c2[v])] + column[std::uint32_t(n + n2 - c[v] - c2[v])];
            const double one = cell[std::uint32_t(c[v])] + cell[std::uint32_t(n - c[v])], two = cell[std::uint32_t(c2[v])] + cell[std::uint32_t(n2 - c2[v])];
            d[v] = start + (one + two - columns);
        }
    } else {
        const std::size_t width = block.width();
        std::fill_n(d, S, start), std::fill_n(both, width, 0);
        for (int s = begin; s < end; ++s) {
            const std::int32_t* c = counts_of(s);
            add_all_cells(priors.cell, c, slices.set_size[s], block.n_levels(), S, 0, 1.0, d);
            for (std::size_t i = 0; i < width; ++i) both[i] += c[i];
        }
        add_all_cells(priors.column, both, slices.size[k], block.n_levels(), S, 0, -1.0, d);
    }
    double *above = above_, *product = product_;
    const double* offset = offset_;
    if (together_) {
        for (std::size_t v = 0; v < S; ++v) above[v] += d[v];
        return;
    }
    for (std::size_t v = 0; v < S; ++v) {
        const double t = offset[v] + d[v], share = exp_below_zero(t < 0.0 ? t : -t);
        above[v] += t > 0.0 ? t : 0.0;
        product[v] += share + product[v] * share;
    }
}

// A y of two levels makes two cells of every set and slice: where there are many ys, their logarithms are added up before.
void BayesRows::find_pairs(const Priors& priors) {
    if (pairs_of_ == &priors) return;
    pairs_of_ = nullptr;
    const Slices& slices = this->slices();
    if (2.0 * slices.n * model_.n < double(model_.n_rows)) return;
    pairs_of_ = &priors, pairs_start_.clear();
    std::size_t end = 0;
    auto add = [&](const std::vector<int>& sizes, const double* of) {
        for (int size : sizes) {
            pairs_start_.push_back(end);
            if (pairs_.size() < end + std::size_t(size) + 1) pairs_.resize(2 * end + std::size_t(size) + 1024);
            double* table = pairs_.data() + end;
            for (int c = 0; c <= size; ++c) table[c] = of[c] + of[size - c];
            end += std::size_t(size) + 1;
        }
    };
    add(slices.set_size, priors.cell), add(slices.size, priors.column);
}

// t of every y of a block, from the sums over its slices; and σ and e^t, or 1 if that is less.
void BayesRows::put(std::size_t index, std::int64_t n_single) {
    const Block& block = table_.blocks[index];
    const std::size_t S = block.stride, m = block.variables.size();
    double *above = above_, *product = product_, *t = d_, *sigma = of_sigma_, *exponential = of_exponential_;
    const double* offset = offset_;
    if (together_) {
        for (std::size_t v = 0; v < S; ++v) t[v] = offset[v] + above[v];
        const std::size_t wanted = with_sigma_ ? S : 0;
        for (std::size_t v = 0; v < wanted; ++v) {
            const double share = exp_below_zero(t[v] < 0.0 ? t[v] : -t[v]), u = 1.0 + share;
            sigma[v] = (t[v] < 0.0 ? 0.0 : -t[v]) - log_and(u, share - (u - 1.0)), exponential[v] = t[v] < 0.0 ? share : 1.0;
        }
    } else if (model_.every_slice || !model_.one_prior()) {
        for (std::size_t v = 0; v < m; ++v) {
            Sums sums{above[v], product[v]};
            sums.add_equal(offset[v], n_single);
            if (model_.every_slice) sums.above -= model_.log_prior(x_, block.variables[v]) * unseen_share(slices().n, log_slices_);
            put_one(block.variables[v], sums.lost() ? log_odds(block.variables[v]) : sums.log_odds());
        }
        return;
    } else {
        Sums singles;
        singles.add_equal(offset[0], n_single);
        const double singles_above = singles.above, singles_product = singles.product;
        for (std::size_t v = 0; v < S; ++v) {
            above[v] += singles_above, product[v] += singles_product + product[v] * singles_product;
            const double rest = exp_below_zero(-above[v]), sum = product[v] + (1.0 - rest);  // where above is not 0, the product is near 1: nothing cancels
            t[v] = above[v] + log_of(sum > SMALL ? sum : 1.0);
            exponential[v] = t[v] < 0.0 ? sum / rest : 1.0;
        }
        const std::size_t wanted = with_sigma_ ? S : 0;
        for (std::size_t v = 0; v < wanted; ++v) sigma[v] = -(above[v] + log1p_of(product[v]));
    }
    for (const Run& run : runs_[index]) {
        std::copy_n(t + run.position, run.size, t_ + run.variable);
        if (with_sigma_) std::copy_n(sigma + run.position, run.size, sigma_ + run.variable), std::copy_n(exponential + run.position, run.size, exponentials_ + run.variable);
    }
    if (together_) return;
    bool lost = false;  // where e^t_k have no digits
    for (std::size_t v = 0; v < S; ++v) lost |= above[v] + product[v] < SMALL;
    for (std::size_t v = 0; lost && v < m; ++v)
        if (above[v] + product[v] < SMALL) put_one(block.variables[v], log_odds(block.variables[v]));
}

// Calls each(j, t of member j), while that is true. The slices of the others are sums of slices that are there, and a slice has
// one level of the member: nothing is counted.
template <class Each>
void BayesRows::for_each_member(Each each) {
    const Slices& slices = this->slices();
    if (by_level_.size() < std::size_t(model_.levels[x_])) by_level_.resize(std::size_t(model_.levels[x_]));
    const Priors* known = nullptr;
    groups_.without_each(slices, [&](int j) {
        const int y = int(given_[j]);
        if (std::min(model_.levels[x_], model_.levels[y]) < 2) return each(j, model_.prior_odds(x_, y));
        const Priors& priors = model_.priors(x_, y);
        if (known != &priors) {  // of a slice: its cells, and its margin, which is a level of the member
            known = &priors, of_slice_.clear();
            for (int k = 0; k < slices.n; ++k) {
                double d = -priors.column[slices.size[k]];
                for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) d += priors.cell[slices.set_size[s]];
                of_slice_.push_back(d);
            }
        }
        factors_.clear();
        std::int64_t n_single = 0;
        const auto& after = groups_.next;
        for (int head : groups_.first) {
            double d = 0.0;
            int n = 0;
            if (after[head] < 0) {  // alone: the levels of x are as they were
                n = slices.size[head], d = of_slice_[head];
                for (int s = slices.first_set[head]; s < slices.first_set[head + 1]; ++s) d -= priors.row[slices.set_size[s]];
            } else {
                for (int k = head; k >= 0; k = after[k]) {
                    d += of_slice_[k], n += slices.size[k];
                    for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) by_level_[slices.set_level[s]] += slices.set_size[s];
                }
                for (int k = head; k >= 0; k = after[k])
                    for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) d -= priors.row[std::exchange(by_level_[slices.set_level[s]], 0)];
            }
            if (n > 1) factors_.push_back(d + priors.of_rows(n));
            n_single += n == 1;
        }
        return each(j, model_.log_odds(factors_, n_single, model_.log_prior(x_, y), model_.log_slices(given_, y, groups_.n)));
    });
}

std::span<const double> BayesRows::members() {
    inside_.resize(given_.size());
    for_each_member([&](int j, double t) {
        inside_[j] = t;
        return true;
    });
    return inside_;
}

std::int64_t BayesRows::first_independent_member(double margin) {
    std::int64_t found = -1;
    for_each_member([&](int j, double t) {
        if (is_independent(int(given_[j]), t, margin)) found = j;
        return found < 0;
    });
    return found;
}

std::int64_t BayesRows::first_dependent(std::span<const std::int64_t> ys, double margin) {
    const bool many = 8 * ys.size() > std::size_t(model_.n);
    std::span<const double> t;
    for (std::size_t i = 0; i < ys.size(); ++i) {
        if (many && i == 4 + std::size_t(model_.n) / ONE_BY_ONE) t = everyone();
        const auto y = int(ys[i]);
        if (!is_independent(y, t.empty() ? log_odds(y) : t[std::size_t(y)], margin)) return std::int64_t(i);
    }
    return -1;
}

Row BayesRows::row(double floor, std::span<const std::int64_t> also) {
    everyone(true);
    const auto inside = members();
    const std::size_t n = std::size_t(model_.n), width = width_;
    listed_.resize(width);
    for (std::size_t j = 0; j < given_.size(); ++j) t_[given_[j]] = inside[j];
    double *sigma = sigma_, *exponential = exponentials_;
    const double* t = t_;
    for (std::size_t y = 0; y < width; ++y) exponential[y] = t[y] > floor ? 0.0 : exponential[y];
    std::uint8_t* flags = listed_.data();
    for (std::size_t y = 0; y < width; ++y) flags[y] = t[y] > floor;
    auto list = [&](std::int64_t y, bool is_listed) { listed_[y] = is_listed, exponential[y] = 0.0; };
    for (std::size_t j = 0; j < given_.size(); ++j) sigma[given_[j]] = -softplus(-inside[j]), list(given_[j], true);
    for (std::int64_t y : also) list(y, true);
    sigma[x_] = 0.0, list(x_, false);
    for (std::size_t y = n; y < width; ++y) sigma[y] = 0.0, list(std::int64_t(y), false);
    Row out;
    out.value = sum_of({sigma, width}), out.rest = sum_of({exponential, width});
    if (floor == -std::numeric_limits<double>::infinity()) {  // everybody
        out.y.resize(n - 1), out.t.resize(n - 1);
        for (std::size_t y = 0, i = 0; y < n; ++y)
            if (std::int64_t(y) != x_) out.y[i] = std::int32_t(y), out.t[i++] = t[y];
        return out;
    }
    for (std::size_t first = 0; first < width; first += 8) {
        std::uint64_t some;  // eight flags at a time: most are 0
        std::memcpy(&some, listed_.data() + first, 8);
        for (; some; some &= some - 1) {
            const std::size_t y = first + std::size_t(std::countr_zero(some)) / 8;
            out.y.push_back(std::int32_t(y)), out.t.push_back(t[y]);
        }
    }
    return out;
}

Row BayesRows::row_of_members() {
    Row out;
    const auto inside = members();
    out.y.assign(given_.begin(), given_.end()), out.t.assign(inside.begin(), inside.end());
    for (double t : inside) out.value -= softplus(-t);
    return out;
}

}  // namespace ibmap
