// Whole rows as keys of a few words: rows that agree on many columns are found in one pass over the rows.
// Splitter goes column by column: the way for few columns, or for many ys. A question that comes alone, given dozens of
// columns, has hardly two rows to a slice.
#pragma once
#include "bayes.hpp"

namespace ibmap {

// The codes of every row of a complete table, side by side in words.
class RowKeys {
  public:
    explicit RowKeys(const Table& table);

    std::size_t n_rows, n_words = 1;
    std::vector<std::uint32_t> word;   // of every variable: the word that holds it,
    std::vector<std::uint8_t> shift;   // where in the word,
    std::vector<std::uint64_t> bits;   // and the bits that it takes, before they are shifted

    const std::uint64_t* row(std::size_t i) const { return words_.data() + i * n_words; }
    std::uint32_t code(std::size_t i, int v) const { return std::uint32_t(row(i)[word[v]] >> shift[v] & bits[v]); }

  private:
    std::vector<std::uint64_t> words_;
};

// The workspace of one thread.
class KeyedRows {
  public:
    static constexpr std::int64_t MOST_CELLS = 1 << 16;  // of a table that is counted in an array

    KeyedRows(const BayesModel& model, const RowKeys& keys) : model_(model), keys_(keys) {}

    // Whether a question is for keys: its table is small, and the slices may have less than a word of rows.
    static bool serves(const BayesModel& model, int x, int y, Members given);

    double log_odds(int x, int y, Members given);  // t

    // Number the rows that agree on all given variables, as they come: the group of each row, and the size of each group.
    int group(Members given);
    std::vector<std::int32_t> of_row, size;

  private:
    const BayesModel& model_;
    const RowKeys& keys_;
    std::vector<std::uint64_t> masks_;
    std::vector<std::uint32_t> used_, members_;
    std::vector<std::int32_t> slots_, start_, cells_;
    std::vector<double> factors_;
};

}  // namespace ibmap
