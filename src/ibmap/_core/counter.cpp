#include "counter.hpp"

#include "tiles.hpp"

#include <cmath>

namespace ibmap {

namespace {

constexpr int TILE_ROWS = 128;                 // levels of xs that are counted together
constexpr std::size_t MOST_COUNTS = 1 << 23;   // of one question, before they become cells

}  // namespace

// Call work(question, row) for every question; row: of the first level of its x in tiles that have been counted, or -1.
template <class Work>
void Counter::for_each(const Questions& asked, Work work) {
    Interrupt interrupt;
    for (std::size_t first = 0, last; first < asked.size(); first = last) {
        const bool simple = is_simple(asked, first);
        int rows = 0;
        row_.clear();
        for (last = first; last < asked.size() && (last == first || (simple && is_simple(asked, last) && rows < TILE_ROWS)); ++last)
            row_.push_back(simple ? rows : -1), rows += table_.levels[asked.x.data()[last]];
        for (Tile& tile : tiles_) tile.ready = false;
        if (simple) count_simple(asked, first, last);
        for (std::size_t q = first; q < last; ++q) work(q, row_[q - first]), interrupt.after(std::size_t(table_.n_rows) + asked.y[q].size());
    }
}

void Counter::count(const Questions& asked) {
    answer.clear();
    for_each(asked, [&](std::size_t q, int row) { add_tables(asked, q, row); });
}

void Counter::information(const Questions& asked, std::span<double> out) {
    if (n_log_n_.empty()) {
        n_log_n_.push_back(0.0);
        for (std::int64_t n = 1; n <= table_.n_rows; ++n) n_log_n_.push_back(double(n) * std::log(double(n)));
        nats_.resize(std::size_t(table_.n));
    }
    double* next = out.data();
    for_each(asked, [&](std::size_t q, int row) {
        const int x = int(asked.x.data()[q]);
        for (std::size_t b = 0; b < tiles_.size(); ++b)
            if (tiles_[b].ready && tiles_[b].n_asked) block_information(b, x, row);
        for (std::int64_t y : asked.y[q]) {
            const int block = table_.place(int(y)).block;
            if (block >= 0 && tiles_[block].ready) {
                *next++ = nats_[y];
                continue;
            }
            answer.cells.clear(), ask(x, {}), add_one(int(y));
            *next++ = information_of(answer.cells.all());
        }
    });
}

// I = (Σ c log c - Σ c_x log c_x - Σ c_y log c_y + n log n) / n, of x and all variables of a block that is counted.
void Counter::block_information(std::size_t b, int x, int row) {
    const Block& block = table_.blocks[b];
    const Tile& tile = tiles_[b];
    const std::size_t m = block.variables.size(), S = block.stride, from = tile.from;
    const double* f = n_log_n_.data();
    sums_.assign(std::size_t(block.levels + 2) * S, 0), sum_.assign(S, 0.0);
    std::int32_t *of_level = sums_.data() + std::size_t(block.levels) * S, *n = of_level + S;
    double* sum = sum_.data();
    for (int i = 0; i < table_.levels[x]; ++i) {
        const std::int32_t *counts = tile.counts[std::size_t(row + i)], size = std::int32_t(table_.size(x, i));
        std::fill_n(of_level, S, 0);
        for (int l = 0; l < block.n_levels(); ++l) {
            const std::int32_t* c = counts + std::size_t(l) * S;
            std::int32_t* of_y = sums_.data() + std::size_t(block.first_level + l) * S;
            for (std::size_t v = from; v < m; ++v) sum[v] += f[std::uint32_t(c[v])], of_level[v] += c[v], of_y[v] += c[v];
        }
        if (block.first_level) {  // level 0 has what the others leave
            for (std::size_t v = from; v < m; ++v) {
                const std::int32_t rest = size - of_level[v];
                sum[v] += f[std::uint32_t(rest)], sums_[v] += rest, of_level[v] = size;
            }
        }
        for (std::size_t v = from; v < m; ++v) sum[v] -= f[std::uint32_t(of_level[v])], n[v] += of_level[v];
    }
    for (int j = 0; j < block.levels; ++j) {
        const std::int32_t* of_y = sums_.data() + std::size_t(j) * S;
        for (std::size_t v = from; v < m; ++v) sum[v] -= f[std::uint32_t(of_y[v])];
    }
    for (std::size_t v = from; v < m; ++v)
        nats_[block.variables[v]] = n[v] ? std::max((sum[v] + f[std::uint32_t(n[v])]) / n[v], 0.0) : 0.0;
}

double Counter::information_of(std::span<const Cell> cells) {
    double sum = 0.0;
    std::int32_t n = 0;
    sorted_.clear();
    for (const Cell& cell : cells) sum += n_log_n_[cell.rows], n += cell.rows, sorted_.push_back({cell.y, cell.rows});
    auto subtract = [&](std::size_t size, auto level, auto rows) {  // the sums of a level, wherever it comes again
        for (std::size_t i = 0; i < size;) {
            std::int32_t of_level = rows(i);
            for (const int mine = level(i++); i < size && level(i) == mine; ++i) of_level += rows(i);
            sum -= n_log_n_[of_level];
        }
    };
    subtract(cells.size(), [&](std::size_t i) { return cells[i].x; }, [&](std::size_t i) { return cells[i].rows; });
    std::sort(sorted_.begin(), sorted_.end(), [](const LevelCount& a, const LevelCount& b) { return a.level < b.level; });
    subtract(sorted_.size(), [&](std::size_t i) { return sorted_[i].level; }, [&](std::size_t i) { return sorted_[i].rows; });
    return n ? std::max((sum + n_log_n_[n]) / n, 0.0) : 0.0;
}

void Counter::ask(int x, Members given) {
    if (x == x_ && std::ranges::equal(given, given_)) return;
    x_ = -1;  // in case that memory is short
    counts_.ask(x, given, false);
    given_.assign(given.begin(), given.end()), x_ = x;
}

// How many variables of each block some questions are about, and the first of them.
void Counter::look(const Questions& asked, std::size_t first, std::size_t last) {
    for (Tile& tile : tiles_) tile.n_asked = 0, tile.from = std::size_t(-1);
    for (std::size_t q = first; q < last; ++q)
        for (std::int64_t y : asked.y[q]) {
            const Table::Place place = table_.place(int(y));
            if (place.block < 0) continue;
            Tile& tile = tiles_[place.block];
            ++tile.n_asked, tile.from = std::min(tile.from, std::size_t(place.position) / 8 * 8);
        }
}

// Without given variables a set is a level of x, whose bits are there: many of them are counted together.
void Counter::count_simple(const Questions& asked, std::size_t first, std::size_t last) {
    look(asked, first, last);
    for (std::size_t b = 0; b < tiles_.size(); ++b) {
        Tile& tile = tiles_[b];
        const Block& block = table_.blocks[b];
        if (!block.bits || std::size_t(8 * tile.n_asked) <= block.variables.size() * (last - first)) continue;
        tile.counts.reserve(std::size_t(row_.back() + table_.levels[asked.x.data()[last - 1]]), block.width());
        masks_.clear(), places_.clear();
        for (std::size_t q = first; q < last; ++q) {
            const int x = int(asked.x.data()[q]);
            for (int level = table_.complete[x] ? 1 : 0; level < table_.levels[x]; ++level)
                masks_.push_back(table_.bits(x, level)), places_.push_back(tile.counts[std::size_t(row_[q - first] + level)]);
        }
        count_tile(table_, block, masks_, tile.from, places_);
        for (std::size_t q = first; q < last; ++q) {  // level 0 has what the others leave
            const int x = int(asked.x.data()[q]);
            if (!table_.complete[x] || !table_.levels[x]) continue;
            std::int32_t* rest = tile.counts[std::size_t(row_[q - first])];
            std::copy(totals(b).begin(), totals(b).end(), rest);
            for (int level = 1; level < table_.levels[x]; ++level) {
                const std::int32_t* counts = tile.counts[std::size_t(row_[q - first] + level)];
                for (std::size_t c = 0; c < block.width(); ++c) rest[c] -= counts[c];
            }
        }
        tile.ready = true;
    }
}

const std::vector<std::int32_t>& Counter::totals(std::size_t b) {
    std::vector<std::int32_t>& out = totals_[b];
    const Block& block = table_.blocks[b];
    if (out.empty()) {
        out.resize(block.width());
        for (int l = 0; l < block.n_levels(); ++l)
            for (std::size_t i = 0; i < block.variables.size(); ++i)
                out[l * block.stride + i] = std::int32_t(table_.size(block.variables[i], block.first_level + l));
    }
    return out;
}

// Blocks of which many variables are asked about are counted as wholes.
void Counter::count_blocks(const Questions& asked, std::size_t q) {
    look(asked, q, q + 1);
    const int n_sets = counts_.slices().n_sets();
    std::size_t n_counts = 0;
    for (std::size_t b = 0; b < tiles_.size(); ++b) {
        const Block& block = table_.blocks[b];
        const std::size_t more = std::size_t(n_sets) * padded(block.width(), 64);
        tiles_[b].ready = block.bits && std::size_t(8 * tiles_[b].n_asked) > block.variables.size() && n_counts + more <= MOST_COUNTS;
        if (!tiles_[b].ready) continue;
        counts_.count(b, 0, n_sets, tiles_[b].counts);
        n_counts += more;
    }
}

// row: of its first level in the tiles, if they have been counted already; otherwise -1.
void Counter::add_tables(const Questions& asked, std::size_t q, int row) {
    ask(int(asked.x.data()[q]), asked.given[q]);
    const Splitter& sets = counts_.splitter();
    const Slices& slices = counts_.slices();
    Set* set = answer.sets.room(std::size_t(slices.n_sets()));
    for (int k = 0; k < slices.n; ++k) {
        const std::int64_t i = sets.start[slices.first_set[k]];
        answer.some_row.push_back(sets.as_bits() ? 64 * std::int64_t(sets.entry[i]) + std::countr_zero(sets.mask[i]) : std::int64_t(sets.entry[i]));
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) *set++ = {k, slices.set_level[s], slices.set_size[s]};
    }
    answer.sets.end(set);
    answer.slice_start.push_back(std::int64_t(answer.some_row.size())), answer.set_start.push_back(std::int64_t(answer.sets.size()));
    if (row < 0) count_blocks(asked, q);
    for (std::int64_t y : asked.y[q]) {
        const Table::Place place = table_.place(int(y));
        if (place.block >= 0 && tiles_[place.block].ready)
            add_counted(table_.blocks[place.block], std::size_t(place.position), tiles_[place.block].counts, row);
        else
            add_one(int(y));
        answer.start.push_back(std::int64_t(answer.cells.size()));
    }
}

