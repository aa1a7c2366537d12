#include "large.hpp"

namespace ibmap {

namespace {

double inner_product(const Matrix<double>& a, const Matrix<double>& b) {
    double total = 0.0;
    for (std::size_t i = 0; i < a.rows(); ++i) total += dot(a[i], b[i], int(a.columns()));
    return total;
}

void copy(const Matrix<double>& from, Matrix<double>& to) {
    to.reserve(from.rows(), from.columns());
    for (std::size_t i = 0; i < from.rows(); ++i) std::copy_n(from[i], from.stride(), to[i]);
}

void add(Matrix<double>& to, double factor, const Matrix<double>& more) {
    for (std::size_t i = 0; i < to.rows(); ++i) {
        double* out = to[i];
        const double* from = more[i];
        for (std::size_t j = 0; j < to.columns(); ++j) out[j] += factor * from[j];
    }
}

// out = a b, (n, m) times (m, p), or aᵀ b where a is (m, n)
template <bool turned>
void multiply(const Matrix<double>& a, const Matrix<double>& b, int n, int m, int p, Matrix<double>& out) {
    out.resize(n, p);
    for (int i = 0; i < n; ++i) {
        double* to = out[i];
        for (int k = 0; k < m; ++k) {
            const double entry = turned ? a[k][i] : a[i][k], *from = b[k];
            for (int j = 0; j < p; ++j) to[j] += entry * from[j];
        }
    }
}

}  // namespace

void LargeModel::fit(const Slices& slices, const Coding& contrasts, std::vector<int> members, std::vector<const Coding*> codings,
                     const Precision& precision, const LargeModel* begin_at) {
    std::vector<int> columns{1};
    for (const Coding* c : codings) columns.push_back(columns.back() + c->columns);
    shape(contrasts, std::move(codings), std::move(columns), slices.n);
    which = std::move(members);
    counts.resize(n_levels_, n_padded), share.resize(n_levels_, n_padded), ones.resize(1, n_padded);
    for (int k = 0; k < n_slices; ++k) {
        ones[0][k] = 1.0;
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) {
            count(k, slices.set_level[s], slices.set_size[s]);
            counts[slices.set_level[s]][k] = slices.set_size[s];
        }
        for (std::size_t m = 0; m < which.size(); ++m) put(k, int(m), slices.code[k * slices.n_members + which[m]], 1.0);
    }
    if (begin_at) {
        theta.resize(q, width);
        for (int a = 0; a < q; ++a) theta[a][0] = begin_at->theta[a][0];
        for (std::size_t m = 0, old = 0; m < which.size(); ++m, ++old) {
            while (begin_at->which[old] != which[m]) ++old;
            for (int a = 0; a < q; ++a) std::copy_n(begin_at->theta[a] + begin_at->first[old], coding[m]->columns, theta[a] + first[m]);
        }
    }
    find_mode(precision, begin_at ? LogLinear::Start::theta : LogLinear::Start::shares);
    for (int k = 0; k < n_slices; ++k)
        for (int l = 0; l < n_levels_; ++l) share[l][k] = share_by_slice_[k][l];
}

void LargeModel::shape(const Coding& contrasts, std::vector<const Coding*> parts, std::vector<int> first_of_members, int n) {
    C_ = &contrasts, coding = std::move(parts), first = std::move(first_of_members), which.clear();
    q = C_->columns, n_levels_ = C_->levels, width = first.back(), n_slices = n, n_padded = int(padded(std::max(n, 1), 8));
    first_row_.clear(), first_column_.clear(), n_rows_of_table_ = 1;
    for (int column = 1; const Coding* c : coding) {
        first_row_.push_back(n_rows_of_table_), first_column_.push_back(column);
        n_rows_of_table_ += c->levels, column += c->columns;
    }
    by_slice_.resize(n_slices, n_levels_), share_by_slice_.resize(n_slices, n_levels_), change_.resize(padded(n_levels_, 8));
    rows.assign(n_padded, 0.0), at_.resize(n_slices * coding.size()), amount_.resize(at_.size());
}

