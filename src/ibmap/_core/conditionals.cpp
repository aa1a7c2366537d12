#include "conditionals.hpp"

#include <array>

namespace ibmap {

namespace {

constexpr std::size_t COUNTED = 1 << 17;  // counts of sets that are made before they are added up

// out[p][c] += Σ_k weight[p][k] counts[k - base][c] over some slices k: P weights, 8 V columns, the sums in registers.
template <int P, int V>
void add_weighted(std::span<const int> slices, int base, const Matrix<double>& counts, const double* const* weight, double* const* out, std::size_t c) {
    constexpr int N = 8 * V / LANES;
    Doubles sums[P][N];
    for (int p = 0; p < P; ++p)
        for (int v = 0; v < N; ++v) sums[p][v] = lanes(out[p] + c + LANES * v);
    for (int k : slices) {
        const double* from = counts[k - base] + c;
        for (int p = 0; p < P; ++p)
            for (int v = 0; v < N; ++v) sums[p][v] += weight[p][k] * lanes(from + LANES * v);
    }
    for (int p = 0; p < P; ++p)
        for (int v = 0; v < N; ++v) lanes(out[p] + c + LANES * v) = sums[p][v];
}

template <int P>
void add_weighted_rows(std::span<const int> slices, int base, const Matrix<double>& counts, const double* const* weight, double* const* out) {
    constexpr int V = VECTOR == 64 ? (P == 1 ? 8 : 4) : (P == 1 ? 4 : 1);
    std::size_t c = 0;
    for (; c + 8 * V <= counts.stride(); c += 8 * V) add_weighted<P, V>(slices, base, counts, weight, out, c);
    for (; c < counts.stride(); c += 8) add_weighted<P, 1>(slices, base, counts, weight, out, c);
}

template <int V>  // L⁻¹ of 8 V columns, n rows from `row` on
void solve_tile(const Matrix<double>& factor, int n, Matrix<double>& z, int row, std::size_t c) {
    constexpr int N = 8 * V / LANES;
    for (int i = 0; i < n; ++i) {
        Doubles sums[N];
        for (int v = 0; v < N; ++v) sums[v] = lanes(z[row + i] + c + LANES * v);
        for (int k = 0; k < i; ++k) {
            const double entry = factor[i][k], *before = z[row + k] + c;
            for (int v = 0; v < N; ++v) sums[v] -= entry * lanes(before + LANES * v);
        }
        const double scale = 1.0 / factor[i][i];
        for (int v = 0; v < N; ++v) lanes(z[row + i] + c + LANES * v) = sums[v] * scale;
    }
}

}  // namespace

Conditionals::Conditionals(std::vector<int> n_levels, const std::vector<bool>& ordinal, std::span<const std::int64_t> counts, std::int64_t rows,
                           Options chosen)
    : n(int(n_levels.size())), n_rows(rows), options(chosen), levels(std::move(n_levels)), log_rows(std::log(double(std::max<std::int64_t>(rows, 1)))),
      by_cell(chosen.prior_count, rows) {
    for (int v = 0; v < n; ++v) {
        const int r = levels[v];
        if (r < 2) constants.push_back(v);
        has_scores |= ordinal[v] && r > 2;
        modelled.push_back(r <= MOST_LEVELS), log_levels.push_back(std::log(double(std::max(r, 1))));
        if (r > MOST_LEVELS) {
            coding_.push_back(nullptr);
            continue;
        }
        contrasts_.try_emplace(r, contrasts(r)), indicators_.try_emplace(r, indicators(r));
        by_total_.try_emplace(r, chosen.prior_count * r, rows);
        if (ordinal[v] && r > 2) scores_.try_emplace(r, scores(r));
        coding_.push_back(ordinal[v] && r > 2 ? &scores_.at(r) : &contrasts_.at(r));
    }
    int most = 0;
    for (const Coding* c : coding_) most = std::max(most, c ? c->columns : 0);
    LogLinear alone;
    LargeModel large_alone;
    std::size_t at = 0;
    for (int x = 0; x < n; ++x) {
        ahead.push_back(0.0);
        large.push_back(modelled[x] && coding_[x]->columns == levels[x] - 1 && coding_[x]->columns * most > LARGE);
        const std::size_t begin = at;
        at += std::size_t(levels[x]);
        if (!modelled[x] || levels[x] < 2 || options.family != Family::adaptive) continue;
        Slices slices;
        slices.clear(0);
        double saturated = 0.0;
        std::int64_t total = 0;
        for (int l = 0; l < levels[x]; ++l)
            if (const std::int64_t count = counts[begin + std::size_t(l)]) {
                slices.set_level.push_back(l), slices.set_size.push_back(int(count));
                total += count, saturated += by_cell(count);
            }
        if (total) slices.n = 1, slices.size.push_back(int(total)), slices.first_set.push_back(slices.n_sets());
        if (large[x]) large_alone.fit(slices, contrasts_of(x), {}, {}, options.precision);
        else alone.fit(slices, contrasts_of(x), coding_of(x), {}, {}, options.precision);
        ahead[x] = saturated - by_total(x)(total) - (large[x] ? large_alone.value : alone.value);
    }
}

Row RowMaker::row(CountSource* source, int x, Members blanket, std::span<const double> odds, const Wanted& wanted) {
    const int n = shared_.n;
    const bool everyone = !wanted.exact && (wanted.floor < std::numeric_limits<double>::infinity() || !wanted.also.empty());
    auto odds_of = [&](std::int64_t y) { return odds.size() == 1 ? odds[0] : odds[std::size_t(y)]; };
    std::vector<std::int64_t> members;
    double value = 0.0;
    for (std::int64_t m : blanket) {
        value += odds_of(m);
        if (shared_.modelled[m])
            members.push_back(m);
        else
            value += NEVER;
    }
    std::fill(t_.begin(), t_.end(), NEVER);
    if (shared_.modelled[x]) {
        const Slices& slices = source->slices();
        const Values found = values(slices, x, members);
        const Mixed now = mixed(x, members, found);
        value += now.value;
        if (everyone) others_of_row(*source, x, members, now);
        members_of_row(slices, x, members, found, now, wanted.exact);
    }
    Row out;
    out.value = value / 2;  // two conditionals of a pair say nearly the same: each end counts half
    for (std::int64_t m : blanket) marked_[m] = 1;
    if (everyone) {
        for (std::int64_t y : wanted.also) marked_[y] = 1;
        marked_[x] = 0;
        double *t = t_.data(), *exponential = exponentials_.data();
        if (odds.size() == 1)
            for (int y = 0; y < n; ++y) t[y] += odds[0];
        else
            for (int y = 0; y < n; ++y) t[y] += odds[std::size_t(y)];
        if (wanted.floor == -std::numeric_limits<double>::infinity()) {
            out.y.resize(std::size_t(n) - 1), out.t.resize(std::size_t(n) - 1);
            for (int y = 0; y < n - 1; ++y) out.y[std::size_t(y)] = y < x ? y : y + 1;
            std::copy_n(t, x, out.t.begin()), std::copy(t + x + 1, t + n, out.t.begin() + x);
            for (std::int64_t y : wanted.also) marked_[y] = 0;
            for (std::int64_t m : blanket) marked_[m] = 0;
            return out;
        }
        for (int y = 0; y < n; ++y) exponential[y] = exp_below_zero(t[y] < 0.0 ? t[y] : 0.0);
        for (int y = 0; y < n; ++y) {
            if (y == x) continue;
            if (t[y] > wanted.floor || marked_[y])
                out.y.push_back(y), out.t.push_back(t[y]);
            else
                out.rest += exponential[y];
        }
        for (std::int64_t y : wanted.also) marked_[y] = 0;
    } else {
        for (std::int64_t m : blanket) out.y.push_back(std::int32_t(m)), out.t.push_back(t_[m] + odds_of(m));
    }
    for (std::int64_t m : blanket) marked_[m] = 0;
    return out;
}

double RowMaker::left_out(const Slices& slices, int x, Members members) {
    if (shared_.levels[x] < 2) return 0.0;
    fit(slices, x, members);
    return is_large_ ? large_.left_out() : model_.left_out();
}

void RowMaker::fit(const Slices& slices, int x, Members members) {
    std::vector<int> which;
    std::vector<const Coding*> codings;
    for (std::size_t m = 0; m < members.size(); ++m) which.push_back(int(m)), codings.push_back(&shared_.coding_of(int(members[m])));
    is_large_ = shared_.large[x];
    if (is_large_) {
        large_.fit(slices, shared_.contrasts_of(x), std::move(which), std::move(codings), shared_.options.precision);
        model_sums_ = {&large_.ones, &large_.share, &large_.counts, large_.rows.data(), &shared_.indicators_of(x), &large_.coding, 1, 0, 1, shared_.levels[x]};
        return;
    }
    model_.fit(slices, shared_.contrasts_of(x), shared_.coding_of(x), std::move(which), std::move(codings), shared_.options.precision);
    model_sums_ = {&model_.weight, &model_.mean, &model_.counts, model_.rows.data(), &model_.effect_coding(), &model_.coding,
                   model_.n_weights, model_.first_effect_weight, model_.n_effect_weights, model_.e};
}

// t of a member in the pairwise family: by its effects and H⁻¹, or where these are strong by a fit without it.
double RowMaker::inside(const Slices& slices, int x, int member, bool exact) {
    const double length = is_large_ ? large_.length(member) : model_.length(member);
    if (!exact || length <= STRONG) return is_large_ ? large_.inside(member) : model_.inside(member);
    auto which = is_large_ ? large_.which : model_.which;
    auto codings = is_large_ ? large_.coding : model_.coding;
    which.erase(which.begin() + member), codings.erase(codings.begin() + member);
    if (is_large_) {
        reduced_large_.fit(slices, shared_.contrasts_of(x), std::move(which), std::move(codings), shared_.options.precision, &large_);
        return large_.value - reduced_large_.value;
    }
    reduced_.fit(slices, shared_.contrasts_of(x), shared_.coding_of(x), std::move(which), std::move(codings), shared_.options.precision, &model_);
    return model_.value - reduced_.value;
}

RowMaker::Values RowMaker::values(const Slices& slices, int x, Members members) {
    Values found;
    if (shared_.levels[x] < 2) return found;  // nothing says anything about a constant
    if (shared_.has(Family::pairwise)) fit(slices, x, members), found.pairwise = is_large_ ? large_.value : model_.value;
    if (shared_.has(Family::saturated)) {
        for (int size : slices.set_size) found.saturated += shared_.by_cell(size);
        for (int size : slices.size) found.saturated -= shared_.by_total(x)(size);
    }
    return found;
}

// s_x(B) = log[(1 - w) e^pairwise + w e^saturated]; a full table of more cells than rows is not looked at.
RowMaker::Mixed RowMaker::mixed(int x, Members members, const Values& found) const {
    if (shared_.options.family != Family::adaptive)
        return {0.0, 0.0, 0.0, shared_.options.family == Family::pairwise ? found.pairwise : found.saturated};
    const double share = shared_.options.saturated_share;
    const double a = std::log1p(-share) + found.pairwise + shared_.ahead[x], b = std::log(share) + found.saturated;
    double cells = shared_.log_levels[x];
    for (std::int64_t m : members) cells += shared_.log_levels[m];
    const double now = softplus(cells > shared_.log_rows ? HOPELESS : b - a);
    return {b - a, now, cells, a + now};
}

void RowMaker::members_of_row(const Slices& slices, int x, Members members, const Values& found, const Mixed& now, bool exact) {
    inside_.assign(members.size(), 0.0), full_inside_.assign(members.size(), 0.0);
    const bool varies = shared_.levels[x] > 1;
    if (varies && shared_.has(Family::pairwise))
        for (std::size_t j = 0; j < members.size(); ++j) inside_[j] = inside(slices, x, int(j), exact);
    if (varies && shared_.has(Family::saturated)) saturated_members(slices, x, members, found.saturated, now.cells);
    for (std::size_t j = 0; j < members.size(); ++j) {
        const auto m = std::size_t(members[j]);
        if (shared_.options.family != Family::adaptive) {
            t_[m] = shared_.options.family == Family::pairwise ? inside_[j] : full_inside_[j];
            continue;
        }
        const double then = now.full_odds - (full_inside_[j] - inside_[j]);
        t_[m] = inside_[j] + now.now - softplus(now.cells - shared_.log_levels[m] > shared_.log_rows ? HOPELESS : then);
    }
}

// t of every member of the saturated family: s_x(B) less that of the slices that agree on all other members.
void RowMaker::saturated_members(const Slices& slices, int x, Members members, double value, double cells) {
    const int n_members = int(members.size()), K = slices.n, r = shared_.levels[x];
    const std::size_t n_slots = std::bit_ceil(std::size_t(2 * K + 2));
    std::vector<std::uint64_t> factor(members.size());
    for (int j = 0; j < n_members; ++j) {  // a hash that is a sum: any member can be taken out
        std::uint64_t z = std::uint64_t(j + 1) * 0x9E3779B97F4A7C15ull;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull, z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        factor[j] = z ^ z >> 31;
    }
    const auto code = [&](int k) { return slices.code.data() + std::size_t(k) * n_members; };
    hash_.assign(K, 0);
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < n_members; ++j) hash_[k] += factor[j] * std::uint64_t(code(k)[j] + 1);
    std::vector<int> group_slice;
    for (int j = 0; j < n_members; ++j) {
        if (shared_.options.family == Family::adaptive && cells - shared_.log_levels[members[j]] > shared_.log_rows) continue;  // nobody will ask
        auto agree = [&](int k, int l) {
            for (int i = 0; i < n_members; ++i)
                if (i != j && code(k)[i] != code(l)[i]) return false;
            return true;
        };
        slots_.assign(n_slots, -1), merged_.clear(), group_slice.clear();
        for (int k = 0; k < K; ++k) {
            const std::uint64_t rest = hash_[k] - factor[j] * std::uint64_t(code(k)[j] + 1);
            std::size_t at = ((rest ^ rest >> 29) * 0xBF58476D1CE4E5B9ull >> 20) & (n_slots - 1);
            while (slots_[at] >= 0 && !agree(k, group_slice[slots_[at]])) at = (at + 1) & (n_slots - 1);
            if (slots_[at] < 0) slots_[at] = int(group_slice.size()), group_slice.push_back(k), merged_.resize(merged_.size() + std::size_t(r), 0);
            int* group = merged_.data() + std::size_t(slots_[at]) * r;
            for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) group[slices.set_level[s]] += slices.set_size[s];
        }
        double without = 0.0;
        for (std::size_t i = 0; i < merged_.size(); i += std::size_t(r)) {
            int rows = 0;
            for (int l = 0; l < r; ++l) without += shared_.by_cell(merged_[i + l]), rows += merged_[i + l];
            without -= shared_.by_total(x)(rows);
        }
        full_inside_[j] = value - without;
    }
}

