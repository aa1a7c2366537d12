#include "mixed_rows.hpp"

#include "bind.hpp"
#include "lists.hpp"
#include "pool.hpp"
#include "rows.hpp"
#include "spare.hpp"

#include <numeric>

namespace ibmap {

namespace {

const double ROOT2 = std::sqrt(2.0), BENT = std::log(0.05), STRAIGHT = std::log(0.95);  // log shares of numbers with two columns, and with one

double prior_of_scale(int k) {  // each a fourth as likely as the one before
    static const double whole = std::log((1.0 - std::pow(0.25, 6)) / 0.75);
    return -k * std::log(4.0) - whole;
}

double log_sum(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

}  // namespace

double MixedRows::rise(int levels, double n) {
    const double a = PRIOR_COUNT * levels;
    if (!table_.is_whole) return std::lgamma(a + n) - std::lgamma(a);
    if (std::size_t(levels) >= rising_.size()) rising_.resize(std::size_t(levels) + 1);
    if (rising_[levels].empty()) rising_[levels] = rising_table(a, std::min(std::int64_t(table_.total), Rising::MOST));
    const auto at = std::size_t(n);
    return at < rising_[levels].size() ? rising_[levels][at] : std::lgamma(a + n) - std::lgamma(a);
}

bool MixedRows::Scales::add(double value) {
    const int k = int(values.size());
    const double now = value + prior_of_scale(k), highest = k ? values[best] + prior_of_scale(best) : now;
    values.push_back(value);
    if (now > highest) best = k;
    return k + 1 < SCALES && now >= highest - GIVE_UP;
}

void MixedRows::Scales::finish() {
    log_share.clear();
    for (std::size_t k = 0; k < values.size(); ++k) log_share.push_back(values[k] + prior_of_scale(int(k)));
    const double highest = *std::max_element(log_share.begin(), log_share.end());
    double sum = 0.0;
    for (double one : log_share) sum += std::exp(one - highest);
    total = highest + std::log(sum);
    for (double& one : log_share) one -= total;
}

void MixedRows::Scales::all_alike(double value) {
    values.assign(SCALES, value), best = 0;
    finish();
}

double MixedRows::Scales::mean(const double* t, std::size_t stride) const {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (std::size_t k = 0; k < log_share.size(); ++k) highest = std::max(highest, log_share[k] + t[k * stride]);
    for (std::size_t k = 0; k < log_share.size(); ++k) sum += exp_below_zero(log_share[k] + t[k * stride] - highest);
    return highest + std::log(sum);
}

double MixedRows::Scales::without(const double* t, std::size_t stride) const {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (std::size_t k = 0; k < log_share.size(); ++k) highest = std::max(highest, log_share[k] - t[k * stride]);
    for (std::size_t k = 0; k < log_share.size(); ++k) sum += exp_below_zero(log_share[k] - t[k * stride] - highest);
    return -highest - std::log(sum);
}

Row MixedRows::row(int x, Members blanket, std::span<const double> odds, const Wanted& wanted) {
    const bool everyone = !wanted.exact && (wanted.floor < std::numeric_limits<double>::infinity() || !wanted.also.empty());
    auto odds_of = [&](std::int64_t y) { return odds.size() == 1 ? odds[0] : odds[std::size_t(y)]; };
    std::fill(t_.begin(), t_.end(), 0.0);
    double value = 0.0;
    if (table_.columns_of(x)) value = table_.is_number(x) ? numbers_row(x, blanket, everyone) : levels_row(x, blanket, everyone, wanted);
    Row out;
    std::fill(listed_.begin(), listed_.end(), 0);
    for (std::int64_t y : blanket) listed_[y] = 1, value += odds_of(y);
    out.value = value / 2;  // two conditionals of a pair say nearly the same: each end counts half
    if (everyone)
        for (std::int64_t y : wanted.also) listed_[y] = 1;
    for (int y = 0; y < table_.n; ++y) {
        if (y == x) continue;
        const double t = t_[y] + odds_of(y);
        if (listed_[y] || (everyone && t > wanted.floor)) out.y.push_back(y), out.t.push_back(t);
        else if (everyone) out.rest += exp_below_zero(std::min(t, 0.0));
    }
    return out;
}

// --- x is a number

// Centred products of x and of all columns of its members (rows of products_) with every column.
void MixedRows::find_products(int x, Members members) {
    std::vector<int> columns{table_.first[x]};
    const bool complete = table_.known[x].empty();
    for (std::int64_t m : members)
        for (int j = 0; j < table_.columns_of(int(m)); ++j) columns.push_back(table_.first[m] + j);
    const int n_functions = int(columns.size()), P = table_.n_columns;
    inner_of_rows_.clear();
    products_.resize(n_functions, P);
    const double* sums = table_.gram[0];
    total_ = table_.total;
    if (!complete) {  // of the rows that know x
        functions_.resize(n_functions + 1, std::size_t(table_.n_rows));
        for (std::int64_t i = 0; i < table_.n_rows; ++i) {
            if (!table_.known[x][i]) continue;
            functions_[0][i] = table_.weight[i], functions_[1][i] = table_.weight[i] * table_.entry(i, x, 0);
            int at = 2;
            for (std::int64_t m : members)
                for (int j = 0; j < table_.columns_of(int(m)); ++j) functions_[at++][i] = table_.weight[i] * table_.entry(i, int(m), j);
        }
        table_.products(functions_, n_functions + 1, raw_);
        sums = raw_[0], total_ = std::max(raw_[0][0], 1e-300);
        for (int v = 0; v < table_.n; ++v) {
            const int r = table_.columns_of(v);
            const std::size_t start = inner_of_rows_.size();
            inner_of_rows_.resize(start + std::size_t(r) * r, 0.0);
            for (std::int64_t i = 0; i < table_.n_rows; ++i) {
                const double w = functions_[0][i];
                if (w == 0.0) continue;
                for (int j = 0; j < r; ++j)
                    for (int k = 0; k < r; ++k) inner_of_rows_[start + std::size_t(j) * r + k] += w * table_.entry(i, v, j) * table_.entry(i, v, k);
            }
            for (int j = 0; j < r; ++j)
                for (int k = 0; k < r; ++k) inner_of_rows_[start + std::size_t(j) * r + k] -= sums[table_.first[v] + j] * sums[table_.first[v] + k] / total_;
        }
    }
    for (int f = 0; f < n_functions; ++f) {
        const double* raw = complete ? table_.gram[columns[f]] : raw_[f + 1];
        const double mean = raw[0] / total_;
        for (int c = 0; c < P; ++c) products_[f][c] = raw[c] - mean * sums[c];
    }
}

double MixedRows::inner(int v, int i, int j) const {  // centred product of two columns of a variable
    const int a = table_.first[v] + i, b = table_.first[v] + j;
    if (inner_of_rows_.empty()) return table_.gram[a][b] - table_.gram[0][a] * table_.gram[0][b] / table_.total;
    std::size_t start = 0;
    for (int u = 0; u < v; ++u) start += std::size_t(table_.columns_of(u)) * table_.columns_of(u);
    return inner_of_rows_[start + std::size_t(i) * table_.columns_of(v) + j];
}

// found.at: rows of products_, and after them the columns that these are: (row, column).
void MixedRows::regress(Regression& found, double precision) {
    const int k = int(found.at.size()) / 2;
    const int* row = found.at.data();
    const int* column = row + k;
    found.factor.resize(std::max(k, 1), std::max(k, 1)), found.effect.resize(k);
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j <= i; ++j) found.factor[i][j] = products_[row[i]][column[j]];
        found.factor[i][i] += precision, found.effect[i] = ROOT2 * products_[0][column[i]];
    }
    cholesky(found.factor, k);
    solve_lower(found.factor, k, found.effect.data());
    found.rss = std::max(found.tss - dot(found.effect.data(), found.effect.data(), k), 1e-10 * found.tss);
    solve_upper(found.factor, k, found.effect.data());
    found.value = -0.5 * (log_determinant(found.factor, k) - k * std::log(precision)) - 0.5 * degrees_ * std::log(found.rss / found.tss);
}