void LargeModel::begin() {  // at the shares of the levels of x in all rows
    theta.resize(q, width);
    std::vector<double> total(n_levels_, 0.5);
    for (int k = 0; k < n_slices; ++k)
        for (int l = 0; l < n_levels_; ++l) total[l] += by_slice_[k][l];
    for (int a = 0; a < q; ++a)
        for (int l = 0; l < n_levels_; ++l) theta[a][0] += (*C_)(l, a) * std::log(total[l]);
}

void LargeModel::find_basis() {  // of X, from sums over every pair of levels or numbers
    const int n_parts = int(coding.size());
    scratch_.resize(n_rows_of_table_, n_rows_of_table_);
    for (int k = 0; k < n_slices; ++k) {
        const int* at = at_.data() + k * n_parts;
        const double* amount = amount_.data() + k * n_parts;
        scratch_[0][0] += rows[k];
        for (int i = 0; i < n_parts; ++i) {
            const double weighted = rows[k] * amount[i];
            scratch_[at[i]][0] += weighted;
            for (int j = 0; j <= i; ++j) scratch_[at[i]][at[j]] += weighted * amount[j];
        }
    }
    for (int i = 0; i < n_rows_of_table_; ++i)
        for (int j = 0; j < i; ++j) scratch_[j][i] = scratch_[i][j];
    auto code = [&](const Matrix<double>& from, int n, Matrix<double>& to) {  // columns: levels become the columns of codings
        to.resize(width, n);
        std::copy_n(from[0], n, to[0]);
        for (int p = 0; p < n_parts; ++p)
            for (int b = 0; b < coding[p]->columns; ++b)
                for (int l = 0; l < coding[p]->levels; ++l)
                    for (int i = 0; i < n; ++i) to[first_column_[p] + b][i] += (*coding[p])(l, b) * from[first_row_[p] + l][i];
    };
    code(scratch_, n_rows_of_table_, scratch2_);
    scratch_.resize(n_rows_of_table_, width);
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < n_rows_of_table_; ++j) scratch_[j][i] = scratch2_[i][j];
    code(scratch_, width, basis);
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) basis[i][j] /= std::sqrt(prior(i) * prior(j));
    eigen(basis, width, mu_);
    for (double& mu : mu_) mu = std::max(mu, 0.0);
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) basis[i][j] /= std::sqrt(prior(i));
}

void LargeModel::find_mode(const Precision& precision, LogLinear::Start start) {
    if (start != LogLinear::Start::mode) seen_.clear();
    const double more = precision.effect - precision_.effect;
    for (Seen& one : seen_) {  // H as it is with this prior
        for (int a = 0; a < q; ++a)
            for (int j = 1; j < width; ++j) one.curved[a][j] += more * one.direction[a][j];
        one.size = inner_product(one.direction, one.curved);
    }
    precision_ = precision, precision_.close = std::max(precision.close, CLOSE);
    if (start == LogLinear::Start::shares) begin();
    find_basis();
    if (start == LogLinear::Start::mode) {  // where the last one ended: all but the prior is the same
        for (int a = 0; a < q; ++a)
            for (int j = 1; j < width; ++j) height -= 0.5 * more * theta[a][j] * theta[a][j];
        find_shrink();
    } else {
        height = at(theta);
        diagonalise();
    }
    for (int i = 0; i < STEPS; ++i) {
        find_slope();
        newton_step();
        const double gain = inner_product(slope_, step_);
        if (gain < precision_.close) break;
        double length = 1.0, found = 0.0;
        for (;; length *= 0.5) {
            copy(theta, trial_);
            add(trial_, length, step_);
            found = at(trial_);
            if (found >= height - 1e-13 * std::abs(height) || length < 1e-6) break;
        }
        if (found < height - 1e-13 * std::abs(height)) {
            at(theta);
            break;
        }
        copy(trial_, theta);
        height = found;
        if (gain < LAST) break;
    }
    diagonalise();
    value = height;
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) value += 0.5 * std::log(shrink[a][j]);
}

