// Sets of rows counted in all columns of a block at once: bits of words, or bytes of rows.
#pragma once
#include "slices.hpp"

namespace ibmap {

// Counts of one question at a time: who counts, from the bits of a table or from cells that an engine has counted,
// is for those who ask no matter.
class CountSource {
  public:
    virtual ~CountSource() = default;
    virtual const Slices& slices() const = 0;
    virtual std::size_t n_blocks() const = 0;
    virtual const Block& block(std::size_t index) const = 0;
    // out[s - first][column]: rows of set s in each column of a block, first <= s < last.
    virtual void count(std::size_t block, int first, int last, Matrix<std::int32_t>& out) = 0;
};

class BitCounts final : public CountSource {
  public:
    explicit BitCounts(const Table& table) : table_(table) {}
    void ask(int x, Members members, bool wants_codes = true) { splitter_.split(table_, x, members, wants_codes); }

    const Splitter& splitter() const { return splitter_; }
    const Table& table() const { return table_; }
    const Slices& slices() const override { return splitter_.slices; }
    std::size_t n_blocks() const override { return table_.blocks.size(); }
    const Block& block(std::size_t index) const override { return table_.blocks[index]; }
    void count(std::size_t block, int first, int last, Matrix<std::int32_t>& out) override;

  private:
    const Table& table_;
    Splitter splitter_;
    std::vector<std::uint32_t> rows_, words_;
    std::vector<std::uint64_t> masks_;
    std::vector<std::int64_t> cursor_, word_start_;

    void count_codes(const Block& block, int first, int last, Matrix<std::int32_t>& out);
    struct SetWords {  // where the words of each set begin, and all words with their masks
        const std::int64_t* start;
        const std::uint32_t* words;
        const std::uint64_t* masks;
    };
    SetWords as_words(int first, int last);
    std::span<const std::uint32_t> rows_of(int set);
};

}  // namespace ibmap
