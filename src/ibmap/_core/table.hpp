// A table of categories as bits: level by level (what splits rows), and word by word (what is counted).
#pragma once
#include "arrays.hpp"
#include "matrix.hpp"

#include <bit>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace ibmap {

inline constexpr int MOST_LEVELS = 100;             // of a variable that can be counted in columns
inline constexpr std::int64_t MOST_AS_BYTES = 1 << 18;  // rows beyond which columns of bytes leave the caches
inline constexpr int BLOCK_COLUMNS = 1024;          // of a block, if it has more than eight variables

// Variables of as many levels that are counted together. Level after level has a column for each of them; where all
// values are known, level 0 is what the others leave, and has none.
struct Block {
    int levels = 0, first_level = 0;
    std::vector<int> variables;
    std::size_t stride = 0;               // columns of a level, a multiple of 8; those beyond the last variable mean nothing
    const std::uint64_t* bits = nullptr;  // of the first word and column; null if codes are counted
    std::size_t word_stride = 0, level_stride = 0;

    int n_levels() const { return levels - first_level; }
    std::size_t width() const { return n_levels() * stride; }
};

class Table {
  public:
    std::int64_t n_rows = 0;
    int n = 0;
    std::size_t n_words = 0;
    std::vector<int> levels;
    std::vector<std::uint8_t> complete;
    std::vector<Block> blocks;

    Table(std::int64_t rows, Vector<const std::int64_t> n_levels, Vector<const bool> is_complete, Table2<const std::uint64_t> level_bits,
          Table2<const std::uint64_t> columns, Vector<const std::int64_t> order, Table2<const std::int64_t> ordered_blocks,
          Table2<const std::int32_t> wide_codes);
    Table(const Table&) = delete;

    // Where a variable has a level, word by word; only of narrow variables.
    bool is_wide(int variable) const { return first_[variable] < 0; }
    const std::uint64_t* bits(int variable, int level) const { return level_bits_.data() + (first_[variable] + level) * n_words; }
    const std::int32_t* codes(int variable) const { return wide_codes_.data() + wide_[variable] * n_rows; }

    // The codes of one variable, 255 where it is missing.
    void unpack(int variable, std::uint8_t* out) const;

    // (rows, columns of a block): 1 where a row has that level; null if there are too many rows for that.
    const Matrix<std::uint8_t>* as_bytes(std::size_t block) const;

  private:
    Table2<const std::uint64_t> level_bits_, columns_;
    Table2<const std::int32_t> wide_codes_;
    std::vector<std::int64_t> first_, wide_;
    std::vector<AlignedVector<std::uint64_t>> own_bits_;  // of blocks with missing values
    struct Bytes {
        std::once_flag once;
        Matrix<std::uint8_t> values;
    };
    std::vector<std::unique_ptr<Bytes>> bytes_;

    void add_blocks(std::vector<int> variables, std::size_t column, std::size_t stride);
    void add_incomplete();
};

}  // namespace ibmap