// What r more columns gain whose information is small_ (without the prior) and whose score is u.
double MixedRows::gain(const Regression& now, const double* u, int r, double precision) {
    double explained, log_det;
    if (r == 1) {
        explained = u[0] * u[0] / (small_[0][0] + precision), log_det = std::log1p(small_[0][0] / precision);
    } else {
        parts_.reserve(r, r), u_.assign(u, u + r);
        for (int i = 0; i < r; ++i) {
            std::copy_n(small_[i], i + 1, parts_[i]);
            parts_[i][i] += precision;
        }
        cholesky(parts_, r);
        solve_lower(parts_, r, u_.data());
        explained = dot(u_.data(), u_.data(), r), log_det = log_determinant(parts_, r) - r * std::log(precision);
    }
    return -0.5 * log_det - 0.5 * degrees_ * std::log1p(-std::min(explained / now.rss, 1.0 - 1e-10));
}

double MixedRows::numbers_row(int x, Members members, bool everyone) {
    const double at_first = 2.0 * PRECISION;
    const int n_members = int(members.size()), n = table_.n;
    find_products(x, members);
    Regression& now = regression_;
    const double tss = 2.0 * products_[0][table_.first[x]];
    if (!(tss > 1e-9 * total_)) return 0.0;
    now.tss = tss * (1.0 + table_.prior_rows / total_);
    degrees_ = total_ - 1.0 + table_.prior_rows;
    std::vector<int> row_of_member{1};
    for (std::int64_t m : members) row_of_member.push_back(row_of_member.back() + table_.columns_of(int(m)));
    std::vector<int>& entering = entering_;  // columns of each member that enter
    std::vector<int> start{0};               // and where they begin
    entering.assign(n_members, 0);
    auto choose = [&] {
        std::vector<int> rows, columns;
        start.assign(1, 0);
        for (int m = 0; m < n_members; ++m) {
            for (int j = 0; j < entering[m]; ++j) rows.push_back(row_of_member[m] + j), columns.push_back(table_.first[members[m]] + j);
            start.push_back(int(rows.size()));
        }
        now.at = rows;
        now.at.insert(now.at.end(), columns.begin(), columns.end());
    };
    for (int m = 0; m < n_members; ++m) entering[m] = table_.is_number(int(members[m])) ? 1 : table_.columns_of(int(members[m]));
    choose();
    regress(now, at_first);
    double bonus = 0.0;
    std::vector<int> bent;
    for (int m = 0; m < n_members; ++m) {
        if (!table_.is_number(int(members[m]))) continue;
        const int row = row_of_member[m] + 1, column = table_.first[members[m]] + 1, k = int(now.at.size()) / 2;
        block_.resize(k);
        double u = ROOT2 * products_[0][column];
        for (int i = 0; i < k; ++i) block_[i] = products_[now.at[i]][column], u -= now.effect[i] * block_[i];
        solve_lower(now.factor, k, block_.data());
        small_.reserve(1, 1);
        small_[0][0] = std::max(products_[row][column] - dot(block_.data(), block_.data(), k), 0.0);
        const bool takes = gain(now, &u, 1, at_first) > STRAIGHT - BENT;
        bonus += takes ? BENT : STRAIGHT;
        if (takes) bent.push_back(m);
    }
    for (int m : bent) entering[m] = 2;
    choose();
    Scales scales;
    by_scale_.resize(SCALES, std::size_t(n));
    const int k = int(now.at.size()) / 2, P = table_.n_columns;
    auto judge = [&](int scale, double precision) {
        double* t = by_scale_[scale];
        for (int m = 0; m < n_members; ++m) {
            const int r = entering[m];
            parts_.resize(std::max(r, 1), std::max(k, 1)), small_.reserve(std::max(r, 1), std::max(r, 1)), block_.resize(r);
            for (int j = 0; j < r; ++j) parts_[j][start[m] + j] = 1.0, solve_lower(now.factor, k, parts_[j]), block_[j] = now.effect[start[m] + j];
            for (int i = 0; i < r; ++i)
                for (int j = 0; j <= i; ++j) small_[i][j] = dot(parts_[i], parts_[j], k);
            cholesky(small_, r);
            solve_lower(small_, r, block_.data());
            const double log_det = log_determinant(small_, r) + r * std::log(precision);
            const double more = now.rss + dot(block_.data(), block_.data(), r);
            t[members[m]] = 0.5 * log_det - 0.5 * degrees_ * std::log(now.rss / more);
        }
        if (!everyone) return;
        left_.reserve(k + 1, P);  // products with every column of what the members leave; the last is of x
        double* u = left_[k];
        for (int c = 0; c < P; ++c) u[c] = ROOT2 * products_[0][c];
        for (int i = 0; i < k; ++i) {
            const double *mine = products_[now.at[i]], effect = now.effect[i], scale_of = 1.0 / now.factor[i][i];
            double* out = left_[i];
            for (int c = 0; c < P; ++c) u[c] -= effect * mine[c], out[c] = mine[c];
            for (int j = 0; j < i; ++j) {
                const double *other = left_[j], factor = now.factor[i][j];
                for (int c = 0; c < P; ++c) out[c] -= factor * other[c];
            }
            for (int c = 0; c < P; ++c) out[c] *= scale_of;
        }
        std::size_t at = 0;
        for (int y = 0; y < n; ++y) {
            const int r = table_.columns_of(y), first = table_.first[y];
            const std::size_t begin = at;
            at += std::size_t(r) * r;
            if (y == x || std::ranges::find(members, y) != members.end()) continue;
            small_.reserve(std::max(r, 1), std::max(r, 1));
            for (int i = 0; i < r; ++i)
                for (int j = 0; j <= i; ++j) {
                    double sum = inner_of_rows_.empty() ? inner(y, i, j) : inner_of_rows_[begin + std::size_t(i) * r + j];
                    for (int c = 0; c < k; ++c) sum -= left_[c][first + i] * left_[c][first + j];
                    small_[i][j] = i == j ? std::max(sum, 0.0) : sum;
                }
            if (!r) continue;
            const double all = gain(now, u + first, r, precision);
            t[y] = table_.is_number(y) ? log_sum(STRAIGHT + gain(now, u + first, 1, precision), BENT + all) : all;
        }
    };
    for (int scale = 0; scale < SCALES; ++scale) {
        const double precision = at_first / std::pow(4.0, scale);
        regress(now, precision);
        judge(scale, precision);
        if (k ? !scales.add(now.value) : (scales.add(0.0), false)) break;
    }
    scales.finish();
    if (k && scales.best + 1 < int(scales.values.size())) regress(now, at_first / std::pow(4.0, scales.best));
    for (int y = 0; y < n; ++y) t_[y] = scales.mean(by_scale_[0] + y, by_scale_.stride());
    for (int m = 0; m < n_members; ++m) {
        const int y = int(members[m]);
        t_[y] = scales.without(by_scale_[0] + y, by_scale_.stride());
        if (table_.is_number(y)) t_[y] += entering[m] == 2 ? BENT : STRAIGHT;
    }
    return scales.total + bonus;
}

