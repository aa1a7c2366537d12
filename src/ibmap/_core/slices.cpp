#include "slices.hpp"

#include <type_traits>
#include <utility>

namespace ibmap {

namespace {
constexpr std::uint32_t UNKNOWN = 0xFFFFFFFF;  // key of a row that does not know x or a member
}

void Splitter::split(const Table& table, int x, Members members, bool wants_codes) {
    double cells = table.levels[x];
    bool wide = table.is_wide(x);
    for (std::int64_t m : members) cells *= table.levels[m], wide |= table.is_wide(int(m));
    as_bits_ = cells <= FEW && !wide;
    slices.clear(int(members.size()));
    as_bits_ ? by_bits(table, x, members) : by_keys(table, x, members, wants_codes);
    slices.n = int(slices.size.size());
}

void Splitter::by_bits(const Table& table, int x, Members members) {
    start.assign({0, 0}), entry.clear(), mask.clear();
    for (std::size_t w = 0; 64 * std::int64_t(w) < table.n_rows; ++w) {
        const std::int64_t rows = std::min<std::int64_t>(64, table.n_rows - 64 * std::int64_t(w));
        entry.push_back(std::uint32_t(w)), mask.push_back(rows == 64 ? ~0ull : (1ull << rows) - 1);
    }
    start[1] = std::int64_t(entry.size());
    if (entry.empty()) start.pop_back();
    auto& code = slices.code;
    for (std::size_t j = 0; j < members.size(); ++j) {
        refine(table, int(members[j]));
        codes_before_.swap(code);
        code.clear();
        for (std::size_t s = 0; s < parent_.size(); ++s) {
            const auto from = codes_before_.begin() + long(parent_[s] * j);
            code.insert(code.end(), from, from + long(j));
            code.push_back(level_[s]);
        }
    }
    const std::size_t n = start.size() - 1;
    refine(table, x);
    slices.size.assign(n, 0), slices.first_set.assign(n + 1, 0);
    for (std::size_t s = 0; s < parent_.size(); ++s) {
        int size = 0;
        for (std::int64_t i = start[s]; i < start[s + 1]; ++i) size += std::popcount(mask[i]);
        slices.set_size.push_back(size), slices.set_level.push_back(level_[s]);
        slices.size[parent_[s]] += size, slices.first_set[parent_[s] + 1] = int(s) + 1;
    }
    // where values of x are missing a slice may have no rows left: it goes
    std::size_t kept = 0;
    for (std::size_t k = 0; k < n; ++k) {
        if (!slices.size[k]) continue;
        slices.size[kept] = slices.size[k], slices.first_set[kept + 1] = slices.first_set[k + 1];
        std::copy_n(code.begin() + long(k * members.size()), members.size(), code.begin() + long(kept * members.size()));
        ++kept;
    }
    slices.size.resize(kept), slices.first_set.resize(kept + 1), code.resize(kept * members.size());
}

// Split every set by a variable; parent_ and level_ say where the new ones come from.
void Splitter::refine(const Table& table, int variable) {
    other_start_.assign(1, 0), parent_.clear(), level_.clear();
    other_entry_.resize(entry.size() * std::size_t(std::max(table.levels[variable], 1))), other_mask_.resize(other_entry_.size());
    std::int64_t end = 0;
    for (std::size_t s = 0; s + 1 < start.size(); ++s)
        for (int level = 0; level < table.levels[variable]; ++level) {
            const std::uint64_t* bits = table.bits(variable, level);
            const std::int64_t begin = end;
            for (std::int64_t i = start[s]; i < start[s + 1]; ++i) {
                const std::uint64_t both = mask[i] & bits[entry[i]];
                other_entry_[end] = entry[i], other_mask_[end] = both;
                end += both != 0;
            }
            if (end > begin) other_start_.push_back(end), parent_.push_back(int(s)), level_.push_back(level);
        }
    start.swap(other_start_), entry.swap(other_entry_), mask.swap(other_mask_);
    entry.resize(end), mask.resize(end);
}

void Splitter::by_keys(const Table& table, int x, Members members, bool wants_codes) {
    const auto n_rows = std::size_t(table.n_rows);
    const auto most = 4 * std::uint64_t(n_rows) + 1024;  // keys beyond which those in use are numbered again
    const auto most_counted = std::min<std::uint64_t>(64 * std::uint64_t(n_rows) + 65536, UNKNOWN);  // beyond it they are sorted
    std::uint64_t range = 1;
    std::size_t known = 0;
    if (!wants_codes && table_of_keyed_ == &table && keyed_.size() <= members.size() && std::equal(keyed_.begin(), keyed_.end(), members.begin()))
        key_ = keys_of_keyed_, range = range_of_keyed_, known = keyed_.size();
    else
        key_.assign(n_rows, 0);
    for (std::int64_t m : members.subspan(known)) {
        const auto r = std::uint64_t(table.levels[m]);
        if (range * r > most_counted) {
            range = sort_keys(table, int(m));
            continue;
        }
        add_to_keys(table, int(m));
        range *= r;
        if (range > most) range = renumber(range);
    }
    if (!wants_codes) keyed_.assign(members.begin(), members.end()), keys_of_keyed_ = key_, range_of_keyed_ = range, table_of_keyed_ = &table;
    const auto r = std::uint64_t(table.levels[x]);
    start.assign(1, 0), mask.clear();
    std::uint32_t end = 0, rows = 0;
    auto add_set = [&](std::uint64_t level, std::uint32_t size) {
        end += size, rows += size;
        start.push_back(end), slices.set_level.push_back(int(level)), slices.set_size.push_back(int(size));
    };
    auto end_slice = [&] {
        if (rows) slices.size.push_back(int(rows)), slices.first_set.push_back(slices.n_sets());
        rows = 0;
    };
    if (range * r <= most_counted) {
        add_to_keys(table, x);
        count_.assign(range * r, 0);
        for (std::uint32_t key : key_)
            if (key != UNKNOWN) ++count_[key];
        for (std::uint64_t slice = 0; slice < range; ++slice, end_slice())
            for (std::uint64_t level = 0; level < r; ++level) {
                const std::uint32_t size = std::exchange(count_[slice * r + level], end);  // from now on: where the next row of this set goes
                if (size) add_set(level, size);
            }
    } else {
        sort_keys(table, x);
        count_.assign(pairs_.size(), 0);
        for (std::uint32_t key : key_)
            if (key != UNKNOWN) ++count_[key];
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            if (i && pairs_[i] >> 32 != pairs_[i - 1] >> 32) end_slice();
            add_set(pairs_[i] & UNKNOWN, std::exchange(count_[i], end));
        }
        end_slice();
    }
    entry.resize(end);
    for (std::size_t i = 0; i < n_rows; ++i)
        if (key_[i] != UNKNOWN) entry[count_[key_[i]]++] = std::uint32_t(i);
    if (!wants_codes) return;
    slices.code.resize(slices.size.size() * members.size());
    for (std::size_t j = 0; j < members.size(); ++j)
        with_codes(table, int(members[j]), [&](const auto* codes) {
            for (std::size_t k = 0; k < slices.size.size(); ++k) slices.code[k * members.size() + j] = codes[entry[start[slices.first_set[k]]]];
        });
}

