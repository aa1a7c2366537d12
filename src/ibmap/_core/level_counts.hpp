// The rows of a set by level of one variable: the way for few ys, of any number of levels.
#pragma once
#include "counting.hpp"

#include <utility>

namespace ibmap {

struct LevelCount {
    int level, rows;
};

class LevelCounts {
  public:
    // Of set s; levels without a row are left out, the others come in any order.
    std::span<const LevelCount> of(const BitCounts& source, int s, int y);

    const std::uint8_t* codes(const Table& table, int y);  // of a variable that is not wide, 255 where it is missing

  private:
    int unpacked_ = -1;  // whose codes are in codes_
    std::vector<std::uint8_t> codes_;
    std::vector<std::int32_t> by_level_;
    std::vector<LevelCount> found_;
};

inline const std::uint8_t* LevelCounts::codes(const Table& table, int y) {
    if (unpacked_ != y) codes_.resize(std::size_t(table.n_rows)), table.unpack(y, codes_.data()), unpacked_ = y;
    return codes_.data();
}

inline std::span<const LevelCount> LevelCounts::of(const BitCounts& source, int s, int y) {
    const Splitter& sets = source.splitter();
    const Table& table = source.table();
    const std::int64_t begin = sets.start[s], end = sets.start[s + 1];
    const int levels = table.levels[y];
    found_.clear();
    if (sets.as_bits() && !table.is_wide(y)) {
        int rest = sets.slices.set_size[s];
        const bool complete = table.complete[y];
        for (int level = complete ? 1 : 0; level < levels && rest; ++level) {
            const std::uint64_t* bits = table.bits(y, level);
            int rows = 0;
            for (std::int64_t i = begin; i < end; ++i) rows += std::popcount(sets.mask[i] & bits[sets.entry[i]]);
            if (rows) found_.push_back({level, rows}), rest -= rows;
        }
        if (complete && rest) found_.push_back({0, rest});
        return found_;
    }
    if (by_level_.size() < std::size_t(levels)) by_level_.resize(std::size_t(levels));  // all zero, between sets
    auto add = [&](int level) {
        if (level >= 0 && !by_level_[level]++) found_.push_back({level, 0});
    };
    auto add_rows = [&](auto level_of) {
        if (!sets.as_bits()) {
            for (std::int64_t i = begin; i < end; ++i) add(level_of(sets.entry[i]));
            return;
        }
        for (std::int64_t i = begin; i < end; ++i)
            for (std::uint64_t mask = sets.mask[i]; mask; mask &= mask - 1) add(level_of(64 * sets.entry[i] + std::uint32_t(std::countr_zero(mask))));
    };
    if (table.is_wide(y)) {
        const std::int32_t* wide = table.codes(y);
        add_rows([=](std::uint32_t row) { return wide[row]; });
    } else {
        const std::uint8_t* unpacked = codes(table, y);
        add_rows([=](std::uint32_t row) { return unpacked[row] == 255 ? -1 : int(unpacked[row]); });
    }
    for (LevelCount& each : found_) each.rows = std::exchange(by_level_[each.level], 0);
    return found_;
}

}  // namespace ibmap
