// A table of categories as bits: level by level (what splits rows), and word by word (what is counted).
#pragma once
#include "arrays.hpp"
#include "matrix.hpp"
#include "spare.hpp"

#include <bit>
#include <memory>
#include <mutex>
#include <optional>
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

class Counter;  // counter.hpp

class Table {
  public:
    std::int64_t n_rows = 0;
    int n = 0;
    std::size_t n_words = 0;
    std::vector<int> levels;
    std::vector<std::uint8_t> complete;
    std::vector<Block> blocks;

    // level_sizes: rows of every row of level_bits. columns: the bits of complete variables word by word, where a file has them
    // (data/packed.py, blocks); otherwise they are made here.
    Table(std::int64_t rows, Vector<const std::int64_t> n_levels, Table2<const std::uint64_t> level_bits, Vector<const std::int64_t> level_sizes,
          Table2<const std::int32_t> wide_codes, std::optional<Table2<const std::uint64_t>> columns);
    ~Table();
    Table(const Table&) = delete;

    // Where a variable has a level, word by word; only of narrow variables.
    bool is_wide(int variable) const { return first_[variable] < 0; }
    const std::uint64_t* bits(int variable, int level) const { return level_bits_.data() + (first_[variable] + level) * n_words; }
    std::int64_t size(int variable, int level) const { return level_sizes_.data()[first_[variable] + level]; }  // rows of a level
    const std::int32_t* codes(int variable) const { return wide_codes_.data() + wide_[variable] * n_rows; }
    int level_of(int variable, std::int64_t row) const;  // -1 where it is missing

    // Where a variable stands among the blocks; -1 if it is constant or has too many levels.
    struct Place { int block = -1, position = -1; };
    Place place(int variable) const { return places_[variable]; }

    // The codes of one variable, 255 where it is missing.
    void unpack(int variable, std::uint8_t* out) const;

    // (rows, columns of a block): 1 where a row has that level; null if there are too many rows for that.
    const Matrix<std::uint8_t>* as_bytes(std::size_t block) const;

    Spare<Counter>& counters() const { return *counters_; }  // workspaces of those who ask for tables of counts

  private:
    Table2<const std::uint64_t> level_bits_;
    Vector<const std::int64_t> level_sizes_;
    Table2<const std::int32_t> wide_codes_;
    std::optional<Table2<const std::uint64_t>> columns_;
    std::vector<std::int64_t> first_, wide_;
    std::vector<Place> places_;
    std::vector<AlignedVector<std::uint64_t>> own_bits_;  // of blocks, unless a file has them
    struct Bytes {
        std::once_flag once;
        Matrix<std::uint8_t> values;
    };
    std::vector<std::unique_ptr<Bytes>> bytes_;
    std::unique_ptr<Spare<Counter>> counters_;

    void add_blocks(std::span<const int> variables, int first_level, const std::uint64_t* columns, std::size_t level_stride);
    void turn(Block& block);
};

}  // namespace ibmap
