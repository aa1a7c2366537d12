#include "bayes_pairs.hpp"

#include "pool.hpp"
#include "tiles.hpp"

#include <limits>

namespace ibmap {

namespace {

constexpr std::int64_t AT_ONCE = 1 << 22;        // pairs that are looked at before it is asked who is likely, at least
constexpr int GROUPS = 16;                       // of HEIGHT variables, after that

}  // namespace

PairTiles::PairTiles(const BayesModel& of_model, const Table& of_table) : model(of_model), table(of_table), is_irregular(std::size_t(of_table.n), 1) {
    for (std::size_t b = 0; b < table.blocks.size(); ++b) {
        const Block& block = table.blocks[b];
        if (block.first_level == 0) continue;
        blocks.push_back(b);
        for (int v : block.variables) is_irregular[v] = 0;
        std::vector<std::int32_t>& totals = totals_.emplace_back(block.width(), 0);
        for (int l = 0; l < block.n_levels(); ++l)
            for (std::size_t i = 0; i < block.stride; ++i) {
                const int v = block.variables[std::min(i, block.variables.size() - 1)];  // columns beyond the last variable repeat it
                const std::uint64_t* bits = table.bits(v, l + 1);
                for (std::size_t w = 0; w < table.n_words; ++w) totals[l * block.stride + i] += std::popcount(bits[w]);
            }
    }
    for (int v = 0; v < table.n; ++v)
        if (is_irregular[v]) irregular.push_back(v);
}

std::vector<Tile> PairTiles::tiles() const {
    std::vector<Tile> out;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
        const int size = int(table.blocks[blocks[a]].variables.size());
        for (int first = 0; first < size; first += HEIGHT)
            for (std::size_t b = a; b < blocks.size(); ++b) out.push_back({a, b, first, std::min(first + HEIGHT, size)});
    }
    return out;
}

void PairTiles::score(const Tile& tile, Work& work) const {
    const Block &mine = table.blocks[blocks[tile.block]], &others = table.blocks[blocks[tile.others]];
    const std::size_t S = others.stride, from = tile.block == tile.others ? std::size_t(tile.first) / 8 * 8 : 0;
    const int above = mine.levels - 1;
    std::vector<const std::uint64_t*> masks;
    for (int i = tile.first; i < tile.last; ++i)
        for (int level = 1; level <= above; ++level) masks.push_back(table.bits(mine.variables[i], level));
    work.counts.reserve(masks.size(), others.width());
    std::vector<std::int32_t*> out;
    for (std::size_t i = 0; i < masks.size(); ++i) out.push_back(work.counts[i]);
    count_tile(table, others, masks, from, out);

    const Priors& priors = model.priors(mine.variables[0], others.variables[0]);
    const auto n = std::int32_t(table.n_rows);
    const std::vector<std::int32_t>& totals = totals_[tile.others];
    work.columns.assign(S, 0.0), work.rest.resize(others.width()), work.t.reserve(std::size_t(tile.last - tile.first), S);
    add_all_cells(priors.column, totals.data(), n, others.n_levels(), S, 0, -1.0, work.columns.data());
    const double *columns = work.columns.data(), *cell = priors.cell, prior = model.one_prior() ? model.prior_odds(0, 0) : 0.0;
    for (int i = tile.first; i < tile.last; ++i) {
        const int x = mine.variables[i], row = (i - tile.first) * above;
        double *t = work.t[i - tile.first], start = priors.of_rows(n) + prior;
        std::int32_t zero = n;
        for (int l = 0; l < above; ++l) {
            const std::int32_t size = totals_[tile.block][std::size_t(l) * mine.stride + std::size_t(i)];
            zero -= size, start -= priors.row[size];
        }
        start -= priors.row[zero];
        if (above == 1 && others.levels == 2) {
            const std::int32_t *both = work.counts[row], one = n - zero, *of_y = totals.data();
            for (std::size_t v = from; v < S; ++v) {
                const std::int32_t c = both[v], d = of_y[v] - c;
                t[v] = (start + columns[v]) + ((cell[std::uint32_t(c)] + cell[std::uint32_t(one - c)]) + (cell[std::uint32_t(d)] + cell[std::uint32_t(zero - d)]));
            }
        } else {
            std::copy(totals.begin(), totals.end(), work.rest.begin());
            for (std::size_t v = from; v < S; ++v) t[v] = start + columns[v];
            for (int l = 0; l <= above; ++l) {  // level 0 of x has what the others leave
                const std::int32_t *counts = l < above ? work.counts[row + l] : work.rest.data();
                const std::int32_t size = l < above ? totals_[tile.block][std::size_t(l) * mine.stride + std::size_t(i)] : zero;
                add_all_cells(cell, counts, size, others.n_levels(), S, from, 1.0, t);
                if (l < above)
                    for (int m = 0; m < others.n_levels(); ++m)
                        for (std::size_t v = from; v < S; ++v) work.rest[m * S + v] -= counts[m * S + v];
            }
        }
        for (std::size_t v = from; !model.one_prior() && v < others.variables.size(); ++v) t[v] += model.prior_odds(x, others.variables[v]);
    }
}

