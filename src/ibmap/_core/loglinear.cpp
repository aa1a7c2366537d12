#include "loglinear.hpp"

#include <limits>

namespace ibmap {

void LogLinear::fit(const Slices& slices, const Coding& contrasts, const Coding& effects, std::vector<int> members,
                    std::vector<const Coding*> codings, const Precision& precision, const LogLinear* begin_with) {
    std::vector<int> columns{1};
    for (const Coding* c : codings) columns.push_back(columns.back() + c->columns);
    shape(contrasts, effects, std::move(columns), slices.n);
    which = std::move(members), coding = std::move(codings);
    set(slices);
    if (begin_with) begin_at(*begin_with);
    find_mode(precision, begin_with ? Start::theta : Start::shares);
}

void LogLinear::shape(const Coding& contrasts, const Coding& effects, std::vector<int> columns, int n) {
    C_ = &contrasts, S_ = &effects, nominal_ = effects.columns == contrasts.columns;
    q = C_->columns, e = S_->columns, which.clear(), coding.clear(), first = std::move(columns);
    n_weights = nominal_ ? q * (q + 1) / 2 : q + 1;
    first_effect_weight = nominal_ ? 0 : q, n_effect_weights = nominal_ ? n_weights : 1;
    n_slices = n, n_padded = int(padded(std::max(n_slices, 1), 8));
    width = first.back(), size = q + e * (width - 1);
    design.resize(width, n_padded), counts.resize(q + 1, n_padded);
    std::fill_n(design[0], n_slices, 1.0);
    rows.assign(n_padded, 0.0);
    odds_.reserve(e, SLICES_AT_ONCE), share.reserve(q + 1, n_padded), mean.reserve(e, n_padded), mean_c_.reserve(q, n_padded);
    weight.reserve(n_weights, n_padded), factor.reserve(size, size);
    step_.resize(size), trial_.resize(size), largest_.resize(SLICES_AT_ONCE), norm_.resize(SLICES_AT_ONCE), left_.resize(SLICES_AT_ONCE);
}

void LogLinear::find_mode(const Precision& precision, Start start) {
    precision_ = precision;
    if (start == Start::shares) begin();
    height = log_posterior(theta);
    bool is_here = start == Start::mode;  // whether the curvature is that at theta: steps may be made with an older one
    double before = std::numeric_limits<double>::infinity();
    auto find_step = [&](bool anew) {
        if (anew) curvature(), is_here = true;
        for (int j = 0; j < size; ++j) std::copy_n(information_[j], j + 1, factor[j]), factor[j][j] += prior(j);
        cholesky(factor, size);
    };
    auto length = [&] {
        trial_ = step_;
        solve_lower(factor, size, trial_.data());
        return dot(trial_.data(), trial_.data(), size);
    };
    for (int i = 0; i < STEPS; ++i) {
        slope();
        if (!i) find_step(!is_here);
        double now = length();
        if (now >= SHORTER * before) find_step(true), now = length();
        if (now < precision_.close) break;
        before = now, step_ = trial_;
        solve_upper(factor, size, step_.data());
        if (!climb()) break;
        is_here = false;
    }
    if (!is_here) find_step(true);
    const double log_prior = q * std::log(precision_.intercept) + (size - q) * std::log(precision_.effect);
    value = height + 0.5 * (log_prior - log_determinant(factor, size));
}

void LogLinear::set(const Slices& slices) {
    first_indicator_.assign(1, 1);
    for (const Coding* c : coding) first_indicator_.push_back(first_indicator_.back() + c->levels - 1);
    indicator_at_.resize(n_slices * which.size());
    for (int k = 0; k < n_slices; ++k) {
        rows[k] = slices.size[k];
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) counts[slices.set_level[s]][k] = slices.set_size[s];
        for (std::size_t m = 0; m < which.size(); ++m) {
            const int level = slices.code[k * slices.n_members + which[m]];
            for (int j = 0; j < coding[m]->columns; ++j) design[first[m] + j][k] = (*coding[m])(level, j);
            indicator_at_[k * which.size() + m] = level ? first_indicator_[m] + level - 1 : 0;
        }
    }
}

void LogLinear::begin() {  // at the shares of the levels of x in all rows
    theta.assign(size, 0.0);
    std::vector<double> total(q + 1, 0.5);
    for (int l = 0; l <= q; ++l)
        for (int k = 0; k < n_slices; ++k) total[l] += counts[l][k];
    for (int a = 0; a < q; ++a)
        for (int l = 0; l <= q; ++l) theta[a] += (*C_)(l, a) * std::log(total[l]);
}