// t of all variables outside the blanket: block by block, all ys of a block at once.
void RowMaker::others_of_row(CountSource& source, int x, Members members, const Mixed& now) {
    const bool adaptive = shared_.options.family == Family::adaptive, varies = shared_.levels[x] > 1;
    const bool pairwise = varies && shared_.has(Family::pairwise);
    const Slices& slices = source.slices();
    auto mix = [&](double main, double full, bool hopeless) {
        if (!adaptive) return shared_.options.family == Family::pairwise ? main : full;
        return main + softplus(hopeless ? HOPELESS : now.full_odds + full - main) - now.now;
    };
    for (int y : shared_.constants) t_[y] = mix(0.0, 0.0, now.cells > shared_.log_rows);
    if (!varies) {
        for (int y = 0; y < shared_.n; ++y)
            if (shared_.modelled[y]) t_[y] = mix(0.0, 0.0, now.cells + shared_.log_levels[y] > shared_.log_rows);
        return;
    }
    if (pairwise) find_groups(slices, members), find_totals(slices);
    if (shared_.has(Family::saturated)) find_pairs_of_cells(slices, x);
    for (std::size_t b = 0; b < source.n_blocks(); ++b) {
        const Block& block = source.block(b);
        const bool hopeless = adaptive && now.cells + std::log(double(block.levels)) > shared_.log_rows;
        const bool saturated = shared_.has(Family::saturated) && !hopeless;
        main_.assign(block.stride, 0.0), full_.assign(block.stride, 0.0);
        full_start_ = 0.0;
        count_and_sum(source, b, x, pairwise, saturated);
        if (pairwise) {
            find_scores();
            code_members(block.width());
            std::vector<int> nominal, ordinal;
            if (!shared_.has_scores) judge(block, shared_.coding_of(block.variables[0]), {});
            for (int v = 0; shared_.has_scores && v < int(block.variables.size()); ++v)
                (shared_.coding_of(block.variables[v]).columns == block.levels - 1 ? nominal : ordinal).push_back(v);
            for (const auto* which : {&nominal, &ordinal})
                if (!which->empty()) judge(block, shared_.coding_of(block.variables[(*which)[0]]), *which);
        }
        double *main = main_.data(), *full = full_.data();
        if (adaptive && !hopeless) {
            const double odds = now.full_odds + full_start_, past = now.now;
            for (std::size_t v = 0; v < block.stride; ++v) main[v] += softplus(odds + full[v] - main[v]) - past;
        } else if (adaptive) {
            for (std::size_t v = 0; v < block.stride; ++v) main[v] -= now.now;
        } else if (saturated) {
            for (std::size_t v = 0; v < block.stride; ++v) main[v] = full[v] + full_start_;
        }
        for (std::size_t v = 0; v < block.variables.size(); ++v) t_[block.variables[v]] = main[v];
    }
}