void fill_unconditional(const PairTiles& tiles, std::span<std::unique_ptr<BayesRows>> rows, double* sigma) {
    const auto n = std::size_t(tiles.model.n);
    const auto all = tiles.tiles();
    std::vector<PairTiles::Work> work(rows.size());
    spread(int(rows.size()), std::int64_t(all.size()), [&](int thread, std::int64_t task) {
        const Tile& tile = all[std::size_t(task)];
        PairTiles::Work& mine = work[std::size_t(thread)];
        tiles.score(tile, mine);
        const auto& xs = tiles.table.blocks[tiles.blocks[tile.block]].variables;
        const auto& ys = tiles.table.blocks[tiles.blocks[tile.others]].variables;
        const int size = int(ys.size());
        const bool in_order = ys.back() - ys.front() == size - 1;  // they ascend, so none is between them
        for (int i = tile.first; i < tile.last; ++i) {
            double *t = mine.t[i - tile.first], *out = sigma + std::size_t(xs[i]) * n;
            const int from = PairTiles::from(tile, i), whole = from / 8 * 8;
            for (int v = whole; v < int(padded(std::size_t(size), 8)); ++v) t[v] = -softplus(t[v]);
            if (in_order)
                std::copy(t + from, t + size, out + ys.front() + from);
            else
                for (int v = from; v < size; ++v) out[ys[v]] = t[v];
            out[xs[i]] = 0.0;
        }
        for (int v = 0; v < size; ++v) {
            double* out = sigma + std::size_t(ys[v]) * n;
            const int last = tile.block == tile.others ? std::min(tile.last, v) : tile.last;
            for (int i = tile.first; i < last; ++i) out[xs[i]] = mine.t[i - tile.first][v];
        }
    });
    spread(int(rows.size()), std::int64_t(tiles.irregular.size()), [&](int thread, std::int64_t task) {
        const int x = tiles.irregular[std::size_t(task)];
        BayesRows& mine = *rows[std::size_t(thread)];
        mine.ask(x, {});
        const auto t = mine.everyone();
        for (int y = 0; y < tiles.model.n; ++y)
            if (!tiles.is_irregular[y] || y > x) sigma[std::size_t(x) * n + std::size_t(y)] = sigma[std::size_t(y) * n + std::size_t(x)] = -softplus(t[y]);
        sigma[std::size_t(x) * n + std::size_t(x)] = 0.0;
    });
}

namespace {

// Pairs that look most like edges; the bar rises as more are found.
struct Likely {
    std::size_t most;
    double bar = -std::numeric_limits<double>::infinity();
    std::vector<std::vector<Pair>> found;  // by thread

    void squeeze(std::size_t from) {  // once there are more than so many, keep up to `most`: those above the first who is left out
        std::size_t size = 0;
        for (const auto& list : found) size += list.size();
        if (size <= from) return;
        std::vector<double> t;
        t.reserve(size);
        for (const auto& list : found)
            for (const Pair& pair : list) t.push_back(pair.t);
        std::nth_element(t.begin(), t.begin() + long(most), t.end(), std::greater<>());
        bar = t[most];
        for (auto& list : found) std::erase_if(list, [&](const Pair& pair) { return !(pair.t > bar); });
    }
};

}  // namespace