// Call work(codes) with the codes of a variable: bytes, or 32 bits where it has many levels; -1 is missing, as 255 is in bytes.
template <class Work>
void Splitter::with_codes(const Table& table, int variable, Work work) {
    if (table.is_wide(variable)) return work(table.codes(variable));
    codes_.resize(std::size_t(table.n_rows));
    table.unpack(variable, codes_.data());
    work(codes_.data());
}

void Splitter::add_to_keys(const Table& table, int variable) {
    const auto r = std::uint32_t(table.levels[variable]);
    with_codes(table, variable, [&](const auto* codes) {
        using Code = std::remove_cvref_t<decltype(*codes)>;
        if (table.complete[variable]) {
            for (std::size_t i = 0; i < key_.size(); ++i) key_[i] = key_[i] == UNKNOWN ? UNKNOWN : key_[i] * r + std::uint32_t(codes[i]);
        } else {
            for (std::size_t i = 0; i < key_.size(); ++i)
                key_[i] = key_[i] == UNKNOWN || codes[i] == Code(-1) ? UNKNOWN : key_[i] * r + std::uint32_t(codes[i]);
        }
    });
}

// Number the pairs of a key and a level that are in use from 0, in order, and leave these pairs in pairs_; return how many there are.
std::uint32_t Splitter::sort_keys(const Table& table, int variable) {
    pairs_.clear();
    with_codes(table, variable, [&](const auto* codes) {
        using Code = std::remove_cvref_t<decltype(*codes)>;
        auto pair = [&](std::size_t i) { return std::uint64_t(key_[i]) << 32 | std::uint32_t(codes[i]); };
        for (std::size_t i = 0; i < key_.size(); ++i) {
            if (codes[i] == Code(-1)) key_[i] = UNKNOWN;
            if (key_[i] != UNKNOWN) pairs_.push_back(pair(i));
        }
        std::sort(pairs_.begin(), pairs_.end());
        pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
        for (std::size_t i = 0; i < key_.size(); ++i)
            if (key_[i] != UNKNOWN) key_[i] = std::uint32_t(std::lower_bound(pairs_.begin(), pairs_.end(), pair(i)) - pairs_.begin());
    });
    return std::max<std::uint32_t>(std::uint32_t(pairs_.size()), 1);
}

// Number the keys that are in use from 0, in order; return how many there are.
std::uint32_t Splitter::renumber(std::uint64_t range) {
    count_.assign(range, 0);
    for (std::uint32_t key : key_)
        if (key != UNKNOWN) count_[key] = 1;
    std::uint32_t next = 0;
    for (std::uint32_t& used : count_) {
        const std::uint32_t mine = used ? next++ : 0;
        used = mine;
    }
    for (std::uint32_t& key : key_) key = key == UNKNOWN ? UNKNOWN : count_[key];
    return std::max<std::uint32_t>(next, 1);
}

}  // namespace ibmap
