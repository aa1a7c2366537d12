// Slices of a blanket that agree on all members but one: they are one slice of the others.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace ibmap {

template <class Code>
class Chains {
  public:
    std::vector<int> head;   // of every chain
    std::vector<int> after;  // of every slice: the next one of its chain, or -1

    // codes: (slices, members), which the caller keeps.
    void set(std::span<const Code> codes, std::size_t n_slices, std::size_t n_members) {
        codes_ = codes, n_slices_ = n_slices, n_members_ = n_members;
        factor_.resize(n_members), hash_.assign(n_slices, 0);
        for (std::size_t j = 0; j < n_members; ++j) {  // a hash that is a sum: any member can be taken out
            std::uint64_t z = std::uint64_t(j + 1) * 0x9E3779B97F4A7C15ull;
            z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull, z = (z ^ z >> 27) * 0x94D049BB133111EBull;
            factor_[j] = z ^ z >> 31;
            for (std::size_t k = 0; k < n_slices; ++k) hash_[k] += factor_[j] * std::uint64_t(code(k)[j] + 1);
        }
    }

    // Chain the slices that agree on all members but j. Returns how many chains there are.
    int without(std::size_t j) {
        const std::size_t n_slots = std::bit_ceil(2 * n_slices_ + 2);
        slots_.assign(n_slots, -1), head.clear(), tail_.clear(), after.assign(n_slices_, -1);
        for (std::size_t k = 0; k < n_slices_; ++k) {
            std::uint64_t rest = hash_[k] - factor_[j] * std::uint64_t(code(k)[j] + 1);
            rest = (rest ^ rest >> 29) * 0xBF58476D1CE4E5B9ull;
            std::size_t at = (rest >> 20) & (n_slots - 1);
            while (slots_[at] >= 0 && !agree(k, std::size_t(head[slots_[at]]), j)) at = (at + 1) & (n_slots - 1);
            if (slots_[at] < 0) {
                slots_[at] = int(head.size()), head.push_back(int(k)), tail_.push_back(int(k));
            } else {
                int& last = tail_[slots_[at]];
                after[last] = int(k), last = int(k);
            }
        }
        return int(head.size());
    }

  private:
    std::span<const Code> codes_;
    std::size_t n_slices_ = 0, n_members_ = 0;
    std::vector<std::uint64_t> hash_, factor_;
    std::vector<int> slots_, tail_;

    const Code* code(std::size_t k) const { return codes_.data() + k * n_members_; }
    bool agree(std::size_t k, std::size_t l, std::size_t j) const {
        for (std::size_t i = 0; i < n_members_; ++i)
            if (i != j && code(k)[i] != code(l)[i]) return false;
        return true;
    }
};

}  // namespace ibmap
