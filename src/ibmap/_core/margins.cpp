#include "margins.hpp"

#include <numeric>

namespace ibmap {

bool MarginCounts::ask(int x, Members members) {
    whole_.ask(x, members);
    is_counted_.assign(counts_.size(), false);
    std::size_t width = 0;
    for (std::size_t b = 0; b < n_blocks(); ++b) width += padded(block(b).width(), 64);
    return width * std::size_t(whole_.slices().n_sets()) <= MOST;
}

void MarginCounts::leave_out(int member) {
    const Slices& whole = whole_.slices();
    const int n = whole.n_members;
    const auto code = [&](int k) { return whole.code.data() + std::size_t(k) * n; };
    auto compare = [&](int k, int l) {  // by the levels of all others
        for (int m = 0; m < n; ++m)
            if (m != member && code(k)[m] != code(l)[m]) return code(k)[m] - code(l)[m];
        return 0;
    };
    order_.resize(whole.n);
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, [&](int k, int l) { return compare(k, l) < 0; });
    slices_.clear(n - 1), part_.clear(), first_part_.assign(1, 0);
    for (auto begin = order_.begin(), end = begin; begin != order_.end(); begin = end) {
        while (end != order_.end() && compare(*begin, *end) == 0) ++end;
        int size = 0, next = 0;
        for (int level = 0; level >= 0; level = next) {  // all levels of x that there are, in order
            next = -1;
            int rows = 0;
            for (auto k = begin; k != end; ++k)
                for (int s = whole.first_set[*k]; s < whole.first_set[*k + 1]; ++s) {
                    const int mine = whole.set_level[s];
                    if (mine == level) part_.push_back(s), rows += whole.set_size[s];
                    if (mine > level && (next < 0 || mine < next)) next = mine;
                }
            if (!rows) continue;
            slices_.set_level.push_back(level), slices_.set_size.push_back(rows), first_part_.push_back(int(part_.size()));
            size += rows;
        }
        slices_.size.push_back(size), slices_.first_set.push_back(slices_.n_sets());
        for (int m = 0; m < n; ++m)
            if (m != member) slices_.code.push_back(code(*begin)[m]);
    }
    slices_.n = int(slices_.size.size());
}

void MarginCounts::count(std::size_t index, int first, int last, Matrix<std::int32_t>& out) {
    const std::size_t place = padded(block(index).width(), 64);
    Matrix<std::int32_t>& counts = counts_[index];
    if (!is_counted_[index]) whole_.count(index, 0, whole_.slices().n_sets(), counts), is_counted_[index] = true;
    out.reserve(last - first, place);
    for (int s = first; s < last; ++s) {
        std::int32_t* to = out[s - first];
        std::copy_n(counts[part_[first_part_[s]]], place, to);
        for (int i = first_part_[s] + 1; i < first_part_[s + 1]; ++i) {
            const std::int32_t* more = counts[part_[i]];
            for (std::size_t c = 0; c < place; ++c) to[c] += more[c];
        }
    }
}

}  // namespace ibmap
