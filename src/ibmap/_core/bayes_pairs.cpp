#include "bayes_pairs.hpp"

#include "pool.hpp"
#include "tiles.hpp"

#include <limits>

namespace ibmap {

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

}  // namespace ibmap