int RowMaker::n_groups() const {
    int n = 1;
    for (const Coding* c : *model_sums_.members) n += c->levels - 1;
    return n;
}

// The slices where a member has a level above 0, for every indicator; first all slices.
void RowMaker::find_groups(const Slices& slices, Members members) {
    const int n = n_groups();
    groups_.resize(std::max<std::size_t>(groups_.size(), std::size_t(n)));
    for (int j = 0; j < n; ++j) groups_[j].clear();
    for (int k = 0; k < slices.n; ++k) {
        groups_[0].push_back(k);
        for (std::size_t m = 0, first = 1; m < members.size(); first += std::size_t((*model_sums_.members)[m]->levels - 1), ++m)
            if (const int level = slices.code[k * members.size() + m]) groups_[first + std::size_t(level) - 1].push_back(k);
    }
}

// Rows of sums_: the weights and the means of all slices, then the weights of effects for every indicator of a member.
int RowMaker::row_of(int column, int weight) const {
    const Summed& s = model_sums_;
    return column == 0 ? weight : s.n_weights + s.n_means + (column - 1) * s.n_effect_weights + weight - s.first_effect_weight;
}

void RowMaker::count_and_sum(CountSource& source, std::size_t b, int x, bool pairwise, bool saturated) {
    const Slices& slices = source.slices();
    const Block& block = source.block(b);
    const std::size_t width = block.width(), place = padded(width, 64);
    const int most = int(std::max<std::size_t>(16, COUNTED / place)), K = slices.n;
    if (pairwise) {
        sums_.resize(std::size_t(row_of(n_groups(), model_sums_.first_effect_weight)), width);
        margins_.resize(std::size_t(shared_.levels[x]), place);
    }
    both_.resize(place);
    for (int k = 0; k < K;) {
        const int first = slices.first_set[k];
        int stop = k + 1;
        while (stop < K && slices.first_set[stop + 1] - first <= most) ++stop;
        source.count(b, first, slices.first_set[stop], counts_);
        if (pairwise) of_slice_.reserve(std::size_t(stop - k), width);
        for (int i = k; i < stop; ++i) {
            std::int32_t* both = both_.data();
            std::fill_n(both, place, 0);
            for (int s = slices.first_set[i]; s < slices.first_set[i + 1]; ++s) {
                const std::int32_t* count = counts_[s - first];
                for (std::size_t c = 0; c < place; ++c) both[c] += count[c];
                if (!pairwise) continue;
                std::int32_t* margin = margins_[slices.set_level[s]];
                for (std::size_t c = 0; c < place; ++c) margin[c] += count[c];
            }
            if (pairwise) {
                double* n = of_slice_[i - k];
                for (std::size_t c = 0; c < of_slice_.stride(); ++c) n[c] = both[c];
            }
            if (saturated && slices.size[i] > 1) add_saturated(slices, block, x, i, first);
        }
        if (pairwise) sum_groups(k, stop);
        k = stop;
    }
}