// --- x has levels

// Rows with the same levels of all members are a slice; where a member is a number, every row is one.
bool MixedRows::knows(std::int64_t row, int x, Members known_by) const {
    bool known = table_.weight[row] > 0.0 && (table_.known[x].empty() || table_.known[x][row]);
    for (std::int64_t m : known_by) known = known && (table_.known[m].empty() || table_.known[m][row]);
    return known;
}

void MixedRows::find_slices(Levels& found, int x, Members members, Members known_by) {
    constexpr double FEW = 1 << 16;
    double configurations = 1.0;
    for (std::int64_t m : members) configurations *= table_.is_number(int(m)) ? FEW + 1 : table_.levels[m] + 1;
    const bool own = configurations > FEW;
    slice_of_key_.assign(own ? 0 : std::size_t(configurations), -1);
    found.slice.assign(std::size_t(table_.n_rows), -1);
    key_.clear();  // a row of each slice
    for (std::int64_t i = 0; i < table_.n_rows; ++i) {
        if (!knows(i, x, known_by)) continue;
        if (own) {
            found.slice[i] = int(key_.size()), key_.push_back(int(i));
            continue;
        }
        int key = 0;
        for (std::int64_t m : members) key = key * (table_.levels[m] + 1) + table_.code(i, int(m));
        if (slice_of_key_[key] < 0) slice_of_key_[key] = int(key_.size()), key_.push_back(int(i));
        found.slice[i] = slice_of_key_[key];
    }
}

void MixedRows::fill(LogLinear& model, Levels& found, int x, Members members) {
    std::vector<int> first{1};
    for (int columns : found.columns) first.push_back(first.back() + columns);
    model.shape(table_.contrasts_of(x), table_.effects_of(x), std::move(first), int(key_.size()));
    for (std::size_t m = 0; m < members.size(); ++m)
        for (int j = 0; j < found.columns[m]; ++j) {
            double* out = model.design[model.first[m] + j];
            for (std::size_t s = 0; s < key_.size(); ++s) out[s] = table_.entry(key_[s], int(members[m]), j);
        }
    found.n_known = 0.0;
    for (std::int64_t i = 0; i < table_.n_rows; ++i) {
        const int s = found.slice[i];
        if (s < 0) continue;
        const double w = table_.weight[i];
        model.rows[s] += w, model.counts[table_.code(i, x)][s] += w, found.n_known += w;
    }
}

void MixedRows::fill(LargeModel& model, Levels& found, int x, Members members) {
    static const Coding ITSELF{1, 1, {1.0}};
    std::vector<int> first{1}, column_of;  // column_of: of a number
    std::vector<const Coding*> parts;
    std::vector<std::int64_t> member_of;
    for (std::size_t m = 0; m < members.size(); ++m) {
        const int y = int(members[m]);
        first.push_back(first.back() + found.columns[m]);
        for (int j = 0; j < (table_.is_number(y) ? found.columns[m] : 1); ++j)
            parts.push_back(table_.is_number(y) ? &ITSELF : &table_.effects_and_mean_of(y)), member_of.push_back(y), column_of.push_back(j);
    }
    model.shape(table_.contrasts_of(x), std::move(parts), std::move(first), int(key_.size()));
    for (std::size_t s = 0; s < key_.size(); ++s)
        for (std::size_t p = 0; p < member_of.size(); ++p) {
            const int y = int(member_of[p]);
            if (table_.is_number(y)) model.put(int(s), int(p), 0, table_.entry(key_[s], y, column_of[p]));
            else model.put(int(s), int(p), table_.code(key_[s], y), 1.0);
        }
    found.n_known = 0.0;
    for (std::int64_t i = 0; i < table_.n_rows; ++i) {
        const int s = found.slice[i];
        if (s < 0) continue;
        model.count(s, table_.code(i, x), table_.weight[i]), found.n_known += table_.weight[i];
    }
}

namespace {

// Start a model at the effects of another, whose members begin at `first`: member m is member old[m] of that one. Columns that it lacks
// have no effect.
template <class Model, class Theta>
void begin_at(Model& model, const Theta& theta, const std::vector<int>& first, const std::vector<int>& old) {
    constexpr bool flat = std::is_same_v<Model, LogLinear>;
    const int n = flat ? int(first.back()) - 1 : 0;
    if constexpr (flat) model.theta.assign(model.size, 0.0), std::copy_n(theta.begin(), model.q, model.theta.begin());
    else {
        model.theta.resize(model.q, model.width);
        for (int a = 0; a < model.q; ++a) model.theta[a][0] = theta[a][0];
    }
    for (std::size_t m = 0; m < old.size(); ++m) {
        const int from = first[old[m]], both = std::min(model.first[m + 1] - model.first[m], first[old[m] + 1] - from);
        if constexpr (flat)
            for (int f = 0; f < model.e; ++f) std::copy_n(theta.begin() + model.q + f * n + from - 1, both, model.theta.begin() + model.effect_at(f, model.first[m]));
        else
            for (int a = 0; a < model.q; ++a) std::copy_n(theta[a] + from, both, model.theta[a] + model.first[m]);
    }
}

}  // namespace

// Which members that are numbers enter with their square: it has evidence beside what is there.
std::vector<bool> MixedRows::find_bent(const LogLinear& model, Levels& found, int x, Members members) {
    std::vector<bool> bent(members.size());
    std::vector<Columns> squares;
    for (std::int64_t m : members)
        if (table_.is_number(int(m))) squares.push_back({int(m), 1, 1, int(squares.size()), int(squares.size())});
    if (!squares.empty()) find_sums(found, squares);
    for (std::size_t m = 0, next = 0; m < members.size(); ++m) {
        if (!table_.is_number(int(members[m]))) continue;
        const Columns& square = squares[next++];
        assemble(model, square);
        give_to(model, model.e, model.factor);
        u_.assign(model.e, 0.0);
        for (std::int64_t i = 0; i < table_.n_rows; ++i)
            if (const int s = found.slice[i]; s >= 0)
                for (int f = 0; f < model.e; ++f)
                    u_[f] += table_.weight[i] * table_.entry(i, square.y, 1) * (model.effect_coding()(table_.code(i, x), f) - model.mean[f][s]);
        bent[m] = step(model.e, PRECISION) > STRAIGHT - BENT;
    }
    return bent;
}

std::vector<bool> MixedRows::find_bent(const LargeModel&, Levels& found, int x, Members members) {
    std::vector<bool> bent(members.size());
    if (std::ranges::none_of(members, [&](std::int64_t m) { return table_.is_number(int(m)); })) return bent;
    double mean_weight = 0.0;
    const int e = find_scores(found, x, mean_weight), k = find_left(found, members, PRECISION / mean_weight);
    by_scale_.resize(SCALES, 2);
    for (std::size_t m = 0; m < members.size(); ++m) {
        if (!table_.is_number(int(members[m]))) continue;
        judge(found, e, k, table_.first[members[m]] + 1, 1, 1, 0);
        bent[m] = by_scale_[0][0] > STRAIGHT - BENT;
    }
    return bent;
}