void LogLinear::begin_at(const LogLinear& other) {  // which has the members of this one, and more
    theta.assign(size, 0.0);
    std::copy_n(other.theta.begin(), q, theta.begin());
    for (std::size_t m = 0, old = 0; m < which.size(); ++m, ++old) {
        while (other.which[old] != which[m]) ++old;
        for (int f = 0; f < e; ++f)
            std::copy_n(other.theta.begin() + other.effect_at(f, other.first[old]), coding[m]->columns, theta.begin() + effect_at(f, first[m]));
    }
}

double LogLinear::log_posterior(const std::vector<double>& at) {
    double total = 0.0;
    for (int i = 0; i < size; ++i) total -= 0.5 * prior(i) * at[i] * at[i];
    for (int first = 0; first < n_padded; first += SLICES_AT_ONCE) total += log_likelihood(at, first, std::min(SLICES_AT_ONCE, n_padded - first));
    return total;
}

double LogLinear::log_likelihood(const std::vector<double>& at, int begin, int n) {  // of some slices, which stay in the first-level cache
    for (int f = 0; f < e; ++f) {
        double* odds = odds_[f];
        std::fill_n(odds, n, 0.0);
        for (int j = 1; j < width; ++j) {
            const double effect = at[effect_at(f, j)], *d = design[j] + begin;
            for (int k = 0; k < n; ++k) odds[k] += effect * d[k];
        }
    }
    double *largest = largest_.data(), *norm = norm_.data();
    for (int l = 0; l <= q; ++l) {
        double *eta = share[l] + begin, intercept = 0.0;
        for (int a = 0; a < q; ++a) intercept += (*C_)(l, a) * at[a];
        std::fill_n(eta, n, intercept);
        for (int f = 0; f < e; ++f) {
            const double s = (*S_)(l, f), *odds = odds_[f];
            if (s != 0.0)
                for (int k = 0; k < n; ++k) eta[k] += s * odds[k];
        }
        for (int k = 0; k < n; ++k) largest[k] = l && largest[k] > eta[k] ? largest[k] : eta[k];
    }
    std::fill_n(norm, n, 0.0);
    double likelihood = 0.0;
    for (int l = 0; l <= q; ++l) {
        double* eta = share[l] + begin;
        const double* count = counts[l] + begin;
#pragma omp simd reduction(+ : likelihood)
        for (int k = 0; k < n; ++k) {
            const double below = eta[k] - largest[k], p = exp_below_zero(below);
            likelihood += count[k] * below;
            norm[k] += p, eta[k] = p;
        }
    }
    const double* size_of = rows.data() + begin;
#pragma omp simd reduction(+ : likelihood)
    for (int k = 0; k < n; ++k) {
        likelihood -= size_of[k] * log_of(norm[k]);
        norm[k] = 1.0 / norm[k];
    }
    for (int l = 0; l <= q; ++l) {
        double* p = share[l] + begin;
        for (int k = 0; k < n; ++k) p[k] *= norm[k];
    }
    return likelihood;
}

void LogLinear::find_weights() {
    for (int begin = 0; begin < n_padded; begin += SLICES_AT_ONCE) {
        const int n = std::min(SLICES_AT_ONCE, n_padded - begin);
        auto covariance = [&](const Coding& one, int f, const double* mean_f, const Coding& other, int g, const double* mean_g, double* out) {
            mean_f += begin, mean_g += begin, out += begin;
            for (int k = 0; k < n; ++k) out[k] = -mean_f[k] * mean_g[k];
            for (int l = 0; l <= q; ++l) {
                const double both = one(l, f) * other(l, g), *p = share[l] + begin;
                if (both != 0.0)
                    for (int k = 0; k < n; ++k) out[k] += both * p[k];
            }
        };
        if (nominal_) {
            for (int f = 0; f < q; ++f)
                for (int g = 0; g <= f; ++g) covariance(*S_, f, mean[f], *S_, g, mean[g], weight[pair(f, g)]);
            continue;
        }
        for (int a = 0; a < q; ++a) covariance(*S_, 0, mean[0], *C_, a, mean_c_[a], weight[a]);
        covariance(*S_, 0, mean[0], *S_, 0, mean[0], weight[q]);
    }
}

