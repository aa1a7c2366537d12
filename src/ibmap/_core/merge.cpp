#include "merge.hpp"

namespace ibmap {

namespace {

constexpr double EMPTY = 8, FEW = 1 << 12;  // places to a cell beyond which cells are sorted, as most would be empty; so many always pay

template <class T>
T as(std::int64_t slice, std::int64_t x, std::int64_t y, std::int64_t rows) {
    if (rows >= std::int64_t(1) << 31) throw std::invalid_argument("there are too many rows");
    if constexpr (std::is_same_v<T, Cell>) return {std::int32_t(slice), std::int32_t(x), std::int32_t(y), std::int32_t(rows)};
    else return {std::int32_t(slice), std::int32_t(x), std::int32_t(rows)};
}

}  // namespace

Merger::Merger(std::span<const Cells> parts, const std::vector<int>& levels)
    : parts_(parts), levels_(levels), number_(parts.size()), first_key_(parts.size(), 0) {}

void Merger::merge(Answer& out, std::vector<std::int64_t>& keys) {
    const Cells& asked = parts_[0];
    for (std::size_t q = 0; q < asked.size(); ++q) {
        const std::int64_t n_slices = merge_keys(q, keys);
        const int n_x = levels_[asked.x.data()[q]];
        out.slice_start.push_back(out.slice_start.back() + n_slices);
        lists_.clear();
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const auto& sets = parts_[p].sets;
            const std::int64_t begin = parts_[p].set_start.data()[q], *slice = sets.data() + begin, *x = slice + sets.shape(1), *rows = x + sets.shape(1);
            lists_.push_back({parts_[p].set_start.data()[q + 1] - begin, slice, x, nullptr, rows, number_[p].data()});
        }
        add_up(n_slices, n_x, 1, out.sets);
        out.set_start.push_back(std::int64_t(out.sets.size()));
        for (std::int64_t t = asked.y_start.data()[q]; t < asked.y_start.data()[q + 1]; ++t) {
            lists_.clear();
            for (std::size_t p = 0; p < parts_.size(); ++p) {
                parts_[p].check_table(q, t, levels_);
                const auto& cells = parts_[p].cells;
                const std::size_t n = cells.shape(1);
                const std::int64_t begin = parts_[p].start.data()[t], *slice = cells.data() + begin;
                lists_.push_back({parts_[p].start.data()[t + 1] - begin, slice, slice + n, slice + 2 * n, slice + 3 * n, number_[p].data()});
            }
            add_up(n_slices, n_x, levels_[asked.y.data()[t]], out.cells);
            out.start.push_back(std::int64_t(out.cells.size()));
        }
    }
}

// Number the slices of a question in the order of their keys; return how many there are in all parts together.
std::int64_t Merger::merge_keys(std::size_t q, std::vector<std::int64_t>& keys) {
    const Cells& asked = parts_[0];
    const Members given(asked.given.data() + asked.given_start.data()[q], std::size_t(asked.given_start.data()[q + 1] - asked.given_start.data()[q]));
    std::size_t n_coded = 0;
    double range = 1;
    while (n_coded < given.size() && range * levels_[given[n_coded]] < 0x1p63) range *= levels_[given[n_coded++]];
    slices_.clear();
    for (std::size_t p = 0; p < parts_.size(); ++p) {
        const std::int64_t n = parts_[p].slice_start.data()[q + 1] - parts_[p].slice_start.data()[q];
        number_[p].resize(std::size_t(n));
        for (std::int64_t k = 0; k < n; ++k, first_key_[p] += std::int64_t(given.size())) {
            const std::int64_t* key = parts_[p].keys.data() + first_key_[p];
            std::uint64_t code = 0;
            for (std::size_t j = 0; j < n_coded; ++j) code = code * std::uint64_t(levels_[given[j]]) + std::uint64_t(key[j]);
            slices_.push_back({code, key, std::int32_t(p), std::int32_t(k)});
        }
    }
    auto rest = [&](const Slice& slice) { return Members(slice.key + n_coded, given.size() - n_coded); };
    std::sort(slices_.begin(), slices_.end(), [&](const Slice& a, const Slice& b) {
        return a.code != b.code ? a.code < b.code : std::ranges::lexicographical_compare(rest(a), rest(b));
    });
    std::int64_t n = 0;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
        const Slice& slice = slices_[i];
        if (!i || slice.code != slices_[i - 1].code || !std::ranges::equal(rest(slice), rest(slices_[i - 1])))
            ++n, keys.insert(keys.end(), slice.key, slice.key + given.size());
        number_[std::size_t(slice.part)][std::size_t(slice.number)] = n - 1;
    }
    return n;
}

// Append the sums of all counts of the same cell, in order.
template <class T>
void Merger::add_up(std::int64_t n_slices, std::int64_t n_x, std::int64_t n_y, Grown<T>& out) {
    const double n_places = double(n_slices) * double(n_x) * double(n_y);
    std::int64_t n = 0;
    for (const List& list : lists_) n += list.size;
    T* next = out.room(std::size_t(n) + 1);
    if (n_places <= EMPTY * double(n) + FEW) {
        places_.assign(std::size_t(n_places), 0);
        for (const List& list : lists_)
            for (std::int64_t i = 0; i < list.size; ++i)
                places_[std::size_t((list.number[list.slice[i]] * n_x + list.x[i]) * n_y + (list.y ? list.y[i] : 0))] += list.rows[i];
        const std::int64_t* place = places_.data();
        for (std::int64_t k = 0; k < n_slices; ++k)
            for (std::int64_t x = 0; x < n_x; ++x)
                for (std::int64_t y = 0; y < n_y; ++y, ++place) *next = as<T>(k, x, y, *place), next += *place != 0;
    } else {
        entries_.clear();
        for (const List& list : lists_)
            for (std::int64_t i = 0; i < list.size; ++i) entries_.push_back({list.number[list.slice[i]], list.x[i], list.y ? list.y[i] : 0, list.rows[i]});
        std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.place() < b.place(); });
        for (std::size_t i = 0; i < entries_.size();) {
            Entry sum = entries_[i];
            while (++i < entries_.size() && entries_[i].place() == sum.place()) sum.rows += entries_[i].rows;
            *next = as<T>(sum.slice, sum.x, sum.y, sum.rows), next += sum.rows != 0;
        }
    }
    out.end(next);
}

}  // namespace ibmap
