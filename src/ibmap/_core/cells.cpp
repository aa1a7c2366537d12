#include "cells.hpp"

namespace ibmap {

namespace {

void require(bool holds) {
    if (!holds) throw std::invalid_argument("the tables do not fit their questions");
}

void below(const std::int64_t* values, std::int64_t size, std::int64_t bound) {
    bool inside = true;
    for (std::int64_t i = 0; i < size; ++i) inside &= std::uint64_t(values[i]) < std::uint64_t(bound);
    require(inside);
}

}  // namespace

void Cells::check(const std::vector<int>& levels) const {
    check_lists(levels);
    for (std::size_t q = 0; q < size(); ++q)
        for (std::int64_t t = y_start.data()[q]; t < y_start.data()[q + 1]; ++t) check_table(q, t, levels);
}

void Cells::check_table(std::size_t q, std::int64_t t, const std::vector<int>& levels) const {
    const std::int64_t n = std::int64_t(cells.shape(1)), size = start.data()[t + 1] - start.data()[t], *mine = cells.data() + start.data()[t];
    below(mine, size, slice_start.data()[q + 1] - slice_start.data()[q]), below(mine + n, size, levels[x.data()[q]]);
    below(mine + 2 * n, size, levels[y.data()[t]]), below(mine + 3 * n, size, std::int64_t(1) << 31);
}

void Cells::check_lists(const std::vector<int>& levels) const {
    const auto n = std::int64_t(levels.size());
    const std::size_t m = size();
    auto lists = [&](const Vector<const std::int64_t>& starts, std::size_t n_lists, std::int64_t end) {
        require(starts.shape(0) == n_lists + 1 && starts.data()[0] == 0 && starts.data()[n_lists] == end);
        for (std::size_t i = 0; i < n_lists; ++i) require(starts.data()[i] <= starts.data()[i + 1]);
    };
    below(x.data(), std::int64_t(m), n), below(y.data(), std::int64_t(y.shape(0)), n), below(given.data(), std::int64_t(given.shape(0)), n);
    lists(y_start, m, std::int64_t(y.shape(0))), lists(given_start, m, std::int64_t(given.shape(0)));
    require(slice_start.shape(0) == m + 1), lists(slice_start, m, slice_start.data()[m]);
    require(sets.shape(0) == 3 && cells.shape(0) == 4);
    lists(set_start, m, std::int64_t(sets.shape(1))), lists(start, y.shape(0), std::int64_t(cells.shape(1)));
    const std::size_t n_sets = sets.shape(1);
    std::int64_t n_keys = 0;
    for (std::size_t q = 0; q < m; ++q) {
        const std::int64_t slices = slice_start.data()[q + 1] - slice_start.data()[q], r = levels[x.data()[q]];
        const std::int64_t first_set = set_start.data()[q], last_set = set_start.data()[q + 1];
        below(sets.data() + first_set, last_set - first_set, slices);
        below(sets.data() + n_sets + first_set, last_set - first_set, r);
        below(sets.data() + 2 * n_sets + first_set, last_set - first_set, std::int64_t(1) << 31);
        for (std::int64_t k = 0; k < slices; ++k)
            for (std::int64_t g = given_start.data()[q]; g < given_start.data()[q + 1]; ++g, ++n_keys)
                require(n_keys < std::int64_t(keys.shape(0)) && 0 <= keys.data()[n_keys] && keys.data()[n_keys] < levels[given.data()[g]]);
    }
    require(n_keys == std::int64_t(keys.shape(0)));
}

const Slices& SliceReader::read(std::size_t q) {
    const std::int64_t n_slices = cells_.slice_start.data()[q + 1] - cells_.slice_start.data()[q];
    const std::int64_t n_members = cells_.given_start.data()[q + 1] - cells_.given_start.data()[q];
    const std::size_t n_sets = cells_.sets.shape(1);
    const std::int64_t *slice = cells_.sets.data(), *level = slice + n_sets, *rows = level + n_sets;
    slices_.clear(int(n_members));
    slices_.n = int(n_slices);
    slices_.size.assign(n_slices, 0), slices_.first_set.assign(n_slices + 1, 0);
    const std::int64_t* key = cells_.keys.data() + first_key_[q];
    slices_.code.assign(key, key + n_slices * n_members);
    for (std::int64_t s = cells_.set_start.data()[q]; s < cells_.set_start.data()[q + 1]; ++s) {
        slices_.set_level.push_back(int(level[s])), slices_.set_size.push_back(int(rows[s]));
        slices_.size[slice[s]] += int(rows[s]), slices_.first_set[slice[s] + 1] = slices_.n_sets();
    }
    for (std::int64_t k = 0; k < n_slices; ++k) slices_.first_set[k + 1] = std::max(slices_.first_set[k], slices_.first_set[k + 1]);
    return slices_;
}

void CellCounts::ask(std::size_t q) {
    const Slices& slices = reader_.read(q);
    n_levels_ = levels_[cells_.x.data()[q]];
    set_at_.assign(std::size_t(slices.n) * n_levels_, -1);
    for (int k = 0; k < slices.n; ++k)
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) set_at_[k * n_levels_ + slices.set_level[s]] = s;
    std::map<int, std::vector<std::int64_t>> by_levels;
    for (std::int64_t t = cells_.y_start.data()[q]; t < cells_.y_start.data()[q + 1]; ++t)
        if (const int r = levels_[cells_.y.data()[t]]; r > 1) by_levels[r].push_back(t);
    blocks_.clear(), tables_.clear();
    for (const auto& [r, tables] : by_levels) {
        const std::size_t at_once = std::max<std::size_t>(8, BLOCK_COLUMNS / r / 8 * 8);
        for (std::size_t begin = 0; begin < tables.size(); begin += at_once) {
            const std::size_t end = std::min(tables.size(), begin + at_once);
            Block block{r, 0, {}, padded(end - begin, 8)};
            for (std::size_t i = begin; i < end; ++i) block.variables.push_back(int(cells_.y.data()[tables[i]]));
            blocks_.push_back(std::move(block));
            tables_.emplace_back(tables.begin() + long(begin), tables.begin() + long(end));
        }
    }
}

void CellCounts::count(std::size_t index, int first, int last, Matrix<std::int32_t>& out) {
    const Block& block = blocks_[index];
    out.resize(last - first, padded(block.width(), 64));
    const std::size_t n = cells_.cells.shape(1);
    const std::int64_t *slice = cells_.cells.data(), *x = slice + n, *y = x + n, *rows = y + n;
    for (std::size_t i = 0; i < block.variables.size(); ++i) {
        const std::int64_t t = tables_[index][i], end = cells_.start.data()[t + 1];
        for (std::int64_t c = cells_.start.data()[t]; c < end; ++c) {
            const int set = set_at_[slice[c] * n_levels_ + x[c]];
            if (set >= first && set < last) out[set - first][y[c] * block.stride + i] = std::int32_t(rows[c]);
        }
    }
}

}  // namespace ibmap