// known_by: members and others, all of which a row must know. other, old: a model to begin with, and which of its members each member is: then only the value is
// found; or none.
void MixedRows::fit(Levels& found, int x, Members members, Members known_by, const Levels* other, const std::vector<int>& old) {
    found.is_large = table_.kind[x] == Kind::nominal && table_.columns_of(x) * table_.most_columns > LARGE;
    if (found.is_large) fit_model(found.large, found, x, members, known_by, other ? &other->large : nullptr, old);
    else fit_model(found.model, found, x, members, known_by, other ? &other->model : nullptr, old);
}

template <class Model>
void MixedRows::fit_model(Model& model, Levels& found, int x, Members members, Members known_by, const Model* other, const std::vector<int>& old) {
    using Start = LogLinear::Start;
    auto at_scale = [](int k) { return Precision{VAGUE, PRECISION / std::pow(4.0, k), CLOSE}; };
    found.scales = {}, found.columns.clear();
    for (std::int64_t m : members) found.columns.push_back(table_.is_number(int(m)) ? 1 : table_.columns_of(int(m)));
    find_slices(found, x, members, known_by);
    fill(model, found, x, members);
    if (other) begin_at(model, other->theta, other->first, old);
    model.find_mode(at_scale(0), other ? Start::theta : Start::shares);
    found.inside.resize(SCALES, members.size());
    if (model.width == 1) {
        found.scales.all_alike(model.value);
        found.value = model.value;
        return;
    }
    double bonus = 0.0;
    const std::vector<bool> bent = find_bent(model, found, x, members);
    for (std::size_t m = 0; m < members.size(); ++m)
        if (table_.is_number(int(members[m]))) bonus += bent[m] ? BENT : STRAIGHT, found.columns[m] = bent[m] ? 2 : 1;
    if (std::ranges::find(bent, true) != bent.end()) {
        const auto theta = model.theta;
        const std::vector<int> first = model.first;
        std::vector<int> same(members.size());
        std::iota(same.begin(), same.end(), 0);
        fill(model, found, x, members);
        begin_at(model, theta, first, same);
        model.find_mode(at_scale(0), Start::theta);
    }
    auto best = model.theta;
    for (int k = 0; k < SCALES; ++k) {
        if (k) model.find_mode(at_scale(k), Start::mode);
        for (std::size_t m = 0; m < members.size() && !other; ++m) found.inside[k][m] = model.inside(int(m));
        const bool more = found.scales.add(model.value);
        if (found.scales.best == k) best = model.theta;
        if (!more) break;
    }
    if (!other && found.scales.best + 1 < int(found.scales.values.size())) {
        model.theta = best;
        model.find_mode(at_scale(found.scales.best), Start::theta);
    }
    found.scales.finish();
    found.value = found.scales.total + bonus;
}

// Of some columns outside: sums_ (columns, functions of x), squares_ (pairs of columns, weights of effects), over all rows. The functions are the
// weights, and after them the weights of effects times each column of the design. Rows go by in tiles that stay in the cache; where there are far fewer
// slices than rows, columns are first summed by slice.
void MixedRows::find_sums(const Levels& found, const std::vector<Columns>& asked) {
    constexpr int TILE = 256, A = 4, B = 4;
    const LogLinear& model = found.model;
    const int n_functions = model.n_weights + model.n_effect_weights * (model.width - 1), n_columns = asked.back().at + asked.back().r;
    const int n_pairs = asked.back().pairs_at + asked.back().r * (asked.back().r + 1) / 2, n_weights = model.n_effect_weights;
    const bool by_slice = model.n_slices <= table_.n_rows / 4;
    const std::int64_t length = by_slice ? model.n_slices : table_.n_rows;
    sums_.resize(n_columns, n_functions), squares_.resize(n_pairs, n_weights);
    functions_of_x_.reserve(n_functions, TILE), tile_.reserve(n_columns, TILE), tile_of_pairs_.reserve(n_pairs, TILE);
    if (by_slice) {
        y_columns_.resize(n_columns, length), y_pairs_.resize(n_pairs, length);
        for (const Columns& some : asked)
            for (std::int64_t i = 0; i < table_.n_rows; ++i) {
                const int s = found.slice[i];
                for (int j = 0, pair = some.pairs_at; j < some.r && s >= 0; ++j) {
                    const double wd = table_.weight[i] * table_.entry(i, some.y, some.first + j);
                    y_columns_[some.at + j][s] += wd;
                    for (int k = 0; k <= j; ++k, ++pair) y_pairs_[pair][s] += wd * table_.entry(i, some.y, some.first + k);
                }
            }
    }
    int slices[TILE];
    double weights[TILE];
    auto multiply = [&](const Matrix<double>& left, int n_left, const Matrix<double>& right, int n_right, int first_right, int size, Matrix<double>& out) {
        for (int i = 0; i < n_left; i += A)
            for (int j = 0; j < n_right; j += B) {
                const double *one[A], *other[B];
                double products[A][B];
                for (int a = 0; a < A; ++a) one[a] = left[std::min(i + a, n_left - 1)];
                for (int b = 0; b < B; ++b) other[b] = right[first_right + std::min(j + b, n_right - 1)];
                inner_products(one, other, size, products);
                for (int a = 0; a < A && i + a < n_left; ++a)
                    for (int b = 0; b < B && j + b < n_right; ++b) out[i + a][j + b] += products[a][b];
            }
    };
    for (std::int64_t start = 0; start < length; start += TILE) {
        const int size = int(std::min<std::int64_t>(TILE, length - start)), padded_size = int(padded(size, 8));
        for (int i = 0; i < padded_size; ++i) {  // rows that are not known weigh nothing; neither does what fills the last vector
            const int s = i >= size ? -1 : by_slice ? int(start + i) : found.slice[start + i];
            slices[i] = std::max(s, 0), weights[i] = s < 0 ? 0.0 : by_slice ? 1.0 : table_.weight[start + i];
        }
        for (int p = 0; p < model.n_weights; ++p)
            for (int i = 0; i < padded_size; ++i) functions_of_x_[p][i] = weights[i] * model.weight[p][slices[i]];
        for (int p = 0, at = model.n_weights; p < n_weights; ++p)
            for (int c = 1; c < model.width; ++c, ++at) {
                const double *w = functions_of_x_[model.first_effect_weight + p], *design = model.design[c];
                double* out = functions_of_x_[at];
                for (int i = 0; i < padded_size; ++i) out[i] = w[i] * design[slices[i]];
            }
        if (by_slice) {
            for (int c = 0; c < n_columns; ++c) std::copy_n(y_columns_[c] + start, size, tile_[c]), std::fill(tile_[c] + size, tile_[c] + padded_size, 0.0);
            for (int c = 0; c < n_pairs; ++c) std::copy_n(y_pairs_[c] + start, size, tile_of_pairs_[c]), std::fill(tile_of_pairs_[c] + size, tile_of_pairs_[c] + padded_size, 0.0);
        } else {
            for (const Columns& some : asked)
                for (int j = 0, pair = some.pairs_at; j < some.r; ++j) {
                    double* out = tile_[some.at + j];
                    table_.copy(some.y, some.first + j, start, size, out);
                    std::fill(out + size, out + padded_size, 0.0);
                    for (int k = 0; k <= j; ++k, ++pair) {
                        const double* other = tile_[some.at + k];
                        double* product = tile_of_pairs_[pair];
                        for (int i = 0; i < padded_size; ++i) product[i] = out[i] * other[i];
                    }
                }
        }
        multiply(tile_, n_columns, functions_of_x_, n_functions, 0, padded_size, sums_);
        multiply(tile_of_pairs_, n_pairs, functions_of_x_, n_weights, model.first_effect_weight, padded_size, squares_);
    }
}