// What splitting slice k by each y adds to the evidence, as log Γ of the counts of its cells and margins.
void RowMaker::add_saturated(const Slices& slices, const Block& block, int x, int k, int first) {
    const Rising &by_cell = shared_.by_cell, &by_total = shared_.by_total(x);
    const int begin = slices.first_set[k], end = slices.first_set[k + 1], n_levels = block.n_levels();
    const bool complete = block.first_level == 1;
    double* full = full_.data();
    if (complete) {
        full_start_ += by_total(slices.size[k]);
        for (int s = begin; s < end; ++s) full_start_ -= by_cell(slices.set_size[s]);
    }
    if (complete && n_levels == 1 && !pairs_start_.empty()) return add_pairs_of_cells(slices, block, k, first);
    auto add = [&](const std::int32_t* counts, std::int64_t size, const Rising& rising, double sign) {
        const double* table = rising.table();
        if (size >= Rising::MOST) {
            for (std::size_t v = 0; v < block.stride; ++v) {
                std::int64_t sum = 0;
                for (int l = 0; l < n_levels; ++l) full[v] += sign * rising(counts[l * block.stride + v]), sum += counts[l * block.stride + v];
                full[v] += sign * (complete ? rising(size - sum) : -rising(sum));
            }
            return;
        }
        for (std::size_t v = 0; v < block.stride; ++v) {
            std::int32_t sum = 0;
            double logs = 0.0;
            for (int l = 0; l < n_levels; ++l) logs += table[counts[l * block.stride + v]], sum += counts[l * block.stride + v];
            full[v] += sign * (logs + (complete ? table[size - sum] : -table[sum]));
        }
    };
    for (int s = begin; s < end; ++s) add(counts_[s - first], slices.set_size[s], by_cell, 1.0);
    add(both_.data(), slices.size[k], by_total, -1.0);
}

