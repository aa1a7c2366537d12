#include "counting.hpp"

#include "popcount.hpp"

namespace ibmap {

namespace {

using Bytes = std::uint8_t __attribute__((vector_size(VECTOR), aligned(1), may_alias));
using UnsignedBytes = std::uint8_t __attribute__((vector_size(VECTOR / 4), aligned(1), may_alias));
using Ints32 = std::int32_t __attribute__((vector_size(VECTOR), aligned(4), may_alias));

constexpr std::size_t TILE_BYTES = 1 << 18;  // of columns that stay in the cache while all sets pass over them

template <int V, bool adds>  // count the bits of some words in 8 V columns, the sums in registers
void count_words(const std::uint64_t* columns, std::size_t stride, std::span<const std::uint32_t> words, const std::uint64_t* masks, std::int32_t* out) {
    constexpr int N = 8 * V / LANES;
    Words sums[N] = {};
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::uint64_t* from = columns + words[i] * stride;
        const std::uint64_t mask = masks[i];
        for (int v = 0; v < N; ++v) sums[v] += ones_in(*reinterpret_cast<const Words*>(from + LANES * v) & mask);
    }
    for (int v = 0; v < N; ++v) {
        HalfInts& to = *reinterpret_cast<HalfInts*>(out + LANES * v);
        const HalfInts found = __builtin_convertvector(sums[v], HalfInts);
        to = adds ? to + found : found;
    }
}

template <int V>  // add the bytes of some rows in 64 V columns; a byte holds up to 255
void add_bytes(const Matrix<std::uint8_t>& bytes, std::span<const std::uint32_t> rows, std::size_t column, std::int32_t* out) {
    constexpr int N = 64 * V / VECTOR, QUARTER = VECTOR / 4;
    for (std::size_t first = 0; first < rows.size(); first += 255) {
        Bytes sums[N] = {};
        for (std::uint32_t row : rows.subspan(first, std::min<std::size_t>(255, rows.size() - first))) {
            const std::uint8_t* from = bytes[row] + column;
            for (int v = 0; v < N; ++v) sums[v] += *reinterpret_cast<const Bytes*>(from + VECTOR * v);
        }
        for (int v = 0; v < N; ++v) {
            const auto* small = reinterpret_cast<const std::uint8_t*>(&sums[v]);
            for (int i = 0; i < 4; ++i)
                *reinterpret_cast<Ints32*>(out + column + VECTOR * v + QUARTER * i) +=
                    __builtin_convertvector(*reinterpret_cast<const UnsignedBytes*>(small + QUARTER * i), Ints32);
        }
    }
}

template <bool adds>
void count_columns(const std::uint64_t* columns, std::size_t stride, std::size_t width, std::span<const std::uint32_t> words,
                   const std::uint64_t* masks, std::int32_t* out) {
    std::size_t c = 0;
    if constexpr (VECTOR == 64)
        for (; c + 64 <= width; c += 64) count_words<8, adds>(columns + c, stride, words, masks, out + c);
    for (; c + 16 <= width; c += 16) count_words<2, adds>(columns + c, stride, words, masks, out + c);
    for (; c < width; c += 8) count_words<1, adds>(columns + c, stride, words, masks, out + c);
}

template <bool adds>
void count_block(const Block& block, std::span<const std::uint32_t> words, const std::uint64_t* masks, std::int32_t* out) {
    if (block.level_stride == block.stride) return count_columns<adds>(block.bits, block.word_stride, block.width(), words, masks, out);
    for (int l = 0; l < block.n_levels(); ++l)
        count_columns<adds>(block.bits + l * block.level_stride, block.word_stride, block.stride, words, masks, out + l * block.stride);
}

}  // namespace