// inner_ = information of some columns, cross_ = what they share with the parameters of the model.
void MixedRows::assemble(const LogLinear& model, const Columns& asked) {
    const int e = model.e, r = asked.r;
    cross_.resize(e * r, model.size), inner_.resize(e * r, e * r);
    for (int f = 0; f < e; ++f)
        for (int j = 0; j < r; ++j) {
            double *out = cross_[f * r + j], *inner = inner_[f * r + j];
            const double* sums = sums_[asked.at + j];
            for (int a = 0; a < model.q; ++a) out[a] = sums[model.ei(f, a)];
            for (int g = 0; g < e; ++g) {
                const int p = model.ee(f, g) - model.first_effect_weight, first = model.n_weights + p * (model.width - 1);
                for (int c = 1; c < model.width; ++c) out[model.effect_at(g, c)] = sums[first + c - 1];
                for (int k = 0; k < r; ++k) inner[g * r + k] = squares_[asked.pairs_at + (j >= k ? j * (j + 1) / 2 + k : k * (k + 1) / 2 + j)][p];
            }
        }
}

// whole_ = information of the columns given all parameters of the model, whose H has this factor; without the prior of the columns.
void MixedRows::give_to(const LogLinear& model, int block, const Matrix<double>& factor) {
    given_.reserve(block, model.size), whole_.reserve(block, block);
    for (int i = 0; i < block; ++i) {
        std::copy_n(cross_[i], model.size, given_[i]);
        solve_lower(factor, model.size, given_[i]);
        for (int j = 0; j <= i; ++j) whole_[i][j] = inner_[i][j] - dot(given_[i], given_[j], model.size);
    }
}

// Evidence of a block whose information is whole_ and whose score is u_, by one step; both are used up.
double MixedRows::step(int block, double precision) {
    for (int i = 0; i < block; ++i) whole_[i][i] += precision;
    cholesky(whole_, block);
    solve_lower(whole_, block, u_.data());
    return 0.5 * (dot(u_.data(), u_.data(), block) - log_determinant(whole_, block) + block * std::log(precision));
}

// Scores of all columns, and the mean weights of the rows, in the eigenvectors of these: rotated_ (functions of x, columns), eigenvalues_. Returns the number
// of functions.
int MixedRows::find_scores(const Levels& found, int x, double& mean_weight) {
    const bool large = found.is_large;
    const Coding &effects = table_.effects_of(x), alone = indicators(effects.levels), &functions = large ? alone : effects;
    const int e = effects.columns, P = table_.n_columns, n_functions = functions.columns;
    auto mean = [&](int f, int slice) { return large ? found.large.shares_of(slice)[f] : found.model.mean[f][slice]; };
    Matrix<double>& sums = large ? raw_ : scores_;
    if ((large ? found.large.width : found.model.width) == 1 && found.n_known == table_.total) {  // the same residuals in all rows of a level
        scores_.resize(e, P);
        for (int f = 0; f < e; ++f) {
            double mean_of = 0.0;
            if (!large) mean_of = found.model.mean[f][0];
            for (int l = 0; large && l < effects.levels; ++l) mean_of += effects(l, f) * mean(l, 0);
            for (int c = 0; c < P; ++c) scores_[f][c] = table_.gram[table_.first[x] + f][c] - mean_of * table_.gram[0][c];
        }
    } else {
        functions_.resize(n_functions, std::size_t(table_.n_rows));
        for (int f = 0; f < n_functions; ++f)
            for (std::int64_t i = 0; i < table_.n_rows; ++i) {
                const int s = found.slice[i];
                if (s >= 0) functions_[f][i] = table_.weight[i] * (functions(table_.code(i, x), f) - mean(f, s));
            }
        table_.products(functions_, n_functions, sums);
        if (large) {
            scores_.resize(e, P);
            for (int f = 0; f < e; ++f)
                for (int l = 0; l < effects.levels; ++l)
                    for (int c = 0; c < P; ++c) scores_[f][c] += effects(l, f) * raw_[l][c];
        }
    }
    weights_.resize(e, e);
    if (large) {
        for (int a = 0; a < e; ++a) std::copy_n(found.large.vectors[a], e, weights_[a]);
        eigenvalues_ = found.large.omega;
    } else {
        const LogLinear& model = found.model;
        for (int f = 0; f < e; ++f)
            for (int g = 0; g < e; ++g) weights_[f][g] = dot(model.weight[model.ee(f, g)], model.rows.data(), model.n_padded) / found.n_known;
        eigen(weights_, e, eigenvalues_);
    }
    for (double& one : eigenvalues_) one = std::max(one, 0.0);
    mean_weight = std::max(std::accumulate(eigenvalues_.begin(), eigenvalues_.begin() + e, 0.0) / e, 1e-300);
    rotated_.resize(e, P);
    for (int a = 0; a < e; ++a)
        for (int f = 0; f < e; ++f)
            for (int c = 0; c < P; ++c) rotated_[a][c] += weights_[f][a] * scores_[f][c];
    return e;
}

// left_: all columns in the directions of those of the members, so that a column less its rows is what the members leave of it. Returns how many there are.
int MixedRows::find_left(const Levels& found, Members members, double ridge) {
    const int P = table_.n_columns;
    std::vector<int> columns;
    for (std::size_t m = 0; m < members.size(); ++m)
        for (int j = 0; j < found.columns[m]; ++j) columns.push_back(table_.first[members[m]] + j);
    const int k = int(columns.size());
    const double* sums = table_.gram[0];
    Matrix<double> factor(std::max(k, 1), std::max(k, 1));
    left_.reserve(std::max(k, 1), P);
    for (int i = 0; i < k; ++i) {
        const double *raw = table_.gram[columns[i]], mean = raw[0] / table_.total;
        for (int c = 0; c < P; ++c) left_[i][c] = raw[c] - mean * sums[c];
        for (int j = 0; j <= i; ++j) factor[i][j] = left_[i][columns[j]];
        factor[i][i] += ridge;
    }
    cholesky(factor, k);
    for (int i = 0; i < k; ++i) {
        double* out = left_[i];
        for (int j = 0; j < i; ++j)
            for (int c = 0; c < P; ++c) out[c] -= factor[i][j] * left_[j][c];
        for (int c = 0; c < P; ++c) out[c] /= factor[i][i];
    }
    return k;
}