// A y of two levels makes two cells of every set and slice: where there are many ys, their logarithms are added up before.
void RowMaker::find_pairs_of_cells(const Slices& slices, int x) {
    pairs_start_.clear();
    if (4.0 * slices.n * shared_.n < double(shared_.n_rows) || shared_.n_rows >= Rising::MOST) return;
    std::size_t end = 0;
    auto add = [&](const std::vector<int>& sizes, const double* of) {
        for (int size : sizes) {
            pairs_start_.push_back(end);
            if (pairs_of_cells_.size() < end + std::size_t(size) + 1) pairs_of_cells_.resize(2 * end + std::size_t(size) + 1024);
            double* table = pairs_of_cells_.data() + end;
            for (int c = 0; c <= size; ++c) table[c] = of[c] + of[size - c];
            end += std::size_t(size) + 1;
        }
    };
    add(slices.set_size, shared_.by_cell.table());
    add(slices.size, shared_.by_total(x).table());
}

void RowMaker::add_pairs_of_cells(const Slices& slices, const Block& block, int k, int first) {
    const int begin = slices.first_set[k], end = slices.first_set[k + 1];
    double* full = full_.data();
    auto table = [&](int which) { return pairs_of_cells_.data() + pairs_start_[which]; };
    const double* sum = table(slices.n_sets() + k);
    const std::int32_t *both = both_.data(), *c = counts_[begin - first];
    const double* one = table(begin);
    if (end - begin == 2) {
        const std::int32_t* d = counts_[begin + 1 - first];
        const double* two = table(begin + 1);
        for (std::size_t v = 0; v < block.stride; ++v) full[v] += one[c[v]] + two[d[v]] - sum[both[v]];
        return;
    }
    for (std::size_t v = 0; v < block.stride; ++v) full[v] += one[c[v]] - sum[both[v]];
    for (int s = begin + 1; s < end; ++s) {
        const std::int32_t* d = counts_[s - first];
        const double* two = table(s);
        for (std::size_t v = 0; v < block.stride; ++v) full[v] += two[d[v]];
    }
}

