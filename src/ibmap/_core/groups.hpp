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
        n = 0, of.resize(slices.n), first.clear(), last_.clear(), next.assign(slices.n, -1);
        auto code = [&](int k) { return slices.code.data() + std::size_t(k) * slices.n_members; };
        double possible = 1.0;
        levels_.assign(members.size(), 1);
        for (std::size_t i = 0; i < members.size(); possible *= levels_[i++])
            for (int k = 0; k < slices.n; ++k) levels_[i] = std::max(levels_[i], code(k)[members[i]] + 1);
        if (possible <= 8.0 * slices.n + 1024.0) {  // every combination has a place
            slots_.assign(std::size_t(possible), -1);
            for (int k = 0; k < slices.n; ++k) {
                std::size_t at = 0;
                for (std::size_t i = 0; i < members.size(); ++i) at = at * levels_[i] + code(k)[members[i]];
                put(k, slots_[at]);
            }
            return;
        }
        const std::size_t n_slots = std::bit_ceil(std::size_t(2 * slices.n + 2));
        slots_.assign(n_slots, -1);
        auto agree = [&](int k, int l) {
            for (int m : members)
                if (code(k)[m] != code(l)[m]) return false;
            return true;
        };
        for (int k = 0; k < slices.n; ++k) {
            std::uint64_t hash = 0;
            for (int m : members) hash = (hash + std::uint64_t(code(k)[m]) + 1) * 0x9E3779B97F4A7C15;
            std::size_t at = mix(hash) & (n_slots - 1);
            while (slots_[at] >= 0 && !agree(k, first[slots_[at]])) at = (at + 1) & (n_slots - 1);
            put(k, slots_[at]);
        }
    }

  private:
    std::vector<int> slots_, last_, levels_;

    void put(int k, int& group) {  // -1: a new one
        if (group < 0) {
            group = n++, first.push_back(k), last_.push_back(k);
        } else {
            next[last_[group]] = k, last_[group] = k;
        }
        of[k] = group;
    }
};

}  // namespace ibmap