// by_scale_[.][column]: evidence of r columns of the table, as if every row had the mean weights.
void MixedRows::judge(const Levels& found, int e, int k, int first, int r, int n_scales, int column) {
    const double *sums = table_.gram[0], share = found.n_known / table_.total;
    spread_.reserve(r, r), spreads_.resize(r);
    for (int i = 0; i < r; ++i)
        for (int j = 0; j <= i; ++j) {
            double sum = table_.gram[first + i][first + j] - sums[first + i] * sums[first + j] / table_.total;
            for (int c = 0; c < k; ++c) sum -= left_[c][first + i] * left_[c][first + j];
            spread_[i][j] = spread_[j][i] = share * sum;
        }
    if (r == 1) spreads_[0] = spread_[0][0], spread_[0][0] = 1.0;
    else eigen(spread_, r, spreads_);
    double product[SCALES];
    for (int s = 0; s < n_scales; ++s) by_scale_[s][column] = 0.0, product[s] = 1.0;
    for (int a = 0; a < e; ++a)
        for (int b = 0; b < r; ++b) {
            double u = 0.0;
            for (int j = 0; j < r; ++j) u += rotated_[a][first + j] * spread_[j][b];
            const double information = eigenvalues_[a] * std::max(spreads_[b], 0.0);
            double precision = PRECISION;
            for (int s = 0; s < n_scales; ++s, precision *= 0.25) {
                by_scale_[s][column] += 0.5 * u * u / (information + precision);
                product[s] *= 1.0 + information / precision;
                if (product[s] > 1e200) by_scale_[s][column] -= 0.5 * std::log(product[s]), product[s] = 1.0;
            }
        }
    for (int s = 0; s < n_scales; ++s) by_scale_[s][column] -= 0.5 * std::log(product[s]);
}

// t of all, as if every row had the mean weights: a matrix of x by a matrix of y for the information.
void MixedRows::screen(const Levels& found, int x, Members members) {
    double mean_weight = 0.0;
    const int e = find_scores(found, x, mean_weight), k = find_left(found, members, PRECISION / std::pow(4.0, found.scales.best) / mean_weight);
    const int n_scales = int(found.scales.log_share.size());
    by_scale_.resize(SCALES, 2);
    for (int y = 0; y < table_.n; ++y) {
        const int r = table_.columns_of(y), first = table_.first[y];
        if (y == x || !r || std::ranges::find(members, y) != members.end()) continue;
        judge(found, e, k, first, r, n_scales, 0);
        if (table_.is_number(y)) {
            judge(found, e, k, first, 1, n_scales, 1);
            for (int s = 0; s < n_scales; ++s) by_scale_[s][0] = log_sum(STRAIGHT + by_scale_[s][1], BENT + by_scale_[s][0]);
        }
        t_[y] = found.scales.mean(by_scale_[0], by_scale_.stride());
    }
}

void MixedRows::find_factors(const Levels& found) {  // of H at the mode, if effects had the precision of each scale
    const LogLinear& model = found.model;
    const int size = model.size;
    factors_.resize(SCALES);
    const double now = PRECISION / std::pow(4.0, found.scales.best);
    for (std::size_t k = 0; k < found.scales.values.size(); ++k) {
        Matrix<double>& factor = factors_[k];
        factor.reserve(size, size);
        for (int i = 0; i < size; ++i)
            for (int j = 0; j <= i; ++j) factor[i][j] = dot(model.factor[i], model.factor[j], j + 1);
        for (int i = model.q; i < size; ++i) factor[i][i] += PRECISION / std::pow(4.0, k) - now;
        cholesky(factor, size);
    }
}

void MixedRows::make_exact(const Levels& found, int x, Members members) {
    const LogLinear& model = found.model;
    const int e = model.e;
    std::vector<Columns> asked;
    int at = 0, pairs_at = 0;
    for (int y = 0; y < table_.n; ++y) {
        const int r = table_.columns_of(y);
        if (y == x || !r || !(t_[y] > UNLIKELY) || e * r > BLOCK || std::ranges::find(members, y) != members.end()) continue;
        asked.push_back({y, 0, r, at, pairs_at});
        at += r, pairs_at += r * (r + 1) / 2;
    }
    if (asked.empty()) return;
    find_factors(found);
    find_sums(found, asked);
    by_scale_.resize(SCALES, 1);
    for (const Columns& some : asked) {
        const int y = some.y, r = some.r, first = table_.first[y];
        assemble(model, some);
        for (std::size_t k = 0; k < found.scales.values.size(); ++k) {
            const double precision = PRECISION / std::pow(4.0, k);
            give_to(model, e * r, factors_[k]);
            double straight = 0.0;
            if (table_.is_number(y)) {  // its first column alone
                parts_.reserve(e, e), u_.resize(e);
                for (int f = 0; f < e; ++f) {
                    u_[f] = scores_[f][first];
                    for (int g = 0; g <= f; ++g) parts_[f][g] = whole_[f * r][g * r];
                }
                std::swap(parts_, whole_);
                straight = step(e, precision);
                std::swap(parts_, whole_);
            }
            u_.resize(std::size_t(e) * r);
            for (int f = 0; f < e; ++f) std::copy_n(scores_[f] + first, r, u_.begin() + f * r);
            const double all = step(e * r, precision);
            by_scale_[k][0] = table_.is_number(y) ? log_sum(STRAIGHT + straight, BENT + all) : all;
        }
        t_[y] = found.scales.mean(by_scale_[0], by_scale_.stride());
    }
}

// Main effects alone, on rows that know x and known_by; what a row does not know of a member is its mean.
double MixedRows::main_row(int x, Members members, Members known_by, bool everyone, const Wanted& wanted) {
    fit(levels_, x, members, known_by);
    if (!(levels_.n_known > 0.0)) return 0.0;
    if (everyone) {
        screen(levels_, x, members);
        if (!levels_.is_large && levels_.model.width > 1) make_exact(levels_, x, members);
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
        const int y = int(members[m]);
        t_[y] = levels_.scales.without(levels_.inside[0] + m, levels_.inside.stride());
        if (table_.is_number(y)) t_[y] += levels_.columns[m] == 2 ? BENT : STRAIGHT;
        if (wanted.rough || (wanted.exact && !wanted.also.empty() && std::ranges::find(wanted.also, y) == wanted.also.end())) continue;
        const double length = levels_.is_large ? levels_.large.length(int(m)) : levels_.model.length(int(m));
        if (t_[y] < UNSURE || (length > STRONG && (wanted.exact || t_[y] < CERTAIN))) {  // H⁻¹ says too little: fit x without it
            std::vector<std::int64_t> others;
            std::vector<int> old;
            for (std::size_t other = 0; other < members.size(); ++other)
                if (other != m) others.push_back(members[other]), old.push_back(int(other));
            fit(reduced_, x, others, known_by, &levels_, old);
            t_[y] = levels_.value - reduced_.value;
        }
    }
    return levels_.value;
}

// Of the smallest full table that x and its members take part in: with more cells than rows, such tables say nothing.
double MixedRows::cells_without_largest(int x, Members coded) const {
    double cells = table_.levels[x], largest = 1.0;
    for (std::int64_t m : coded) cells *= table_.levels[m], largest = std::max(largest, double(table_.levels[m]));
    return cells < 1e15 ? cells / largest : std::numeric_limits<double>::infinity();
}