void RowMaker::sum_groups(int base, int stop) {
    auto add = [&](std::span<const int> group, const Matrix<double>& weights, int from, int n, int to) {
        int p = 0;
        auto some = [&]<int P>() {
            const double* weight[P];
            double* out[P];
            for (int i = 0; i < P; ++i) weight[i] = weights[from + p + i], out[i] = sums_[to + p + i];
            add_weighted_rows<P>(group, base, of_slice_, weight, out);
        };
        for (; p + 4 <= n; p += 4) some.template operator()<4>();
        for (; p < n; ++p) some.template operator()<1>();
    };
    for (int j = 0, n = n_groups(); j < n; ++j) {
        const auto begin = std::lower_bound(groups_[j].begin(), groups_[j].end(), base), end = std::lower_bound(begin, groups_[j].end(), stop);
        const std::span<const int> group(begin, end);
        const Summed& m = model_sums_;
        if (j == 0) {
            add(group, *m.weight, 0, m.n_weights, 0);
            add(group, *m.mean, 0, m.n_means, m.n_weights);
        } else {
            add(group, *m.weight, m.first_effect_weight, m.n_effect_weights, row_of(j, m.first_effect_weight));
        }
    }
}

// The same sums over all rows, whatever y is: what complete variables leave for level 0. Columns of members are coded.
void RowMaker::find_totals(const Slices& slices) {
    const Summed& sum = model_sums_;
    const int P = sum.n_weights, e = sum.n_means, W = sum.n_effect_weights;
    const int n = n_groups();
    totals_.assign(std::size_t(row_of(n, sum.first_effect_weight)), 0.0);
    for (int k : groups_[0])
        for (int p = 0; p < P; ++p) totals_[p] += (*sum.weight)[p][k] * sum.rows[k];
    for (int j = 1; j < n; ++j)
        for (int p = sum.first_effect_weight; p < sum.first_effect_weight + W; ++p)
            for (int k : groups_[j]) totals_[row_of(j, p)] += (*sum.weight)[p][k] * sum.rows[k];
    const Coding& S = *model_sums_.functions;
    for (int f = 0; f < e; ++f) {
        double& total = totals_[P + f];
        for (int k = 0; k < slices.n; ++k) total -= (*sum.mean)[f][k] * sum.rows[k];
        for (int l = 0; l < S.levels; ++l)
            for (int k = 0; k < slices.n; ++k) total += S(l, f) * (*sum.counts)[l][k];
    }
    int indicator = 1, column = 1;
    for (const Coding* coding : *model_sums_.members) {
        const Coding& c = *coding;
        for (int p = sum.first_effect_weight; p < sum.first_effect_weight + W; ++p) {
            levels_.assign(c.levels, totals_[p]);
            for (int l = 1; l < c.levels; ++l) levels_[l] = totals_[row_of(indicator + l - 1, p)], levels_[0] -= levels_[l];
            for (int b = 0; b < c.columns; ++b) {
                double& total = totals_[row_of(column + b, p)];
                total = 0.0;
                for (int l = 0; l < c.levels; ++l) total += c(l, b) * levels_[l];
            }
        }
        indicator += c.levels - 1, column += c.columns;
    }
}

// The score of every column: what is there, less what is expected.
void RowMaker::find_scores() {
    const Coding& S = *model_sums_.functions;
    const std::size_t width = sums_.stride();
    for (int f = 0; f < model_sums_.n_means; ++f) {
        double* score = sums_[model_sums_.n_weights + f];
        for (std::size_t c = 0; c < width; ++c) score[c] = -score[c];
        for (int l = 0; l < S.levels; ++l) {
            const double s = S(l, f);
            const std::int32_t* margin = margins_[l];
            if (s != 0.0)
                for (std::size_t c = 0; c < width; ++c) score[c] += s * margin[c];
        }
    }
}

