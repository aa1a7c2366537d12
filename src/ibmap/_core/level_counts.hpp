// The rows of a set by level of one variable: the way for few ys, of any number of levels.
#pragma once
#include "counting.hpp"

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

}  // namespace ibmap
