// A table of levels and numbers, row by row, and the products of all columns of its design.
//
// Every variable is a block of columns: contrasts of its levels, a score of ordered levels, or a number and its square, made
// orthogonal. Column 0 is the intercept. Where a value is missing its columns have their means.
#pragma once
#include "linear.hpp"
#include "numbers.hpp"

#include <map>

namespace ibmap {

enum class Kind : std::uint8_t { nominal, ordinal, number };

class MixedTable {
  public:
    int n = 0, n_coded = 0, n_numbers = 0, n_columns = 1, most_columns = 0, n_atoms = 0;  // most_columns: of one variable
    std::int64_t n_rows = 0;
    double total = 0.0;                      // of the weights of rows
    bool is_whole = true;                    // whether all weights are whole numbers
    double prior_rows = 0.0;                 // rows that a number is known by beside its own: noise of its own variance
    std::vector<Kind> kind;
    std::vector<int> levels;                 // of each variable; 0 of a number
    std::vector<int> first;                  // (n + 1): columns of the design of each variable
    std::vector<int> place;                  // of a variable among those with levels, or among numbers
    std::vector<int> first_atom;             // of a variable with levels: one atom for a level, and one for what is missing
    std::vector<std::int32_t> atoms;         // (rows, variables with levels)
    std::vector<float> numbers;              // (rows, 2 · numbers): first columns of all, then the second ones
    std::vector<double> weight;              // of rows
    std::vector<std::vector<std::uint8_t>> known;  // which rows know a variable; empty if all do
    std::vector<std::vector<double>> entries;      // (levels + 1, columns) of a variable with levels; the last is its mean
    Matrix<double> gram;                     // (columns, columns): weighted products

    // codes: (variables with levels, rows), -1 is missing; numbers: (2, numbers, rows), NaN is missing; weights: of rows, or none.
    MixedTable(std::vector<Kind> kinds, std::vector<int> levels, const std::int16_t* codes, const float* numbers, const double* weights, std::int64_t n_rows, int n_threads);

    bool is_number(int v) const { return kind[v] == Kind::number; }
    int columns_of(int v) const { return first[v + 1] - first[v]; }
    const Coding& contrasts_of(int v) const { return contrasts_.at(levels[v]); }
    const Coding& effects_of(int v) const { return kind[v] == Kind::ordinal ? scores_.at(levels[v]) : contrasts_.at(levels[v]); }
    const Coding& effects_and_mean_of(int v) const { return with_mean_[v]; }  // one more level: what is missing
    int code(std::int64_t row, int v) const { return atoms[std::size_t(row) * n_coded + place[v]] - first_atom[v]; }
    double entry(std::int64_t row, int v, int column) const {
        if (is_number(v)) return numbers[std::size_t(row) * 2 * n_numbers + column * n_numbers + place[v]];
        return entries[v][std::size_t(code(row, v)) * columns_of(v) + column];
    }

    void copy(int v, int column, std::int64_t start, int size, double* out) const {  // some rows of one column
        if (is_number(v)) {
            const float* from = numbers.data() + std::size_t(start) * 2 * n_numbers + column * n_numbers + place[v];
            for (int i = 0; i < size; ++i) out[i] = double(from[std::size_t(i) * 2 * n_numbers]);
            return;
        }
        const std::int32_t* atom = atoms.data() + std::size_t(start) * n_coded + place[v];
        const double* entry = entries[v].data() + column;
        const int r = columns_of(v), before = first_atom[v];
        for (int i = 0; i < size; ++i) out[i] = entry[(atom[std::size_t(i) * n_coded] - before) * r];
    }

    // out[f][column] = Σ over rows of values[f][row] · column: all columns of the design at once.
    void products(const Matrix<double>& values, int n_functions, Matrix<double>& out) const;

  private:
    std::map<int, Coding> contrasts_, scores_;
    std::vector<Coding> with_mean_;

    void find_gram(int n_threads);
};

}  // namespace ibmap
