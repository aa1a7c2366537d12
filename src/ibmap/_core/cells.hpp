// Counts from lists of observed cells, which any engine can make and add up over partitions of the rows.
#pragma once
#include "conditionals.hpp"

namespace ibmap {

// The answer to questions (x, ys, given), one after the other: see engines/tables.py.
struct Cells {
    Vector<const std::int64_t> x, y, y_start, given, given_start, slice_start, keys, set_start;
    Table2<const std::int64_t> sets;   // (3, sets): slice, level of x, rows
    Vector<const std::int64_t> start;  // of the cells of every table
    Table2<const std::int64_t> cells;  // (4, cells): slice, level of x, level of y, rows

    std::size_t size() const { return x.shape(0); }
    // Refuse what would lead out of bounds: all of it; all but cells; the cells of one table.
    void check(const std::vector<int>& levels) const;
    void check_lists(const std::vector<int>& levels) const;
    void check_table(std::size_t q, std::int64_t t, const std::vector<int>& levels) const;
};

// The slices behind cells, one question at a time.
class SliceReader {
  public:
    explicit SliceReader(const Cells& cells) : cells_(cells) {
        std::int64_t at = 0;
        for (std::size_t q = 0; q < cells.size(); ++q) {
            first_key_.push_back(at);
            at += (cells.slice_start.data()[q + 1] - cells.slice_start.data()[q]) * (cells.given_start.data()[q + 1] - cells.given_start.data()[q]);
        }
    }
    const Slices& read(std::size_t question);
    const Slices& slices() const { return slices_; }

  private:
    const Cells& cells_;
    std::vector<std::int64_t> first_key_;
    Slices slices_;
};

class CellCounts final : public CountSource {
  public:
    CellCounts(const Cells& cells, const std::vector<int>& levels) : cells_(cells), levels_(levels), reader_(cells) {}
    void ask(std::size_t question);
    Members given(std::size_t question) const {
        const std::int64_t* start = cells_.given_start.data() + question;
        return {cells_.given.data() + start[0], std::size_t(start[1] - start[0])};
    }

    const Slices& slices() const override { return reader_.slices(); }
    std::size_t n_blocks() const override { return blocks_.size(); }
    const Block& block(std::size_t index) const override { return blocks_[index]; }
    void count(std::size_t block, int first, int last, Matrix<std::int32_t>& out) override;

  private:
    const Cells& cells_;
    const std::vector<int>& levels_;
    SliceReader reader_;
    int n_levels_ = 0;
    std::vector<int> set_at_;                        // the set of (slice, level of x)
    std::vector<Block> blocks_;
    std::vector<std::vector<std::int64_t>> tables_;  // of the variables of every block
};

}  // namespace ibmap
