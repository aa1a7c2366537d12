#include "row_keys.hpp"

namespace ibmap {

RowKeys::RowKeys(const Table& table) : n_rows(std::size_t(table.n_rows)) {
    int end = 0;
    for (int r : table.levels) {
        const int width = std::bit_width(unsigned(std::max(r, 1) - 1));
        if (end + width > 64) ++n_words, end = 0;
        word.push_back(std::uint32_t(n_words - 1)), shift.push_back(std::uint8_t(width ? end : 0)), bits.push_back((1ull << width) - 1);
        end += width;
    }
    words_.assign(n_rows * n_words, 0);
    for (int v = 0; v < table.n; ++v) {
        std::uint64_t* to = words_.data() + word[v];
        if (table.is_wide(v)) {
            const std::int32_t* codes = table.codes(v);
            for (std::size_t i = 0; i < n_rows; ++i) to[i * n_words] |= std::uint64_t(codes[i]) << shift[v];
            continue;
        }
        for (int level = 1; level < table.levels[v]; ++level) {
            const std::uint64_t *from = table.bits(v, level), code = std::uint64_t(level) << shift[v];
            for (std::size_t w = 0; w < table.n_words; ++w)
                for (std::uint64_t mask = from[w]; mask; mask &= mask - 1) to[(64 * w + std::size_t(std::countr_zero(mask))) * n_words] |= code;
        }
    }
}

bool KeyedRows::serves(const BayesModel& model, int x, int y, Members given) {
    const std::int64_t i = model.levels[x], j = model.levels[y];
    if (i < 2 || j < 2 || i * j + i + j > MOST_CELLS) return false;
    std::int64_t possible = 1;
    for (std::int64_t v : given)
        if ((possible *= model.levels[v]) > model.n_rows / 64) return true;
    return false;
}

int KeyedRows::group(Members given) {
    const std::size_t n_rows = keys_.n_rows, n_slots = std::bit_ceil(2 * n_rows + 1);
    masks_.assign(keys_.n_words, 0), used_.clear();
    for (std::int64_t v : given) masks_[keys_.word[v]] |= keys_.bits[v] << keys_.shift[v];
    for (std::size_t w = 0; w < masks_.size(); ++w)
        if (masks_[w]) used_.push_back(std::uint32_t(w));
    auto agree = [&](const std::uint64_t* one, const std::uint64_t* other) {  // hashes only say where to look
        for (std::uint32_t w : used_)
            if ((one[w] ^ other[w]) & masks_[w]) return false;
        return true;
    };
    slots_.assign(n_slots, -1), of_row.resize(n_rows), size.clear();
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint64_t* row = keys_.row(i);
        std::uint64_t hash = 0;
        for (std::uint32_t w : used_) {
            hash = (hash ^ (row[w] & masks_[w])) * 0x9E3779B97F4A7C15ull;
            hash ^= hash >> 32;
        }
        std::size_t at = hash & (n_slots - 1);
        while (slots_[at] >= 0 && !agree(keys_.row(std::size_t(slots_[at])), row)) at = (at + 1) & (n_slots - 1);
        if (slots_[at] < 0) {
            slots_[at] = std::int32_t(i), of_row[i] = std::int32_t(size.size()), size.push_back(1);
        } else {
            ++size[of_row[i] = of_row[slots_[at]]];
        }
    }
    return int(size.size());
}

double KeyedRows::log_odds(int x, int y, Members given) {
    const int n_groups = group(given);
    const double log_prior = model_.log_prior(x, y), log_slices = model_.log_slices(given, -1, n_groups);
    std::int32_t end = 0;
    std::int64_t n_single = 0;
    start_.resize(std::size_t(n_groups));
    for (int g = 0; g < n_groups; ++g) {
        start_[g] = end;
        size[g] == 1 ? void(++n_single) : void(end += size[g]);
    }
    factors_.clear();
    if (end) {
        members_.resize(std::size_t(end));
        for (std::size_t i = 0; i < keys_.n_rows; ++i)
            if (const std::int32_t g = of_row[i]; size[g] > 1) members_[start_[g]++] = std::uint32_t(i);
        const Priors& priors = model_.priors(x, y);
        const std::size_t r = std::size_t(model_.levels[y]), columns = std::size_t(model_.levels[x]) * r, rows = columns + r;
        if (cells_.size() < rows + std::size_t(model_.levels[x])) cells_.resize(rows + std::size_t(model_.levels[x]));  // all zero, between groups
        for (int g = 0; g < n_groups; ++g) {
            if (size[g] == 1) continue;
            const std::span<const std::uint32_t> mine(members_.data() + start_[g] - size[g], std::size_t(size[g]));
            for (std::uint32_t i : mine) {
                const std::size_t a = keys_.code(i, x), b = keys_.code(i, y);
                ++cells_[a * r + b], ++cells_[columns + b], ++cells_[rows + a];
            }
            double d = priors.of_rows(size[g]);
            for (std::uint32_t i : mine) {  // what has been added is zero, and adds nothing when it comes again
                const std::size_t a = keys_.code(i, x), b = keys_.code(i, y);
                d += priors.cell[std::exchange(cells_[a * r + b], 0)];
                d -= priors.column[std::exchange(cells_[columns + b], 0)] + priors.row[std::exchange(cells_[rows + a], 0)];
            }
            factors_.push_back(d);
        }
    }
    return model_.log_odds(factors_, n_single, log_prior, log_slices);
}

}  // namespace ibmap