void LogLinear::slope() {  // step_; and the means of the functions of x
    for (int i = 0; i < size; ++i) step_[i] = -prior(i) * theta[i];
    for (int begin = 0; begin < n_padded; begin += SLICES_AT_ONCE) {
        const int n = std::min(SLICES_AT_ONCE, n_padded - begin);
        double* left = left_.data();
        auto residual = [&](const Coding& basis, int f, double* mean_f) {
            mean_f += begin;
            std::fill_n(mean_f, n, 0.0), std::fill_n(left, n, 0.0);
            for (int l = 0; l <= q; ++l) {
                const double s = basis(l, f), *count = counts[l] + begin, *p = share[l] + begin;
                if (s != 0.0)
                    for (int k = 0; k < n; ++k) mean_f[k] += s * p[k], left[k] += s * count[k];
            }
            const double* size_of = rows.data() + begin;
            for (int k = 0; k < n; ++k) left[k] -= size_of[k] * mean_f[k];
        };
        for (int f = 0; f < e; ++f) {
            residual(*S_, f, mean[f]);
            if (nominal_) step_[f] += dot(left, design[0] + begin, n);
            for (int j = 1; j < width; ++j) step_[effect_at(f, j)] += dot(left, design[j] + begin, n);
        }
        for (int a = 0; a < q && !nominal_; ++a) {
            residual(*C_, a, mean_c_[a]);
            step_[a] += dot(left, design[0] + begin, n);
        }
    }
}

void LogLinear::curvature() {  // the lower triangle of H - Λ = Σ_k n_k Cov ⊗ d_k d_kᵀ
    find_weights();
    information_.reserve(size, size);
    nominal_ && !which.empty() && width > int(which.size()) + 1 ? curvature_by_indicators() : curvature_by_columns();
    if (!nominal_) curvature_of_intercepts();
}

// Put Σ_k n_k Cov(function a, function b) d_ki d_kj where H has it; column 0 is the intercept.
void LogLinear::put(int a, int i, int b, int j, double sum) {
    const int one = i ? effect_at(a, i) : a, other = j ? effect_at(b, j) : b;
    information_[std::max(one, other)][std::min(one, other)] = sum;
}

void LogLinear::curvature_by_columns() {
    constexpr int A = VECTOR == 64 ? 4 : 2, B = 4;  // as many sums as there are registers
    const int from = nominal_ ? 0 : 1;
    auto weigh = [&](int p, int i, int first, int n) {
        const double *w = weight[p] + first, *d = design[i] + first, *size_of = rows.data() + first;
        double* weighted = weighted_[i];
        for (int k = 0; k < n; ++k) weighted[k] = size_of[k] * w[k] * d[k];
    };
    weighted_.reserve(width, SLICES_AT_ONCE), both_.resize(n_effect_weights, width * width);
    for (int first = 0; first < n_padded; first += SLICES_AT_ONCE) {  // so that they stay in the first-level cache
        const int n = std::min(SLICES_AT_ONCE, n_padded - first);
        for (int p = 0; p < n_effect_weights; ++p) {
            for (int i = from; i < width; ++i) weigh(first_effect_weight + p, i, first, n);
            for (int i = from; i < width; i += A)
                for (int j = from; j < std::min(i + A, width); j += B) {
                    const double *left[A], *right[B];
                    double tile[A][B];
                    for (int a = 0; a < A; ++a) left[a] = weighted_[std::min(i + a, width - 1)];
                    for (int b = 0; b < B; ++b) right[b] = design[std::min(j + b, width - 1)] + first;
                    inner_products(left, right, n, tile);
                    for (int a = 0; a < A && i + a < width; ++a)
                        for (int b = 0; b < B && j + b <= i + a; ++b) both_[p][(i + a) * width + j + b] += tile[a][b];
                }
        }
    }
    for (int f = 0; f < e; ++f)
        for (int g = 0; g <= f; ++g)
            for (int i = from; i < width; ++i)
                for (int j = from; j <= i; ++j) {
                    const double sum = both_[ee(f, g) - first_effect_weight][i * width + j];
                    put(f, i, g, j, sum);
                    if (f != g) put(f, j, g, i, sum);
                }
    weighted_.reserve(1, n_padded);
    for (int a = 0; a < q && !nominal_; ++a) {
        weigh(a, 0, 0, n_padded);
        for (int j = 1; j < width; ++j) information_[effect_at(0, j)][a] = dot(weighted_[0], design[j], n_padded);
    }
}

void LogLinear::curvature_by_indicators() {  // a slice has one level of every member: far fewer terms than columns
    const int P = n_weights, lane = int(padded(P, 8)), n_members = int(which.size()), n_indicators = first_indicator_.back();
    by_slice_.resize(n_slices, P);
    for (int p = 0; p < P; ++p)
        for (int k = 0; k < n_slices; ++k) by_slice_[k][p] = rows[k] * weight[p][k];
    const int across = std::max(n_indicators, width);
    both_.resize(across * across, P);
    std::vector<int> at;
    for (int k = 0; k < n_slices; ++k) {
        at.assign(1, 0);
        for (int m = 0; m < n_members; ++m)
            if (const int column = indicator_at_[k * n_members + m]) at.push_back(column);
        const double* w = by_slice_[k];
        for (std::size_t i = 0; i < at.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double* sum = both_[at[i] * across + at[j]];
                for (int v = 0; v < lane; v += LANES) lanes(sum + v) += lanes(w + v);
            }
    }
    for (int i = 0; i < n_indicators; ++i)
        for (int j = 0; j < i; ++j) std::copy_n(both_[i * across + j], lane, both_[j * across + i]);
    for (int j = 0; j < n_indicators; ++j) code_members([&](int i) { return both_[i * across + j]; }, lane);
    for (int i = 0; i < width; ++i) code_members([&](int j) { return both_[i * across + j]; }, lane);
    for (int f = 0; f < q; ++f)
        for (int g = 0; g <= f; ++g)
            for (int i = 0; i < width; ++i)
                for (int j = 0; j < width; ++j) put(f, i, g, j, both_[i * across + j][pair(f, g)]);
}