void LargeModel::to_table(const Matrix<double>& effects) {
    // first by columns of the design and levels of x, then by levels of the members
    table_.resize(n_rows_of_table_, n_levels_), scratch_.resize(width, n_levels_);
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) {
            const double effect = effects[a][j];
            double* to = scratch_[j];
            for (int l = 0; l < n_levels_; ++l) to[l] += effect * (*C_)(l, a);
        }
    std::copy_n(scratch_[0], n_levels_, table_[0]);
    for (std::size_t m = 0; m < coding.size(); ++m)
        for (int level = 0; level < coding[m]->levels; ++level)
            for (int b = 0; b < coding[m]->columns; ++b) {
                const double s = (*coding[m])(level, b), *from = scratch_[first_column_[m] + b];
                double* to = table_[first_row_[m] + level];
                for (int l = 0; l < n_levels_; ++l) to[l] += s * from[l];
            }
}

void LargeModel::from_sums(Matrix<double>& out) {
    scratch_.resize(width, n_levels_), out.resize(q, width);
    std::copy_n(sums_[0], n_levels_, scratch_[0]);
    for (std::size_t m = 0; m < coding.size(); ++m)
        for (int level = 0; level < coding[m]->levels; ++level)
            for (int b = 0; b < coding[m]->columns; ++b) {
                const double s = (*coding[m])(level, b), *from = sums_[first_row_[m] + level];
                double* to = scratch_[first_column_[m] + b];
                for (int l = 0; l < n_levels_; ++l) to[l] += s * from[l];
            }
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) {
            double total = 0.0;
            for (int l = 0; l < n_levels_; ++l) total += (*C_)(l, a) * scratch_[j][l];
            out[a][j] = total;
        }
}

double LargeModel::at(const Matrix<double>& effects) {
    double total = 0.0;
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) total -= 0.5 * prior(j) * effects[a][j] * effects[a][j];
    to_table(effects);
    const int n = int(padded(n_levels_, 8)), n_parts = int(coding.size());
    std::fill(table_[0] + n_levels_, table_[0] + n, -1e300);  // no level: its share is 0
    double norms = 1.0;  // a product of them, of slices with one row: one logarithm serves many
    for (int k = 0; k < n_slices; ++k) {
        double *eta = share_by_slice_[k], largest = -1e300, norm = 0.0, sum = 0.0;
        const double* count_of = by_slice_[k];
        std::copy_n(table_[0], n, eta);
        for (int p = 0; p < n_parts; ++p) {
            const double *more = table_[at_[k * n_parts + p]], amount = amount_[k * n_parts + p];
            for (int l = 0; l < n; ++l) eta[l] += amount * more[l];
        }
        for (int l = 0; l < n; ++l) largest = eta[l] > largest ? eta[l] : largest;
#pragma omp simd reduction(+ : sum, norm)
        for (int l = 0; l < n; ++l) {
            const double below = eta[l] - largest, share_of_level = exp_below_zero(below);
            sum += count_of[l] * below, norm += share_of_level, eta[l] = share_of_level;
        }
        total += sum;
        if (rows[k] != 1.0) total -= rows[k] * std::log(norm);
        else if ((norms *= norm) > 1e200) total -= std::log(norms), norms = 1.0;
        const double scale = 1.0 / norm;
        for (int l = 0; l < n; ++l) eta[l] *= scale;
    }
    return total - std::log(norms);
}

void LargeModel::find_slope() {
    sums_.resize(n_rows_of_table_, n_levels_);
    const int n = int(padded(n_levels_, 8)), n_parts = int(coding.size());
    for (int k = 0; k < n_slices; ++k) {
        double* left = change_.data();
        for (int l = 0; l < n_levels_; ++l) left[l] = by_slice_[k][l] - rows[k] * share_by_slice_[k][l];
        for (int l = n_levels_; l < n; ++l) left[l] = 0.0;
        for (int l = 0; l < n; ++l) sums_[0][l] += left[l];
        for (int p = 0; p < n_parts; ++p) {
            double *to = sums_[at_[k * n_parts + p]], amount = amount_[k * n_parts + p];
            for (int l = 0; l < n; ++l) to[l] += amount * left[l];
        }
    }
    from_sums(slope_);
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) slope_[a][j] -= prior(j) * theta[a][j];
}

