#include "tiles.hpp"

#include "popcount.hpp"

namespace ibmap {

namespace {

constexpr std::size_t WORDS = 256;              // of a few columns, that fit the cache
constexpr int COLUMNS = VECTOR == 64 ? 32 : 8;  // that are counted at once

// out[i][c] += Σ_w ones(masks[i][w] & columns[w stride + c]): N masks, C columns, the sums in registers.
template <int N, int C>
void add_pairs(const std::uint64_t* const* masks, const std::uint64_t* columns, std::size_t stride, std::size_t begin, std::size_t end,
               std::int32_t* const* out, std::size_t c) {
    constexpr int V = C / LANES;
    Words sums[N][V] = {};
    for (std::size_t w = begin; w < end; ++w) {
        const std::uint64_t* from = columns + w * stride;
        for (int i = 0; i < N; ++i)
            for (int v = 0; v < V; ++v) sums[i][v] += ones_in(*reinterpret_cast<const Words*>(from + LANES * v) & masks[i][w]);
    }
    for (int i = 0; i < N; ++i)
        for (int v = 0; v < V; ++v) *reinterpret_cast<HalfInts*>(out[i] + c + LANES * v) += __builtin_convertvector(sums[i][v], HalfInts);
}

template <int C>
void add_pairs_of(std::span<const std::uint64_t* const> masks, const std::uint64_t* columns, std::size_t stride, std::size_t begin, std::size_t end,
                  std::int32_t* const* out, std::size_t c) {
    std::size_t i = 0;
    for (; i + 4 <= masks.size(); i += 4) add_pairs<4, C>(masks.data() + i, columns, stride, begin, end, out + i, c);
    for (; i < masks.size(); ++i) add_pairs<1, C>(masks.data() + i, columns, stride, begin, end, out + i, c);
}

}  // namespace

void count_tile(const Table& table, const Block& block, std::span<const std::uint64_t* const> masks, std::size_t from,
                std::span<std::int32_t* const> out) {
    for (std::int32_t* row : out) std::fill_n(row, block.width(), 0);
    for (std::size_t begin = 0; begin < table.n_words; begin += WORDS) {
        const std::size_t end = std::min(table.n_words, begin + WORDS);
        for (int l = 0; l < block.n_levels(); ++l) {
            const std::uint64_t* columns = block.bits + l * block.level_stride;
            std::size_t c = from;
            for (; c + COLUMNS <= block.stride; c += COLUMNS) add_pairs_of<COLUMNS>(masks, columns + c, block.word_stride, begin, end, out.data(), l * block.stride + c);
            for (; c < block.stride; c += 8) add_pairs_of<8>(masks, columns + c, block.word_stride, begin, end, out.data(), l * block.stride + c);
        }
    }
}

}  // namespace ibmap