// Levels of every member, at(its indicators), and what they leave of at(0), become columns of its coding, in place.
template <class At>
void LogLinear::code_members(At at, int lane) {
    for (std::size_t m = 0; m < which.size(); ++m) {
        const Coding& c = *coding[m];
        levels_.resize(c.levels * lane);
        std::copy_n(at(0), lane, levels_.data());
        for (int l = 1; l < c.levels; ++l)
            for (int v = 0; v < lane; v += LANES) {
                lanes(&levels_[l * lane + v]) = lanes(at(first_indicator_[m] + l - 1) + v);
                lanes(&levels_[v]) -= lanes(&levels_[l * lane + v]);
            }
        for (int b = 0; b < c.columns; ++b) {
            double* out = at(first[m] + b);
            std::fill_n(out, lane, 0.0);
            for (int l = 0; l < c.levels; ++l) {
                const double s = c(l, b);
                if (s != 0.0)
                    for (int v = 0; v < lane; v += LANES) lanes(out + v) += s * lanes(&levels_[l * lane + v]);
            }
        }
    }
}

void LogLinear::curvature_of_intercepts() {  // of an ordinal x: Cᵀ [Σ_k n_k (diag p_k - p_k p_kᵀ)] C
    for (int a = 0; a < q; ++a)
        for (int b = 0; b <= a; ++b) {
            double total = 0.0;
            for (int k = 0; k < n_slices; ++k) {
                double covariance = -mean_c_[a][k] * mean_c_[b][k];
                for (int l = 0; l <= q; ++l) covariance += (*C_)(l, a) * (*C_)(l, b) * share[l][k];
                total += rows[k] * covariance;
            }
            information_[a][b] = total;
        }
}

bool LogLinear::climb() {  // a step is halved until it does not lower the log posterior, which has one mode
    for (double length = 1.0; length > 1e-8; length *= 0.5) {
        for (int i = 0; i < size; ++i) trial_[i] = theta[i] + length * step_[i];
        const double found = log_posterior(trial_);
        if (found >= height - ROUNDING * std::abs(height)) {
            height = found, theta = trial_;
            return true;
        }
    }
    log_posterior(theta);
    slope();
    return false;
}

double LogLinear::inside(int member) {
    const int r = first[member + 1] - first[member], block = e * r;
    if (!block) return 0.0;
    parts_.resize(block, size), inner_.reserve(block, block), effect_.resize(block);
    for (int i = 0; i < block; ++i) {
        const int at = effect_at(i / r, first[member] + i % r);
        effect_[i] = theta[at], parts_[i][at] = 1.0;
        solve_lower(factor, size, parts_[i]);
    }
    for (int i = 0; i < block; ++i)
        for (int j = 0; j <= i; ++j) inner_[i][j] = dot(parts_[i], parts_[j], size);
    if (block == 1) return 0.5 * (effect_[0] * effect_[0] / inner_[0][0] + std::log(inner_[0][0] * precision_.effect));
    cholesky(inner_, block);  // of the block of H⁻¹
    const double log_det = log_determinant(inner_, block);
    solve_lower(inner_, block, effect_.data());
    return 0.5 * (dot(effect_.data(), effect_.data(), block) + log_det + block * std::log(precision_.effect));
}

double LogLinear::length(int member) const {
    double total = 0.0;
    for (int f = 0; f < e; ++f)
        for (int j = first[member]; j < first[member + 1]; ++j) total += theta[effect_at(f, j)] * theta[effect_at(f, j)];
    return std::sqrt(total);
}

double LogLinear::left_out() {
    double total = height;
    effect_.resize(size);
    for (int i = 0; i < size; ++i) {
        std::fill_n(effect_.begin(), size, 0.0);
        effect_[i] = 1.0;
        solve_lower(factor, size, effect_.data());
        total += 0.5 * prior(i) * theta[i] * theta[i] - (1.0 - prior(i) * dot(effect_.data(), effect_.data(), size));
    }
    return total;
}

}  // namespace ibmap
