// Small positive definite systems: the Cholesky factor, and what is solved with it, in place.
#pragma once
#include "matrix.hpp"

#include <cmath>
#include <vector>

namespace ibmap {

[[gnu::always_inline]] inline double dot(const double* a, const double* b, int n) {
    double total = 0.0;
    if (n < 8) {
        for (int i = 0; i < n; ++i) total += a[i] * b[i];
        return total;
    }
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < n; ++i) total += a[i] * b[i];
    return total;
}

// out[i][j] = left[i] · right[j], all of n numbers, a multiple of 8: one pass for the whole tile, the sums in registers.
template <int A, int B>
void inner_products(const double* const (&left)[A], const double* const (&right)[B], int n, double (&out)[A][B]) {
    Doubles sums[A][B] = {};
    for (int k = 0; k < n; k += LANES) {
        Doubles of_left[A];
        for (int i = 0; i < A; ++i) of_left[i] = lanes(left[i] + k);
        for (int j = 0; j < B; ++j) {
            const Doubles of_right = lanes(right[j] + k);
            for (int i = 0; i < A; ++i) sums[i][j] += of_left[i] * of_right;
        }
    }
    for (int i = 0; i < A; ++i)
        for (int j = 0; j < B; ++j) {
            out[i][j] = 0.0;
            for (int v = 0; v < LANES; ++v) out[i][j] += sums[i][j][v];
        }
}

inline void cholesky(Matrix<double>& matrix, int n) {  // the lower triangle becomes its factor
    for (int i = 0; i < n; ++i) {
        double* row = matrix[i];
        for (int j = 0; j < i; ++j) row[j] = (row[j] - dot(row, matrix[j], j)) / matrix[j][j];
        row[i] = std::sqrt(std::max(row[i] - dot(row, row, i), 1e-300));
    }
}

inline double log_determinant(const Matrix<double>& factor, int n) {  // of the matrix that was factored
    double log_det = 0.0, product = 1.0;
    for (int i = 0; i < n; ++i) {
        product *= factor[i][i];
        if (product > 1e100 || product < 1e-100 || i + 1 == n) log_det += std::log(product), product = 1.0;
    }
    return 2.0 * log_det;
}

inline void solve_lower(const Matrix<double>& factor, int n, double* v) {  // v becomes L⁻¹ v
    for (int i = 0; i < n; ++i) v[i] = (v[i] - dot(factor[i], v, i)) / factor[i][i];
}

inline void solve_upper(const Matrix<double>& factor, int n, double* v) {  // v becomes L⁻ᵀ v
    for (int i = n - 1; i >= 0; --i) {
        double total = v[i];
        for (int k = i + 1; k < n; ++k) total -= factor[k][i] * v[k];
        v[i] = total / factor[i][i];
    }
}

// Eigenvalues and orthonormal eigenvectors (as columns) of a symmetric matrix, which becomes the eigenvectors:
// Householder reflections to tridiagonal form, then QL steps with implicit shifts.
inline void eigen(Matrix<double>& a, int n, std::vector<double>& values) {
    std::vector<double> off(n, 0.0);
    values.assign(n, 0.0);
    if (n == 0) return;
    for (int i = n - 1; i > 0; --i) {
        double h = 0.0, scale = 0.0;
        for (int k = 0; k < i; ++k) scale += std::abs(a[i][k]);
        if (i == 1 || scale == 0.0) {
            off[i] = a[i][i - 1];
        } else {
            for (int k = 0; k < i; ++k) a[i][k] /= scale, h += a[i][k] * a[i][k];
            double f = a[i][i - 1];
            const double g = f >= 0.0 ? -std::sqrt(h) : std::sqrt(h);
            off[i] = scale * g, h -= f * g, a[i][i - 1] = f - g, f = 0.0;
            for (int j = 0; j < i; ++j) {
                a[j][i] = a[i][j] / h;
                double sum = 0.0;
                for (int k = 0; k <= j; ++k) sum += a[j][k] * a[i][k];
                for (int k = j + 1; k < i; ++k) sum += a[k][j] * a[i][k];
                off[j] = sum / h, f += off[j] * a[i][j];
            }
            const double hh = f / (h + h);
            for (int j = 0; j < i; ++j) {
                const double fj = a[i][j], gj = off[j] -= hh * fj;
                for (int k = 0; k <= j; ++k) a[j][k] -= fj * off[k] + gj * a[i][k];
            }
        }
        values[i] = h;
    }
    values[0] = off[0] = 0.0;
    for (int i = 0; i < n; ++i) {
        if (values[i] != 0.0)
            for (int j = 0; j < i; ++j) {
                double g = 0.0;
                for (int k = 0; k < i; ++k) g += a[i][k] * a[k][j];
                for (int k = 0; k < i; ++k) a[k][j] -= g * a[k][i];
            }
        values[i] = a[i][i], a[i][i] = 1.0;
        for (int j = 0; j < i; ++j) a[j][i] = a[i][j] = 0.0;
    }
    for (int i = 1; i < n; ++i) off[i - 1] = off[i];
    off[n - 1] = 0.0;
    for (int l = 0; l < n; ++l)
        for (int steps = 0; steps < 100; ++steps) {
            int m = l;
            for (; m < n - 1; ++m)
                if (std::abs(off[m]) <= 1e-16 * (std::abs(values[m]) + std::abs(values[m + 1]))) break;
            if (m == l) break;
            double g = (values[l + 1] - values[l]) / (2.0 * off[l]), r = std::hypot(g, 1.0);
            g = values[m] - values[l] + off[l] / (g + (g >= 0.0 ? r : -r));
            double s = 1.0, c = 1.0, p = 0.0;
            int i = m - 1;
            for (; i >= l; --i) {
                double f = s * off[i];
                const double b = c * off[i];
                off[i + 1] = r = std::hypot(f, g);
                if (r == 0.0) {
                    values[i + 1] -= p, off[m] = 0.0;
                    break;
                }
                s = f / r, c = g / r, g = values[i + 1] - p;
                r = (values[i] - g) * s + 2.0 * c * b;
                p = s * r, values[i + 1] = g + p, g = c * r - b;
                for (int k = 0; k < n; ++k) {
                    f = a[k][i + 1];
                    a[k][i + 1] = s * a[k][i] + c * f;
                    a[k][i] = c * a[k][i] - s * f;
                }
            }
            if (r == 0.0 && i >= l) continue;
            values[l] -= p, off[l] = g, off[m] = 0.0;
        }
}

}  // namespace ibmap