// Σ over slices of rows (diag p - p pᵀ) change, by level of every part: 8 V levels of x, in registers.
template <int V>
void LargeModel::sum_changes() {
    if (8 * V < n_levels_) {
        if constexpr (8 * V < MOST_LEVELS) return sum_changes<V + 1>();
    }
    constexpr int N = 8 * V / LANES;
    const int n_parts = int(coding.size());
    Doubles start[N], total[N] = {};
    for (int v = 0; v < N; ++v) start[v] = lanes(table_[0] + LANES * v);
    for (int k = 0; k < n_slices; ++k) {
        const double* p = share_by_slice_[k];  // 0 beyond the last level
        const int* at = at_.data() + k * n_parts;
        const double* amount = amount_.data() + k * n_parts;
        Doubles change[N], weighted = {};
        for (int v = 0; v < N; ++v) change[v] = start[v];
        for (int i = 0; i < n_parts; ++i)
            for (int v = 0; v < N; ++v) change[v] += amount[i] * lanes(table_[at[i]] + LANES * v);
        for (int v = 0; v < N; ++v) weighted += lanes(p + LANES * v) * change[v];
        double mean = 0.0;
        for (int i = 0; i < LANES; ++i) mean += weighted[i];
        for (int v = 0; v < N; ++v) change[v] = rows[k] * lanes(p + LANES * v) * (change[v] - mean), total[v] += change[v];
        for (int i = 0; i < n_parts; ++i)
            for (int v = 0; v < N; ++v) lanes(sums_[at[i]] + LANES * v) += amount[i] * change[v];
    }
    for (int v = 0; v < N; ++v) lanes(sums_[0] + LANES * v) = total[v];
}

void LargeModel::curvature(const Matrix<double>& direction, Matrix<double>& out) {
    to_table(direction);
    sums_.resize(n_rows_of_table_, n_levels_);
    sum_changes<1>();
    from_sums(out);
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) out[a][j] += prior(j) * direction[a][j];
}

void LargeModel::approximately(const Matrix<double>& slope, Matrix<double>& out) {
    multiply<true>(vectors, slope, q, q, width, scratch_);   // Vᵀ slope
    multiply<false>(scratch_, basis, q, width, width, scratch2_);
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) scratch2_[a][j] *= shrink[a][j];
    scratch_.resize(q, width);
    for (int a = 0; a < q; ++a)
        for (int i = 0; i < width; ++i) scratch_[a][i] = dot(scratch2_[a], basis[i], width);
    multiply<false>(vectors, scratch_, q, q, width, out);
}

// H⁻¹ slope, with the approximated H corrected by what is known of H: its products with earlier directions (as in L-BFGS).
void LargeModel::nearly(const Matrix<double>& slope, Matrix<double>& out) {
    copy(slope, corrected_);
    factor_.resize(seen_.size());
    for (std::size_t i = seen_.size(); i-- > 0;) {
        factor_[i] = inner_product(seen_[i].direction, corrected_) / seen_[i].size;
        add(corrected_, -factor_[i], seen_[i].curved);
    }
    approximately(corrected_, out);
    for (std::size_t i = 0; i < seen_.size(); ++i) add(out, factor_[i] - inner_product(seen_[i].curved, out) / seen_[i].size, seen_[i].direction);
}

void LargeModel::diagonalise() {  // W̄, the mean covariance of the contrasts of x
    double total = 0.0;
    inner_.resize(n_levels_, n_levels_);
    for (int k = 0; k < n_slices; ++k) {
        const double* p = share_by_slice_[k];
        total += rows[k];
        for (int l = 0; l < n_levels_; ++l) {
            const double weighted = rows[k] * p[l];
            inner_[l][l] += weighted;
            for (int i = 0; i <= l; ++i) inner_[l][i] -= weighted * p[i];
        }
    }
    for (int l = 0; l < n_levels_; ++l)
        for (int i = 0; i < l; ++i) inner_[i][l] = inner_[l][i];
    total = std::max(total, 1e-300);
    vectors.resize(q, q);
    scratch_.resize(n_levels_, q);
    for (int l = 0; l < n_levels_; ++l)
        for (int b = 0; b < q; ++b)
            for (int i = 0; i < n_levels_; ++i) scratch_[l][b] += inner_[l][i] * (*C_)(i, b) / total;
    for (int a = 0; a < q; ++a)
        for (int b = 0; b < q; ++b)
            for (int l = 0; l < n_levels_; ++l) vectors[a][b] += (*C_)(l, a) * scratch_[l][b];
    eigen(vectors, q, omega);
    for (double& one : omega) one = std::max(one, 0.0);
    find_shrink();
}

