// Sets of rows that are masks of whole columns, many of them counted in the columns of a block at a time.
#pragma once
#include "table.hpp"

namespace ibmap {

// out[i][level stride + position]: rows of mask i in each column of a block that has bits, from a position on (a multiple of 8).
// The bits of a few columns stay in the cache while all masks pass over them.
void count_tile(const Table& table, const Block& block, std::span<const std::uint64_t* const> masks, std::size_t from,
                std::span<std::int32_t* const> out);

}  // namespace ibmap