// Indicators of the levels of members, and what they leave of all slices, become the columns of their codings, in place.
void RowMaker::code_members(std::size_t width) {
    int indicator = 1, column = 1;
    for (const Coding* coding : *model_sums_.members) {
        const Coding& c = *coding;
        for (int p = model_sums_.first_effect_weight; p < model_sums_.first_effect_weight + model_sums_.n_effect_weights; ++p) {
            small_.reserve(c.levels, width);
            std::copy_n(sums_[p], small_.stride(), small_[0]);
            for (int l = 1; l < c.levels; ++l) {
                std::copy_n(sums_[row_of(indicator + l - 1, p)], small_.stride(), small_[l]);
                double* zero = small_[0];
                const double* level = small_[l];
                for (std::size_t i = 0; i < small_.stride(); ++i) zero[i] -= level[i];
            }
            for (int b = 0; b < c.columns; ++b) {
                double* out = sums_[row_of(column + b, p)];
                std::fill_n(out, small_.stride(), 0.0);
                for (int l = 0; l < c.levels; ++l) {
                    const double s = c(l, b), *level = small_[l];
                    if (s == 0.0) continue;
                    for (std::size_t i = 0; i < small_.stride(); ++i) out[i] += s * level[i];
                }
            }
        }
        indicator += c.levels - 1, column += c.columns;
    }
}

// The levels of all ys of a block, in a row of sums, become the columns of a coding.
void RowMaker::code(const Block& block, const Coding& coding, int row, double* out) {
    const std::size_t S = block.stride;
    const double *sum = sums_[row], total = totals_[row];
    for (int b = 0; b < coding.columns; ++b) {
        double* to = out + b * S;
        if (block.first_level == 1) {  // level 0 is what the others leave
            const double zero = coding(0, b);
            std::fill_n(to, S, zero * total);
            for (int l = 1; l < block.levels; ++l) {
                const double s = coding(l, b) - zero, *level = sum + (l - 1) * S;
                if (s != 0.0)
                    for (std::size_t v = 0; v < S; ++v) to[v] += s * level[v];
            }
        } else {
            std::fill_n(to, S, 0.0);
            for (int l = 0; l < block.levels; ++l) {
                const double s = coding(l, b), *level = sum + l * S;
                if (s != 0.0)
                    for (std::size_t v = 0; v < S; ++v) to[v] += s * level[v];
            }
        }
    }
}

// t of some ys of a block (all, if none are named) that are coded alike: one Newton step from zero (Rao's score, with what they share with the model).
void RowMaker::judge(const Block& block, const Coding& coding, const std::vector<int>& which) {
    if (is_large_) return judge_large(block, coding, which);
    const std::size_t S = block.stride, columns = coding.columns * S;
    const int e = model_.e, size = model_.size, P = model_.n_weights;
    z_.reserve(std::size_t(e * size + e), columns);
    for (int f = 0; f < e; ++f) {
        for (int a = 0; a < model_.q; ++a) code(block, coding, model_.ei(f, a), z_[f * size + a]);
        for (int g = 0; g < e; ++g)
            for (int j = 1; j < model_.width; ++j) code(block, coding, row_of(j, model_.ee(f, g)), z_[f * size + model_.effect_at(g, j)]);
        code(block, coding, P + f, z_[e * size + f]);
        std::size_t c = 0;
        for (; c + 32 <= z_.stride(); c += 32) solve_tile<4>(model_.factor, size, z_, f * size, c);
        for (; c < z_.stride(); c += 8) solve_tile<1>(model_.factor, size, z_, f * size, c);
    }
    if (e > 1 || coding.columns > 1) {
        for (int v : which) main_[v] = judge_one(block, coding, v);
        for (int v = 0; which.empty() && v < int(block.variables.size()); ++v) main_[v] = judge_one(block, coding, v);
        return;
    }
    const double effect = shared_.options.precision.effect, *u = z_[size];
    inner_.assign(S, effect);
    double *inner = inner_.data(), *main = main_.data();
    const double *own = sums_[model_.ee(0, 0)], total = totals_[model_.ee(0, 0)];
    const double zero = block.first_level == 1 ? coding(0, 0) * coding(0, 0) : 0.0;
    if (block.first_level == 1)
        for (std::size_t v = 0; v < S; ++v) inner[v] += zero * total;
    for (int l = block.first_level; l < block.levels; ++l) {
        const double s = coding(l, 0) * coding(l, 0) - zero, *level = own + (l - block.first_level) * S;
        for (std::size_t v = 0; v < S; ++v) inner[v] += s * level[v];
    }
    for (int i = 0; i < size; ++i) {
        const double* z = z_[i];
        for (std::size_t v = 0; v < S; ++v) inner[v] -= z[v] * z[v];
    }
    if (which.empty() || which.size() == block.variables.size()) {
        for (std::size_t v = 0; v < S; ++v) main[v] = 0.5 * (u[v] * u[v] / inner[v] - log_of(inner[v] / effect));
    } else {
        for (int v : which) main[v] = 0.5 * (u[v] * u[v] / inner[v] - log_of(inner[v] / effect));
    }
}