void BitCounts::count(std::size_t index, int first, int last, Matrix<std::int32_t>& out) {
    const Block& block = table_.blocks[index];
    const std::size_t place = padded(block.width(), 64), step = std::max<std::size_t>(64, TILE_BYTES / (8 * block.width()));
    out.reserve(last - first, place);
    if (!block.bits) return count_codes(block, first, last, out);
    const auto [start, words, masks] = as_words(first, last);
    if (step < table_.n_words) {  // with many rows all sets pass over some words before the next words are looked at
        cursor_.assign(start, start + (last - first));
        for (int s = first; s < last; ++s) std::fill_n(out[s - first], place, 0);
        for (std::size_t word = 0; word < table_.n_words; word += step)
            for (int s = first; s < last; ++s) {
                std::int64_t& from = cursor_[s - first];
                const std::uint32_t *begin = words + from, *all = words + start[s - first + 1];
                const std::uint32_t* end = std::lower_bound(begin, all, std::uint32_t(word + step));
                count_block<true>(block, {begin, end}, masks + from, out[s - first]);
                from += end - begin;
            }
        return;
    }
    const Matrix<std::uint8_t>* bytes = nullptr;
    for (int s = first; s < last; ++s) {
        const std::int64_t begin = start[s - first], n = start[s - first + 1] - begin;
        const int rows = splitter_.slices.set_size[s];
        std::fill(out[s - first] + block.width(), out[s - first] + place, 0);
        if (rows < 2 * n && (bytes || (bytes = table_.as_bytes(index)))) {  // few rows to a word: as bytes they are added up sooner
            std::size_t c = 0;
            const auto some = rows_of(s);
            std::fill_n(out[s - first], block.width(), 0);
            for (; c + 256 <= bytes->stride(); c += 256) add_bytes<4>(*bytes, some, c, out[s - first]);
            for (; c < bytes->stride(); c += 64) add_bytes<1>(*bytes, some, c, out[s - first]);
            continue;
        }
        count_block<false>(block, {words + begin, std::size_t(n)}, masks + begin, out[s - first]);
    }
}

// The words of some sets, one set after the other; rows of a set are in order.
BitCounts::SetWords BitCounts::as_words(int first, int last) {
    const auto& start = splitter_.start;
    if (splitter_.as_bits()) return {start.data() + first, splitter_.entry.data(), splitter_.mask.data()};
    word_start_.assign(1, 0), words_.clear(), masks_.clear();
    for (int s = first; s < last; ++s) {
        for (std::int64_t i = start[s]; i < start[s + 1]; ++i) {
            const std::uint32_t row = splitter_.entry[i], word = row / 64;
            if (std::int64_t(words_.size()) == word_start_.back() || words_.back() != word) words_.push_back(word), masks_.push_back(0);
            masks_.back() |= 1ull << row % 64;
        }
        word_start_.push_back(std::int64_t(words_.size()));
    }
    return {word_start_.data(), words_.data(), masks_.data()};
}

std::span<const std::uint32_t> BitCounts::rows_of(int set) {
    const std::int64_t begin = splitter_.start[set], end = splitter_.start[set + 1];
    if (!splitter_.as_bits()) return {splitter_.entry.data() + begin, std::size_t(end - begin)};
    rows_.clear();
    for (std::int64_t i = begin; i < end; ++i)
        for (std::uint64_t mask = splitter_.mask[i]; mask; mask &= mask - 1)
            rows_.push_back(64 * splitter_.entry[i] + std::uint32_t(std::countr_zero(mask)));
    return rows_;
}

void BitCounts::count_codes(const Block& block, int first, int last, Matrix<std::int32_t>& out) {
    for (int s = first; s < last; ++s) {
        std::fill_n(out[s - first], out.stride(), 0);
        for (std::uint32_t row : rows_of(s))
            for (std::size_t i = 0; i < block.variables.size(); ++i) {
                const std::int32_t level = table_.codes(block.variables[i])[row];
                if (level >= 0) ++out[s - first][level * block.stride + i];
            }
    }
}

}  // namespace ibmap