double MixedRows::levels_row(int x, Members members, bool everyone, const Wanted& wanted) {
    std::vector<std::int64_t> coded;
    for (std::int64_t m : members)
        if (!table_.is_number(int(m)) && table_.columns_of(int(m))) coded.push_back(m);
    if (coded.size() < (everyone ? 1 : 2) || cells_without_largest(x, coded) > table_.total) return main_row(x, members, {}, everyone, wanted);
    double value = main_row(x, coded, coded, everyone, wanted);  // the rows that full tables are about
    main_t_ = t_;
    const double more = levels_.n_known > 0.0 ? add_full_tables(x, coded, coded, everyone) : 0.0;
    const bool complete = std::ranges::all_of(coded, [&](std::int64_t m) { return table_.known[m].empty(); });
    if (complete && coded.size() == members.size()) return value + more;
    for (int y = 0; y < table_.n; ++y) main_t_[y] = t_[y] - main_t_[y], t_[y] = 0.0;
    value = main_row(x, members, {}, everyone, wanted);
    for (int y = 0; y < table_.n; ++y) t_[y] += main_t_[y];
    return value + more;
}

// --- full tables of x and members that all have levels

// log evidence of the table of x and of members whose levels make the keys; without: how many keys, from `below` to `below` · `without`, are one.
double MixedRows::full_table(int x, std::int64_t below, std::int64_t without, std::int64_t n_configurations) {
    const int r = table_.levels[x];
    const std::int64_t n_slices = n_configurations / without;
    cells_.assign(std::size_t(n_slices) * r, 0.0), slices_.assign(std::size_t(n_slices), 0.0);
    for (std::int64_t i = 0; i < table_.n_rows; ++i)
        if (const std::int64_t key = keys_[i]; key >= 0) cells_[(key / (below * without) * below + key % below) * r + table_.code(i, x)] += table_.weight[i];
    double total = 0.0;
    for (std::int64_t k = 0; k < n_slices; ++k) {
        double slice = 0.0;
        for (int l = 0; l < r; ++l)
            if (const double n = cells_[k * r + l]; n > 0.0) total += rise(1, n), slice += n;
        if (slice > 0.0) total -= rise(r, slice);
    }
    return total;
}

// full_gains_: of every y outside, what its levels add to the full table of x and its members.
void MixedRows::find_full_gains(int x, Members coded, std::int64_t n_configurations) {
    const int r = table_.levels[x], n_atoms = table_.n_atoms;
    std::vector<int> ys;
    full_gains_.assign(table_.n, NEVER);
    for (int y = 0; y < table_.n; ++y)
        if (y != x && table_.columns_of(y) && !table_.is_number(y) && std::ranges::find(coded, y) == coded.end() &&
            double(n_configurations) * r * table_.levels[y] <= table_.total)
            ys.push_back(y), full_gains_[y] = 0.0;
    if (ys.empty()) return;
    const std::size_t n_sets = std::size_t(n_configurations) * r;
    set_start_.assign(n_sets + 1, 0);  // rows in the order of their cells
    auto set_of = [&](std::int64_t i) { return std::size_t(keys_[i]) * r + table_.code(i, x); };
    for (std::int64_t i = 0; i < table_.n_rows; ++i)
        if (keys_[i] >= 0) ++set_start_[set_of(i) + 1];
    for (std::size_t s = 0; s < n_sets; ++s) set_start_[s + 1] += set_start_[s];
    rows_by_set_.resize(set_start_[n_sets]);
    std::vector<int> next(set_start_.begin(), set_start_.end() - 1);
    for (std::int64_t i = 0; i < table_.n_rows; ++i)
        if (keys_[i] >= 0) rows_by_set_[next[set_of(i)]++] = int(i);
    for (std::size_t k = 0; k < n_sets; k += r) {
        if (set_start_[k] == set_start_[k + r]) continue;
        atoms_of_slice_.resize(r, n_atoms);
        for (int l = 0; l < r; ++l)
            for (int at = set_start_[k + l]; at < set_start_[k + l + 1]; ++at) {
                const int i = rows_by_set_[at];
                const std::int32_t* atom = table_.atoms.data() + std::size_t(i) * table_.n_coded;
                const double w = table_.weight[i];
                for (int v = 0; v < table_.n_coded; ++v) atoms_of_slice_[l][atom[v]] += w;
            }
        for (int y : ys) {
            const int first = table_.first_atom[y], levels = table_.levels[y];
            double gain = 0.0, all = 0.0;
            sum_of_levels_.assign(levels, 0.0);
            for (int l = 0; l < r; ++l) {
                const double* count = atoms_of_slice_[l] + first;
                double set = 0.0;
                for (int m = 0; m < levels; ++m)
                    if (count[m] > 0.0) gain += rise(1, count[m]), set += count[m], sum_of_levels_[m] += count[m];
                if (set > 0.0) gain -= rise(1, set), all += set;
            }
            for (int m = 0; m < levels; ++m)
                if (sum_of_levels_[m] > 0.0) gain -= rise(r, sum_of_levels_[m]);
            full_gains_[y] += all > 0.0 ? gain + rise(r, all) : 0.0;
        }
    }
}

// t_ becomes that of the mixture with full tables; it is that of main effects, and levels_ their fit to these members. Returns what s_x gains. With less than
// two members the two are one model, and nothing is added.
double MixedRows::add_full_tables(int x, Members coded, Members known_by, bool everyone) {
    const int r = table_.levels[x];
    double cells = r;
    std::vector<std::int64_t> below{1};
    for (std::int64_t m : coded) cells *= table_.levels[m], below.push_back(cells < 1e15 ? below.back() * table_.levels[m] : 1);
    const double most = table_.total;
    keys_.assign(std::size_t(table_.n_rows), -1);
    double known = 0.0;
    std::vector<double> of_level(r, 0.0);
    for (std::int64_t i = 0; i < table_.n_rows; ++i) {
        if (!knows(i, x, known_by)) continue;
        std::int64_t key = 0;
        for (std::size_t m = 0; m < coded.size(); ++m) key += below[m] * table_.code(i, int(coded[m]));
        keys_[i] = key, known += table_.weight[i], of_level[table_.code(i, x)] += table_.weight[i];
    }
    const double main = levels_.value;
    fit(reduced_, x, {}, known_by);
    double alone = -rise(r, known);
    for (double n : of_level) alone += rise(1, n);
    const double equal = std::log(FULL) - std::log1p(-FULL) - (alone - reduced_.value);  // both say the same without members
    const std::int64_t n_configurations = below.back();
    auto mixed = [&](double odds, double n_cells, std::size_t n_members) {
        return n_members < 2 || n_cells > most ? 0.0 : softplus(odds);
    };
    const bool is_table = cells <= most;
    const double full = is_table ? full_table(x, 1, 1, n_configurations) : 0.0, odds = equal + full - main, now = mixed(odds, cells, coded.size());
    if (everyone && is_table) find_full_gains(x, coded, n_configurations);
    for (int y = 0; everyone && y < table_.n; ++y) {
        if (y == x || table_.is_number(y) || !table_.columns_of(y) || std::ranges::find(coded, y) != coded.end()) continue;
        t_[y] += mixed(is_table ? odds + full_gains_[y] - t_[y] : 0.0, is_table ? cells * table_.levels[y] : 2.0 * most, coded.size() + 1) - now;
    }
    for (std::size_t m = 0; m < coded.size() && coded.size() > 1; ++m) {
        const int y = int(coded[m]);
        const double fewer = cells / table_.levels[y];
        double then = 0.0;
        if (fewer <= most && coded.size() > 2) then = equal + full_table(x, below[m], table_.levels[y], n_configurations) - (main - t_[y]);
        t_[y] += now - mixed(then, fewer, coded.size() - 1);
    }
    return now;
}