double RowMaker::judge_one(const Block& block, const Coding& coding, int v) {
    const int e = model_.e, size = model_.size, r = coding.columns, n = e * r;
    const std::size_t S = block.stride;
    small_.reserve(std::size_t(n) + 1, n), zt_.reserve(n, size);
    for (int f = 0; f < e; ++f)
        for (int b = 0; b < r; ++b)
            for (int i = 0; i < size; ++i) zt_[f * r + b][i] = z_[f * size + i][b * S + v];
    levels_.resize(block.levels);
    for (int f = 0; f < e; ++f)
        for (int g = 0; g <= f; ++g) {
            const int row = model_.ee(f, g);
            levels_[0] = totals_[row];
            for (int l = block.first_level; l < block.levels; ++l) levels_[l] = sums_[row][(l - block.first_level) * S + v];
            for (int l = 1; l < block.levels && block.first_level == 1; ++l) levels_[0] -= levels_[l];
            for (int b = 0; b < r; ++b)
                for (int b2 = 0; b2 < r; ++b2) {
                    if (f == g && b2 > b) continue;
                    double own = 0.0;
                    for (int l = 0; l < block.levels; ++l) own += coding(l, b) * coding(l, b2) * levels_[l];
                    small_[f * r + b][g * r + b2] = own - dot(zt_[f * r + b], zt_[g * r + b2], size);
                }
        }
    double* u = small_[n];
    const double effect = shared_.options.precision.effect;
    for (int i = 0; i < n; ++i) small_[i][i] += effect, u[i] = z_[e * size + i / r][(i % r) * S + v];
    cholesky(small_, n);
    const double log_det = log_determinant(small_, n);
    solve_lower(small_, n, u);
    return 0.5 * (dot(u, u, n) - log_det + n * std::log(effect));
}

// The same where x has many levels: in the eigenvectors of W̄ and X there is one small system for every contrast of x.
void RowMaker::judge_large(const Block& block, const Coding& coding, const std::vector<int>& which) {
    const std::size_t S = block.stride, columns = coding.columns * S;
    const int q = large_.q, width = large_.width, r = coding.columns, n_levels = q + 1;
    z_.reserve(std::size_t(width + n_levels), columns);  // cross terms with the design; scores by level of x
    for (int j = 0; j < width; ++j) code(block, coding, row_of(j, 0), z_[j]);
    for (int l = 0; l < n_levels; ++l) code(block, coding, 1 + l, z_[width + l]);
    zt_.resize(std::size_t(width + q), columns);  // the same in the eigenvectors
    for (int j = 0; j < width; ++j)
        for (int i = 0; i < width; ++i) {
            const double entry = large_.basis[i][j], *from = z_[i];
            double* to = zt_[j];
            for (std::size_t c = 0; c < columns; ++c) to[c] += entry * from[c];
        }
    const Coding& contrasts = shared_.contrasts_for(n_levels);
    for (int a = 0; a < q; ++a)
        for (int l = 0; l < n_levels; ++l) {
            double entry = 0.0;
            for (int b = 0; b < q; ++b) entry += large_.vectors[b][a] * contrasts(l, b);
            const double* from = z_[width + l];
            double* to = zt_[width + a];
            for (std::size_t c = 0; c < columns; ++c) to[c] += entry * from[c];
        }
    const double effect = shared_.options.precision.effect;
    levels_.resize(block.levels);
    std::vector<double> own(std::size_t(r) * r), u(r), cross(std::size_t(r) * width), weighted(width);
    auto one = [&](int v) {
        levels_[0] = totals_[0];
        for (int l = block.first_level; l < block.levels; ++l) levels_[l] = sums_[0][(l - block.first_level) * S + v];
        for (int l = 1; l < block.levels && block.first_level == 1; ++l) levels_[0] -= levels_[l];
        for (int b = 0; b < r; ++b)
            for (int b2 = 0; b2 <= b; ++b2) {
                double sum = 0.0;
                for (int l = 0; l < block.levels; ++l) sum += coding(l, b) * coding(l, b2) * levels_[l];
                own[b * r + b2] = sum;
            }
        for (int b = 0; b < r; ++b)
            for (int j = 0; j < width; ++j) cross[b * width + j] = zt_[j][b * S + v];
        double total = q * r * std::log(effect);
        for (int a = 0; a < q; ++a) {
            const double omega = large_.omega[a], *shrink = large_.shrink[a];
            small_.reserve(r, r);
            for (int b = 0; b < r; ++b) {
                for (int j = 0; j < width; ++j) weighted[j] = omega * omega * shrink[j] * cross[b * width + j];
                for (int b2 = 0; b2 <= b; ++b2) small_[b][b2] = omega * own[b * r + b2] - dot(weighted.data(), cross.data() + b2 * width, width);
                small_[b][b] += effect;
                u[b] = zt_[width + a][b * S + v];
            }
            cholesky(small_, r);
            total -= log_determinant(small_, r);
            solve_lower(small_, r, u.data());
            total += dot(u.data(), u.data(), r);
        }
        return 0.5 * total;
    };
    if (which.empty())
        for (int v = 0; v < int(block.variables.size()); ++v) main_[v] = one(v);
    for (int v : which) main_[v] = one(v);
}

}  // namespace ibmap
