#include "mixed_table.hpp"

#include "pool.hpp"

namespace ibmap {

MixedTable::MixedTable(std::vector<Kind> kinds, std::vector<int> sizes, const std::int16_t* codes, const float* values, const double* weights,
                       std::int64_t rows, int n_threads)
    : n(int(kinds.size())), n_rows(rows), kind(std::move(kinds)), levels(std::move(sizes)), weight(std::size_t(rows), 1.0), known(kind.size()), entries(kind.size()) {
    if (weights) weight.assign(weights, weights + rows);
    for (double w : weight) total += w, is_whole = is_whole && w == std::floor(w) && w < 1e9;
    first.assign(1, 1), place.resize(n), first_atom.resize(n);
    for (int v = 0; v < n; ++v) {
        if (kind[v] == Kind::ordinal && levels[v] <= 2) kind[v] = Kind::nominal;
        if (is_number(v)) {
            place[v] = n_numbers++, first.push_back(first.back() + 2);
            continue;
        }
        contrasts_.try_emplace(levels[v], contrasts(levels[v])), scores_.try_emplace(levels[v], scores(levels[v]));
        place[v] = n_coded++, first_atom[v] = n_atoms, n_atoms += levels[v] + 1;
        first.push_back(first.back() + effects_of(v).columns);
    }
    n_columns = first.back();
    for (int v = 0; v < n; ++v) most_columns = std::max(most_columns, columns_of(v));
    atoms.resize(std::size_t(rows) * n_coded), numbers.resize(std::size_t(rows) * 2 * n_numbers);
    for (int v = 0; v < n; ++v) {
        auto miss = [&](std::int64_t i) {
            if (known[v].empty()) known[v].assign(std::size_t(rows), 1);
            known[v][i] = 0;
        };
        if (is_number(v)) {
            for (int column = 0; column < 2; ++column)
                for (std::int64_t i = 0; i < rows; ++i) {
                    const float value = values[(std::size_t(column) * n_numbers + place[v]) * rows + i];
                    if (std::isnan(value)) miss(i);
                    numbers[std::size_t(i) * 2 * n_numbers + column * n_numbers + place[v]] = std::isnan(value) ? 0.0F : value;
                }
            continue;
        }
        const Coding& coding = effects_of(v);
        const int r = levels[v], columns = coding.columns;
        std::vector<double> share(std::size_t(r), 0.0);
        double sum = 0.0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const int code = codes[std::size_t(place[v]) * rows + i];
            atoms[std::size_t(i) * n_coded + place[v]] = first_atom[v] + (code < 0 ? r : code);
            if (code < 0) miss(i);
            else share[code] += weight[i], sum += weight[i];
        }
        entries[v] = coding.entry;
        entries[v].resize(std::size_t(r + 1) * columns, 0.0);
        for (int l = 0; l < r && sum > 0.0; ++l)
            for (int j = 0; j < columns; ++j) entries[v][std::size_t(r) * columns + j] += share[l] / sum * coding(l, j);
    }
    for (int v = 0; v < n; ++v) with_mean_.push_back(is_number(v) ? Coding{} : Coding{levels[v] + 1, columns_of(v), entries[v]});
    find_gram(n_threads);
}