MixedRows::Effects MixedRows::effects(int x, Members members) {
    Effects out;
    if (!table_.is_number(x)) {
        fit(levels_, x, members, {});
        out.columns = levels_.columns, out.n_rows = levels_.n_known;
        if (levels_.is_large) {
            const LargeModel& model = levels_.large;
            for (int a = 0; a < model.q; ++a) out.effect.insert(out.effect.end(), model.theta[a] + 1, model.theta[a] + model.width);
            for (int m = 0; m < int(members.size()); ++m) {
                const Matrix<double> block = model.covariance(m);
                const int size = model.q * out.columns[m];
                for (int i = 0; i < size; ++i) out.covariance.insert(out.covariance.end(), block[i], block[i] + size);
            }
            return out;
        }
    } else {
        numbers_row(x, members, false);
        out.columns = entering_, out.variance = regression_.rss / std::max(degrees_, 1.0), out.n_rows = total_;
    }
    const bool number = table_.is_number(x);
    const LogLinear& model = levels_.model;
    const std::vector<double>& theta = number ? regression_.effect : model.theta;
    const int size = int(theta.size()), before = number ? 0 : model.q, e = number ? 1 : model.e, width = e ? (size - before) / e : 0;
    out.effect.assign(theta.begin() + before, theta.end());
    Matrix<double> inverse;
    int first = 0;
    for (int r : out.columns) {
        inverse.resize(std::max(e * r, 1), std::max(size, 1));
        for (int i = 0; i < e * r; ++i) inverse[i][before + i / r * width + first + i % r] = 1.0, solve_lower(number ? regression_.factor : model.factor, size, inverse[i]);
        for (int i = 0; i < e * r; ++i)
            for (int j = 0; j < e * r; ++j) out.covariance.push_back((number ? out.variance : 1.0) * dot(inverse[i], inverse[j], size));
        first += r;
    }
    return out;
}

// --- for Python

namespace {

class MixedEvidence {
  public:
    MixedEvidence(Vector<const std::uint8_t> kinds, Ints levels, Table2<const std::int16_t> codes, nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> numbers,
                  Vector<const double> weights, int n_threads, double prior_rows) {
        const std::size_t n = kinds.shape(0), n_rows = codes.shape(1);
        std::vector<Kind> kind;
        std::vector<int> sizes;
        std::size_t n_coded = 0, n_numbers = 0;
        if (levels.shape(0) != n || numbers.shape(0) != 2 || numbers.shape(2) != n_rows) throw std::invalid_argument("kinds, levels, codes and numbers do not fit");
        for (std::size_t v = 0; v < n; ++v) {
            if (kinds.data()[v] > 2) throw std::invalid_argument("a kind is 0 (nominal), 1 (ordinal) or 2 (number)");
            kind.push_back(Kind(kinds.data()[v]));
            const std::int64_t size = levels.data()[v];
            if (kind.back() == Kind::number) {
                ++n_numbers, sizes.push_back(0);
                continue;
            }
            if (size < 1 || size > MOST_LEVELS || n_coded >= codes.shape(0)) throw std::invalid_argument("a variable has 1 to 100 levels, and codes");
            for (std::size_t i = 0; i < n_rows; ++i)
                if (codes.data()[n_coded * n_rows + i] < -1 || codes.data()[n_coded * n_rows + i] >= size) throw std::invalid_argument("a code is not a level");
            ++n_coded, sizes.push_back(int(size));
        }
        if (n_coded != codes.shape(0) || n_numbers != numbers.shape(1)) throw std::invalid_argument("codes or numbers of other variables");
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (std::isinf(numbers.data()[i])) throw std::invalid_argument("a number is infinite");
        if (weights.shape(0) && weights.shape(0) != n_rows) throw std::invalid_argument("one weight for a row");
        for (std::size_t i = 0; i < weights.shape(0); ++i)
            if (!(weights.data()[i] >= 0.0) || std::isinf(weights.data()[i])) throw std::invalid_argument("a weight is negative or infinite");
        if (!(prior_rows >= 0.0 && prior_rows < 1e9)) throw std::invalid_argument("prior rows are none or some");
        nb::gil_scoped_release unlocked;
        table_ = std::make_unique<MixedTable>(std::move(kind), std::move(sizes), codes.data(), numbers.data(), weights.shape(0) ? weights.data() : nullptr, std::int64_t(n_rows), n_threads);
        table_->prior_rows = prior_rows;
    }

    nb::tuple rows(Ints xs, Ints start, Ints members, Table2<const double> odds, double floor, Ints also_start, Ints also, bool exact, int n_threads, bool rough) {
        const Odds prior(odds, table_->n);
        check_variables(xs, table_->n, "x");
        const Lists blankets{start, members}, others{also_start, also};
        blankets.check(xs.shape(0), table_->n, "blankets"), others.check(xs.shape(0), table_->n, "others");
        for (std::size_t q = 0; q < xs.shape(0); ++q)
            for (std::int64_t m : blankets[q])
                if (m == xs.data()[q]) throw std::invalid_argument("x is not in its own blanket");
        std::vector<Row> found(xs.shape(0));
        const int threads = std::max(1, std::min<int>(n_threads, int(found.size())));
        std::vector<std::unique_ptr<MixedRows>> makers;
        for (int thread = 0; thread < threads; ++thread) makers.push_back(workspace());
        {
            nb::gil_scoped_release unlocked;
            spread(threads, std::int64_t(found.size()), [&](int thread, std::int64_t q) {
                const std::int64_t x = xs.data()[q];
                found[q] = makers[thread]->row(int(x), blankets[q], prior.of(x), Wanted{floor, others[q], exact, rough});
            });
        }
        for (auto& maker : makers) spare_.give(std::move(maker));
        return joined(found);
    }

    nb::tuple effects(std::int64_t x, Ints members) {
        if (x < 0 || x >= table_->n) throw std::invalid_argument("x is not a variable");
        check_variables(members, table_->n, "a member");
        auto maker = workspace();
        MixedRows::Effects found;
        {
            nb::gil_scoped_release unlocked;
            found = maker->effects(int(x), span_of(members));
        }
        spare_.give(std::move(maker));
        return nb::make_tuple(to_numpy(std::move(found.columns)), to_numpy(std::move(found.effect)), to_numpy(std::move(found.covariance)), found.variance, found.n_rows);
    }

  private:
    std::unique_ptr<MixedTable> table_;
    Spare<MixedRows> spare_;

    std::unique_ptr<MixedRows> workspace() {
        return spare_.take([&] { return std::make_unique<MixedRows>(*table_); });
    }
};

}  // namespace

void bind_mixed_rows(nb::module_& module) {
    nb::class_<MixedEvidence>(module, "MixedTable")
        .def(nb::init<Vector<const std::uint8_t>, Ints, Table2<const std::int16_t>, nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>, Vector<const double>, int, double>(),
             nb::arg("kinds"), nb::arg("levels"), nb::arg("codes"), nb::arg("numbers"), nb::arg("weights"), nb::arg("n_threads"), nb::arg("prior_rows") = 0.0)
        .def("rows", &MixedEvidence::rows, nb::arg("xs"), nb::arg("start"), nb::arg("members"), nb::arg("odds"), nb::arg("floor"), nb::arg("also_start"),
             nb::arg("also"), nb::arg("exact"), nb::arg("n_threads"), nb::arg("rough") = false)
        .def("effects", &MixedEvidence::effects, nb::arg("x"), nb::arg("members"));
}

}  // namespace ibmap
