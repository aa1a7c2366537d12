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

    // Slices that agree on these members.
    void among(const Slices& slices, std::span<const int> members) {
        slices_ = &slices, members_.assign(members.begin(), members.end()), hash_.assign(slices.n, 0);
        double possible = 1.0;
        for (int m : members) {  // numbers with one digit for every member
            int levels = 1;
            for (int k = 0; k < slices.n; ++k) levels = std::max(levels, code(k)[m] + 1);
            for (int k = 0; k < slices.n; ++k) hash_[k] = hash_[k] * std::uint64_t(levels) + std::uint64_t(code(k)[m]);
            possible *= levels;
        }
        if (possible <= 2.0 * slices.n + 64.0) {  // every one has a place
            begin(std::size_t(possible));
            for (int k = 0; k < slices.n; ++k) put(k, slots_[hash_[k]]);
        } else {
            find();
        }
    }
    // Slices that agree on all members but each in turn; work(member) is called, and tells whether to go on.
    template <class Work>
    void without_each(const Slices& slices, Work work) {
        slices_ = &slices, members_.clear(), hash_.assign(slices.n, 0);
        for (int m = 0; m < slices.n_members; ++m) members_.push_back(m), add(m, 1);
        for (int m = 0; m < slices.n_members; ++m) {
            members_.erase(members_.begin() + m), add(m, -1);
            find();
            if (!work(m)) return;
            members_.insert(members_.begin() + m, m), add(m, 1);
        }
    }

  private:
    const Slices* slices_ = nullptr;
    std::vector<std::uint64_t> hash_, group_hash_;  // a sum over members: each can be taken out
    std::vector<int> members_, slots_, last_;

    const int* code(int k) const { return slices_->code.data() + std::size_t(k) * slices_->n_members; }
    void add(int member, std::uint64_t sign) {
        const std::uint64_t factor = sign * mix(std::uint64_t(member + 1) * 0x9E3779B97F4A7C15);
        for (int k = 0; k < slices_->n; ++k) hash_[k] += factor * std::uint64_t(code(k)[member] + 1);
    }
    bool agree(int k, int l) const {
        for (int m : members_)
            if (code(k)[m] != code(l)[m]) return false;
        return true;
    }
    void begin(std::size_t n_slots) {
        n = 0, of.resize(slices_->n), first.clear(), last_.clear(), group_hash_.clear(), next.assign(slices_->n, -1), slots_.assign(n_slots, -1);
    }
    void put(int k, int& group) {  // -1: a new one
        if (group < 0) {
            group = n++, first.push_back(k), last_.push_back(k), group_hash_.push_back(hash_[k]);
        } else {
            next[last_[group]] = k, last_[group] = k;
        }
        of[k] = group;
    }
    void find() {
        const std::size_t n_slots = std::bit_ceil(std::size_t(2 * slices_->n + 2));
        begin(n_slots);
        for (int k = 0; k < slices_->n; ++k) {
            std::size_t at = mix(hash_[k]) & (n_slots - 1);
            while (slots_[at] >= 0 && !(group_hash_[slots_[at]] == hash_[k] && agree(k, first[slots_[at]]))) at = (at + 1) & (n_slots - 1);
            put(k, slots_[at]);
        }
    }
};

}  // namespace ibmap