void MixedTable::find_gram(int n_threads) {
    constexpr int TILE = 256, SIDE = 64;
    gram.resize(n_columns, n_columns);
    Matrix<double> columns(n_columns, TILE), weighted(n_columns, TILE);
    const int n_sides = (n_columns + SIDE - 1) / SIDE;
    for (std::int64_t start = 0; start < n_rows; start += TILE) {
        const int size = int(std::min<std::int64_t>(TILE, n_rows - start)), padded_size = int(padded(size, 8));
        for (int i = size; i < padded_size; ++i)
            for (int c = 0; c < n_columns; ++c) columns[c][i] = weighted[c][i] = 0.0;
        for (int i = 0; i < size; ++i) {
            columns[0][i] = 1.0;
            for (int v = 0; v < n; ++v)
                for (int j = 0; j < columns_of(v); ++j) columns[first[v] + j][i] = entry(start + i, v, j);
            for (int c = 0; c < n_columns; ++c) weighted[c][i] = weight[start + i] * columns[c][i];
        }
        spread(n_threads, n_sides, [&](int, std::int64_t side) {
            constexpr int A = 4, B = 4;
            for (int i = int(side) * SIDE; i < std::min<int>((int(side) + 1) * SIDE, n_columns); i += A)
                for (int j = 0; j < std::min(i + A, n_columns); j += B) {
                    const double *left[A], *right[B];
                    double tile[A][B];
                    for (int a = 0; a < A; ++a) left[a] = weighted[std::min(i + a, n_columns - 1)];
                    for (int b = 0; b < B; ++b) right[b] = columns[std::min(j + b, n_columns - 1)];
                    inner_products(left, right, padded_size, tile);
                    for (int a = 0; a < A && i + a < n_columns; ++a)
                        for (int b = 0; b < B && j + b <= i + a; ++b) gram[i + a][j + b] += tile[a][b];
                }
        });
    }
    for (int i = 0; i < n_columns; ++i)
        for (int j = 0; j < i; ++j) gram[j][i] = gram[i][j];
}

void MixedTable::products(const Matrix<double>& values, int n_functions, Matrix<double>& out) const {
    constexpr int AT_ONCE = 4;  // rows whose numbers are added in one pass over the sums
    out.resize(n_functions, n_columns);
    std::vector<double> by_atom(std::size_t(n_atoms) * n_functions, 0.0);
    Matrix<double> by_number(n_functions, std::size_t(2) * n_numbers);
    const int F = n_functions;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const std::int32_t* atom = atoms.data() + std::size_t(i) * n_coded;
        if (F == 1) {
            const double value = values[0][i];
            for (int v = 0; v < n_coded; ++v) by_atom[atom[v]] += value;
            continue;
        }
        for (int v = 0; v < n_coded; ++v) {
            double* sum = by_atom.data() + std::size_t(atom[v]) * F;
            for (int f = 0; f < F; ++f) sum[f] += values[f][i];
        }
    }
    const int across = 2 * n_numbers;
    for (std::int64_t i = 0; i + AT_ONCE <= n_rows; i += AT_ONCE) {
        const float *a = numbers.data() + std::size_t(i) * across, *b = a + across, *c = b + across, *d = c + across;
        for (int f = 0; f < F; ++f) {
            const double *v = values[f] + i, v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
            double* sum = by_number[f];
#pragma omp simd
            for (int j = 0; j < across; ++j) sum[j] += (v0 * double(a[j]) + v1 * double(b[j])) + (v2 * double(c[j]) + v3 * double(d[j]));
        }
    }
    for (std::int64_t i = n_rows / AT_ONCE * AT_ONCE; i < n_rows; ++i)
        for (int f = 0; f < F; ++f)
            for (int j = 0; j < across; ++j) by_number[f][j] += values[f][i] * double(numbers[std::size_t(i) * across + j]);
    for (int f = 0; f < F; ++f) {
        double whole = 0.0;
        for (std::int64_t i = 0; i < n_rows; ++i) whole += values[f][i];
        out[f][0] = whole;
        for (int v = 0; v < n; ++v)
            for (int j = 0; j < columns_of(v); ++j) {
                double& sum = out[f][first[v] + j];
                if (is_number(v)) {
                    sum = by_number[f][j * n_numbers + place[v]];
                    continue;
                }
                for (int l = 0; l <= levels[v]; ++l) sum += entries[v][std::size_t(l) * columns_of(v) + j] * by_atom[std::size_t(first_atom[v] + l) * F + f];
            }
    }
}

}  // namespace ibmap