// The cells of a y whose block is counted.
void Counter::add_counted(const Block& block, std::size_t position, const Matrix<std::int32_t>& counts, int row) {
    const Slices& slices = counts_.slices();
    const int n_levels = block.n_levels(), first_level = block.first_level;
    Cell* cell = answer.cells.room(std::size_t(slices.n_sets()) * std::size_t(block.levels) + 1);
    for (int k = 0; k < slices.n; ++k)
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) {
            const int x = slices.set_level[s];
            const std::int32_t* mine = counts[std::size_t(row < 0 ? s : row + x)] + position;
            if (first_level) {  // level 0 has what the others leave
                std::int32_t rest = slices.set_size[s];
                for (int l = 0; l < n_levels; ++l) rest -= mine[std::size_t(l) * block.stride];
                *cell = {k, x, 0, rest}, cell += rest != 0;
            }
            for (int l = 0; l < n_levels; ++l) {
                const std::int32_t rows = mine[std::size_t(l) * block.stride];
                *cell = {k, x, first_level + l, rows}, cell += rows != 0;
            }
        }
    answer.cells.end(cell);
}

// The cells of any y.
void Counter::add_one(int y) {
    const Splitter& sets = counts_.splitter();
    const Slices& slices = counts_.slices();
    const int levels = table_.levels[y];
    const bool by_rows = !sets.as_bits() && !table_.is_wide(y);
    const std::uint8_t* codes = by_rows ? level_counts_.codes(table_, y) : nullptr;
    std::int32_t counts[256] = {};
    for (int k = 0; k < slices.n; ++k)
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) {
            const int x = slices.set_level[s];
            if (by_rows) {
                Cell* cell = answer.cells.room(std::size_t(levels) + 1);
                const std::span rows(sets.entry.data() + sets.start[s], std::size_t(slices.set_size[s]));
                if (rows.size() == 1) {
                    *cell = {k, x, codes[rows[0]], 1}, cell += codes[rows[0]] != 255;
                } else {
                    for (std::uint32_t row : rows) ++counts[codes[row]];
                    for (int level = 0; level < levels; ++level) *cell = {k, x, level, counts[level]}, cell += counts[level] != 0, counts[level] = 0;
                }
                answer.cells.end(cell);
                continue;
            }
            const auto found = level_counts_.of(counts_, s, y);
            sorted_.assign(found.begin(), found.end());
            std::sort(sorted_.begin(), sorted_.end(), [](const LevelCount& a, const LevelCount& b) { return a.level < b.level; });
            Cell* cell = answer.cells.room(sorted_.size());
            for (const LevelCount& each : sorted_) *cell++ = {k, x, each.level, each.rows};
            answer.cells.end(cell);
        }
}

}  // namespace ibmap
