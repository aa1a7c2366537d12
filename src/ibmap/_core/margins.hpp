// Counts given all members of a blanket but one, as margins of the counts given all of them: rows are counted once.
#pragma once
#include "counting.hpp"

namespace ibmap {

class MarginCounts final : public CountSource {
  public:
    static constexpr std::size_t MOST = 1 << 23;  // counts that are worth keeping: 32 MiB for a thread

    explicit MarginCounts(const Table& table) : whole_(table), counts_(table.blocks.size()) {}

    // Split the rows by all members; tell whether margins can be had.
    bool ask(int x, Members members);
    // Answer from now on as if this member, which every row knows, were not there.
    void leave_out(int member);

    const Slices& slices() const override { return slices_; }
    std::size_t n_blocks() const override { return whole_.n_blocks(); }
    const Block& block(std::size_t index) const override { return whole_.block(index); }
    void count(std::size_t block, int first, int last, Matrix<std::int32_t>& out) override;

  private:
    BitCounts whole_;
    std::vector<Matrix<std::int32_t>> counts_;  // of every block, given all members
    std::vector<bool> is_counted_;              // whether they have been made
    Slices slices_;
    std::vector<int> order_, part_, first_part_;  // slices of the whole; its sets, one set of the margin after the other
};

}  // namespace ibmap
