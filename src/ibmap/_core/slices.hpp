// The rows of a table split by the levels of some variables (slices), and each slice by the levels of x (sets).
#pragma once
#include "table.hpp"

namespace ibmap {

using Members = std::span<const std::int64_t>;

// What a blanket makes of the rows. Slices come in the order of their levels; a set is the rows of a slice with one
// level of x. Rows that do not know x or a member are in none.
struct Slices {
    int n = 0, n_members = 0;
    std::vector<int> code;                // (slices, members): levels of the members
    std::vector<int> first_set{0};        // (slices + 1)
    std::vector<int> set_level, set_size; // of every set
    std::vector<int> size;                // of every slice

    void clear(int members) {
        n = 0, n_members = members;
        code.clear(), set_level.clear(), set_size.clear(), size.clear(), first_set.assign(1, 0);
    }
    int n_sets() const { return int(set_size.size()); }
};

// Splits the rows of a table: by bits while there are few cells, by keys of rows where there are many.
class Splitter {
  public:
    static constexpr double FEW = 256;  // cells up to which rows are split as bits

    Slices slices;
    std::vector<std::int64_t> start{0};   // (sets + 1): where the entries of each set begin
    std::vector<std::uint32_t> entry;     // words; or rows
    std::vector<std::uint64_t> mask;      // which rows of each word; empty if entries are rows

    bool as_bits() const { return as_bits_; }
    void split(const Table& table, int x, Members members, bool wants_codes = true);  // levels of members take time where there are many slices

  private:
    bool as_bits_ = false;
    std::vector<int> parent_, level_, codes_before_;
    std::vector<std::int64_t> other_start_;
    std::vector<std::uint32_t> other_entry_, key_, count_;
    std::vector<std::uint64_t> other_mask_, pairs_;
    std::vector<std::uint8_t> codes_;
    std::vector<std::int64_t> keyed_;     // by whose levels keys_of_keyed_ are, if the next who asks begins with these
    std::vector<std::uint32_t> keys_of_keyed_;
    std::uint64_t range_of_keyed_ = 1;
    const Table* table_of_keyed_ = nullptr;

    void by_bits(const Table& table, int x, Members members);
    void by_keys(const Table& table, int x, Members members, bool wants_codes);
    void refine(const Table& table, int variable);
    template <class Work>
    void with_codes(const Table& table, int variable, Work work);
    void add_to_keys(const Table& table, int variable);
    std::uint32_t sort_keys(const Table& table, int variable);
    std::uint32_t renumber(std::uint64_t range);
};

}  // namespace ibmap
