// Slices that agree on some members of their conditioning set.
#pragma once
#include "slices.hpp"
#include "splitmix.hpp"

namespace ibmap {

// Groups are numbered as they come; each is a chain of slices, first to last.
class Groups {
  public:
    int n = 0;
    std::vector<int> of;     // the group of every slice
    std::vector<int> first;  // slice of every group
    std::vector<int> next;   // slice of the same group, or -1

    void find(const Slices& slices, std::span<const int> members) {
        const int K = slices.n;
        n = 0, of.resize(std::size_t(K)), first.clear(), last_.clear(), next.assign(std::size_t(K), -1);
        const std::size_t n_slots = std::bit_ceil(std::size_t(2 * K + 2));
        slots_.assign(n_slots, -1);
        auto code = [&](int k) { return slices.code.data() + std::size_t(k) * std::size_t(slices.n_members); };
        auto agree = [&](int k, int l) {
            for (int m : members)
                if (code(k)[m] != code(l)[m]) return false;
            return true;
        };
        for (int k = 0; k < K; ++k) {
            std::uint64_t hash = 0;
            for (int m : members) hash = (hash + std::uint64_t(code(k)[m]) + 1) * 0x9E3779B97F4A7C15;
            std::size_t at = mix(hash) & (n_slots - 1);
            while (slots_[at] >= 0 && !agree(k, first[slots_[at]])) at = (at + 1) & (n_slots - 1);
            const int group = slots_[at];
            of[k] = group < 0 ? n : group;
            if (group < 0) {
                slots_[at] = n++, first.push_back(k), last_.push_back(k);
            } else {
                next[last_[group]] = k, last_[group] = k;
            }
        }
    }

  private:
    std::vector<int> slots_, last_;
};

}  // namespace ibmap