LikelyPairs likely_pairs(const PairTiles& tiles, std::span<std::unique_ptr<BayesRows>> rows, std::size_t most) {
    const auto n = std::size_t(tiles.model.n);
    const int n_threads = int(rows.size());
    const auto all = tiles.tiles();
    std::vector<PairTiles::Work> work(rows.size());
    Likely likely{most, -std::numeric_limits<double>::infinity(), std::vector<std::vector<Pair>>(rows.size())};
    std::vector<double> values(n, 0.0);
    std::vector<std::size_t> starts;  // of groups of HEIGHT variables, among the tiles
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!i || all[i].block != all[i - 1].block || all[i].first != all[i - 1].first) starts.push_back(i);
    starts.push_back(all.size());
    auto list = [&](int thread, int x, int y, double t) {
        if (t > likely.bar) likely.found[std::size_t(thread)].push_back({std::min(x, y), std::max(x, y), t});
    };
    // Sums of a group, by tile and by variable of the tile, and by variable of the other block, are added in one order, however many threads there are.
    const std::size_t height = PairTiles::HEIGHT;
    for (std::size_t g = 0; g + 1 < starts.size();) {
        const auto few = std::max<std::int64_t>(1, AT_ONCE / std::int64_t(height * std::max<std::size_t>(n, 1)));
        const std::size_t at_once = std::size_t(std::min<std::int64_t>(GROUPS, std::max<std::int64_t>(few, std::int64_t(g / 2))));
        const std::size_t stop = std::min(starts.size() - 1, g + at_once), first = starts[g], n_tiles = starts[stop] - first;
        std::vector<double> of_rows(n_tiles * height, 0.0);
        std::vector<std::vector<double>> of_columns(n_tiles);
        spread(n_threads, std::int64_t(n_tiles), [&](int thread, std::int64_t task) {
            const Tile& tile = all[first + std::size_t(task)];
            PairTiles::Work& mine = work[std::size_t(thread)];
            tiles.score(tile, mine);
            const auto& xs = tiles.table.blocks[tiles.blocks[tile.block]].variables;
            const auto& ys = tiles.table.blocks[tiles.blocks[tile.others]].variables;
            const int size = int(ys.size()), width = int(padded(std::size_t(size), 8));
            auto& columns = of_columns[std::size_t(task)];
            columns.assign(std::size_t(width), 0.0);
            for (int i = tile.first; i < tile.last; ++i) {
                double *t = mine.t[i - tile.first], sum = 0.0;
                const int from = PairTiles::from(tile, i);
                const double bar = likely.bar;
                for (int v = from; v < size; ++v)
                    if (t[v] > bar) list(thread, xs[i], ys[v], t[v]);
                for (int v = from / 8 * 8; v < width; ++v) t[v] = -softplus(t[v]);
                for (int v = from; v < size; ++v) columns[std::size_t(v)] += t[v];
                double sums[4] = {};
                int v = from;
                for (; v + 4 <= size; v += 4)
                    for (int k = 0; k < 4; ++k) sums[k] += t[v + k];
                for (; v < size; ++v) sum += t[v];
                of_rows[std::size_t(task) * height + std::size_t(i - tile.first)] = sum + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
            }
        });
        for (std::size_t task = 0; task < n_tiles; ++task) {
            const Tile& tile = all[first + task];
            const auto& xs = tiles.table.blocks[tiles.blocks[tile.block]].variables;
            const auto& ys = tiles.table.blocks[tiles.blocks[tile.others]].variables;
            for (int i = tile.first; i < tile.last; ++i) values[std::size_t(xs[i])] += of_rows[task * height + std::size_t(i - tile.first)];
            for (std::size_t v = 0; v < ys.size(); ++v) values[std::size_t(ys[v])] += of_columns[task][v];
        }
        likely.squeeze(2 * most);
        g = stop;
    }
    // Variables with missing values or very many levels, row by row; some rows at a time, as they are added up in order.
    const auto rows_at_once = std::size_t(std::max<std::int64_t>(1, AT_ONCE / std::int64_t(std::max<std::size_t>(n, 1))));
    for (std::size_t first = 0; first < tiles.irregular.size(); first += rows_at_once) {
        const std::size_t last = std::min(tiles.irregular.size(), first + rows_at_once);
        std::vector<double> some((last - first) * n);
        spread(n_threads, std::int64_t(last - first), [&](int thread, std::int64_t task) {
            const int x = tiles.irregular[first + std::size_t(task)];
            BayesRows& mine = *rows[std::size_t(thread)];
            mine.ask(x, {});
            const auto t = mine.everyone();
            double* sigma = some.data() + std::size_t(task) * n;
            for (int y = 0; y < tiles.model.n; ++y) {
                if (y == x || (tiles.is_irregular[y] && y < x)) continue;
                list(thread, x, y, t[y]), sigma[y] = -softplus(t[y]);
            }
        });
        for (std::size_t i = first; i < last; ++i)
            for (std::size_t y = 0; y < n; ++y) {
                const double sigma = some[(i - first) * n + y];
                values[std::size_t(tiles.irregular[i])] += sigma, values[y] += sigma;
            }
        likely.squeeze(2 * most);
    }
    likely.squeeze(most);
    LikelyPairs out{{}, likely.bar, std::move(values)};
    for (auto& found : likely.found) out.pairs.insert(out.pairs.end(), found.begin(), found.end()), found = {};
    std::sort(out.pairs.begin(), out.pairs.end(), [](const Pair& a, const Pair& b) { return a.t != b.t ? a.t > b.t : a.x != b.x ? a.x < b.x : a.y < b.y; });
    return out;
}

}  // namespace ibmap