void LargeModel::find_shrink() {
    shrink.resize(q, width);
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) shrink[a][j] = 1.0 / (1.0 + omega[a] * mu_[j]);
}

void LargeModel::newton_step() {
    step_.resize(q, width);
    copy(slope_, rest_);
    nearly(rest_, solved_);
    copy(solved_, direction_);
    double size = inner_product(rest_, solved_);
    fresh_.clear();
    const double enough = std::max(size * std::min(ROUGH, std::sqrt(size)), 0.1 * precision_.close);
    for (int i = 0; i < INNER && size > enough; ++i) {
        curvature(direction_, curved_);
        const double bend = inner_product(direction_, curved_), length = size / bend;
        fresh_.push_back({direction_, curved_, bend});
        add(step_, length, direction_);
        add(rest_, -length, curved_);
        nearly(rest_, solved_);
        const double before = size;
        size = inner_product(rest_, solved_);
        for (int a = 0; a < q; ++a)
            for (int j = 0; j < width; ++j) direction_[a][j] = solved_[a][j] + size / before * direction_[a][j];
    }
    for (Seen& one : fresh_) seen_.push_back(std::move(one));
    // more would cost more than going through all slices does
    const double worth = double(n_slices) * double(coding.size() + 1) * n_levels_ / (double(q) * width);
    while (double(seen_.size()) > std::min(worth, MOST_SEEN)) seen_.pop_front();
}

double LargeModel::inside(int member) {
    const int begin = first[member], r = first[member + 1] - begin;
    double total = q * r * std::log(precision_.effect);
    std::vector<double> effect(r);
    for (int a = 0; a < q; ++a) {
        inner_.resize(r, r);
        for (int i = 0; i < r; ++i) {
            effect[i] = 0.0;
            for (int b = 0; b < q; ++b) effect[i] += vectors[b][a] * theta[b][begin + i];
            for (int j = 0; j <= i; ++j)
                for (int c = 0; c < width; ++c) inner_[i][j] += basis[begin + i][c] * shrink[a][c] * basis[begin + j][c];
        }
        cholesky(inner_, r);
        total += log_determinant(inner_, r);
        solve_lower(inner_, r, effect.data());
        total += dot(effect.data(), effect.data(), r);
    }
    return 0.5 * total;
}

Matrix<double> LargeModel::covariance(int member) const {
    const int begin = first[member], r = first[member + 1] - begin;
    Matrix<double> out(std::max(q * r, 1), std::max(q * r, 1)), one(std::max(r, 1), std::max(r, 1));
    for (int a = 0; a < q; ++a) {  // each eigenvector of W̄ by itself
        for (int i = 0; i < r; ++i)
            for (int j = 0; j < r; ++j) {
                one[i][j] = 0.0;
                for (int c = 0; c < width; ++c) one[i][j] += basis[begin + i][c] * shrink[a][c] * basis[begin + j][c];
            }
        for (int f = 0; f < q; ++f)
            for (int g = 0; g < q; ++g)
                for (int i = 0; i < r; ++i)
                    for (int j = 0; j < r; ++j) out[f * r + i][g * r + j] += vectors[f][a] * vectors[g][a] * one[i][j];
    }
    return out;
}

double LargeModel::length(int member) const {
    double total = 0.0;
    for (int a = 0; a < q; ++a)
        for (int j = first[member]; j < first[member + 1]; ++j) total += theta[a][j] * theta[a][j];
    return std::sqrt(total);
}

double LargeModel::left_out() const {
    double total = height;
    for (int a = 0; a < q; ++a)
        for (int j = 0; j < width; ++j) total += 0.5 * prior(j) * theta[a][j] * theta[a][j] - (1.0 - shrink[a][j]);
    return total;
}

}  // namespace ibmap
