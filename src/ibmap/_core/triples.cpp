#include "triples.hpp"

#include "bind.hpp"
#include "lists.hpp"
#include "numbers.hpp"
#include "pool.hpp"
#include "tiles.hpp"

#include <algorithm>
#include <set>

namespace ibmap {

namespace {

constexpr std::int64_t MOST_NUMBERS = 1 << 22;  // in tables of log Γ, all together
constexpr std::int64_t MOST_BINARY = 1 << 24;   // rows up to which binary variables have a table of their own
constexpr std::size_t MASKS = 64;               // that pass over the columns together, at most
constexpr int PAIRS = 16;                       // of one x, that do

double stirling(double x) { return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x); }

}  // namespace

Rise::Rise(double a, std::int64_t most) : table(rising_table(a, most)), a_(a), log_gamma_(stirling(a + double(most)) - table.back()) {}

double Rise::beyond(std::int64_t n) const { return stirling(a_ + double(n)) - log_gamma_; }

TripleEvidence::TripleEvidence(std::vector<int> levels, std::int64_t n_rows, double size) {
    std::set<std::int64_t> products{1};
    std::vector<std::int64_t> some{1};
    for (int k = 0; k < 3; ++k) {
        std::vector<std::int64_t> more;
        for (std::int64_t m : some)
            for (int r : levels)
                if (has_a_say(m * r, n_rows) && products.insert(m * r).second) more.push_back(m * r);
        some.insert(some.end(), more.begin(), more.end());
    }
    const std::int64_t most = std::min(n_rows, std::max<std::int64_t>(1024, MOST_NUMBERS / std::int64_t(products.size())));
    for (std::int64_t m : products) rises_.emplace(m, Rise(size / double(m), std::max<std::int64_t>(most, 1024)));
}

double TripleEvidence::operator()(const std::int32_t* cells, int lx, int ly, int lz) {
    xy_.assign(std::size_t(lx) * ly, 0), xz_.assign(std::size_t(lx) * lz, 0), yz_.assign(std::size_t(ly) * lz, 0);
    double joint = 0.0;
    const Rise& of_cell = rise(std::int64_t(lx) * ly * lz);
    for (int a = 0; a < lx; ++a)
        for (int b = 0; b < ly; ++b)
            for (int c = 0; c < lz; ++c) {
                const std::int32_t n = *cells++;
                joint += of_cell(n);
                xy_[a * ly + b] += n, xz_[a * lz + c] += n, yz_[b * lz + c] += n;
            }
    auto sum = [&](std::span<const std::int32_t> table) {
        const Rise& of = rise(std::int64_t(table.size()));
        double total = 0.0;
        for (std::int32_t n : table) total += of(n);
        return total;
    };
    const double pairs = sum(xy_) + sum(xz_) + sum(yz_);
    std::int64_t n_rows = 0;
    double singles = 0.0;
    auto add_margin = [&](const std::vector<std::int32_t>& table, int rows, int columns, bool of_rows) {
        const Rise& of = rise(of_rows ? rows : columns);
        for (int i = 0; i < (of_rows ? rows : columns); ++i) {
            std::int64_t n = 0;
            for (int j = 0; j < (of_rows ? columns : rows); ++j) n += table[of_rows ? i * columns + j : j * columns + i];
            singles += of(n), n_rows += n;
        }
    };
    add_margin(xy_, lx, ly, true), add_margin(xy_, lx, ly, false), add_margin(yz_, ly, lz, false);
    return joint - pairs + singles - rise(1)(n_rows / 3);
}

namespace {

// The best triples that one thread has found.
class Best {
  public:
    Best(double threshold, std::size_t most) : threshold_(threshold), most_(most) {}
    void offer(double evidence, int x, int y, int z) {
        if (!(evidence > threshold_)) return;
        int v[] = {x, y, z};
        std::sort(v, v + 3);
        found.push_back({evidence, v[0], v[1], v[2]});
        if (found.size() >= 2 * most_ + 1024) cut();
    }
    void cut() {
        if (found.size() <= most_) return;
        std::nth_element(found.begin(), found.begin() + std::ptrdiff_t(most_), found.end());
        found.resize(most_);
    }
    std::vector<Triple> found;

  private:
    double threshold_;
    std::size_t most_;
};

class TripleScan {
  public:
    TripleScan(const Table& table, double size) : table_(table), size_(size) {
        for (const Block& block : table.blocks) add(block);
        for (std::size_t b = 0; b < blocks_.size() && is_binary(b); ++b) n_binary_ += int(blocks_[b].variables.size());
    }

    std::vector<Triple> find(double threshold, std::size_t most, int n_threads) {
        count_binary_pairs(n_threads);
        std::vector<Task> tasks;
        for (std::size_t a = 0; a < blocks_.size(); ++a)
            for (int x = 0; x < int(blocks_[a].variables.size()); ++x)
                for (std::size_t b = a; b < blocks_.size(); ++b) {
                    const int size = int(blocks_[b].variables.size()), cells = blocks_[a].levels * blocks_[b].levels;
                    const int pairs = std::clamp(int(MASKS) / cells, 1, PAIRS);
                    for (int y = b == a ? x + 1 : 0; y < size; y += pairs) tasks.push_back({a, b, x, y, std::min(y + pairs, size)});
                }
        std::vector<Best> best(std::size_t(n_threads), Best(threshold, most));
        std::vector<Work> work;
        for (int t = 0; t < n_threads; ++t) work.push_back({TripleEvidence(all_levels(), table_.n_rows, size_)});
        spread(n_threads, std::int64_t(tasks.size()), [&](int thread, std::int64_t task) { look(tasks[std::size_t(task)], work[thread], best[thread]); });
        Best all(threshold, most);
        for (const Best& one : best) all.found.insert(all.found.end(), one.found.begin(), one.found.end());
        all.cut();
        std::sort(all.found.begin(), all.found.end());
        return std::move(all.found);
    }

  private:
    struct Task {  // x of block a, some ys of block b, by position; all that come later are z
        std::size_t a, b;
        int x, first, last;
    };
    struct Work {  // of one thread
        TripleEvidence evidence;
        Matrix<std::uint64_t> masks = {};
        std::vector<std::int32_t> sizes = {}, cells = {};
        Matrix<std::int32_t> counts = {};
        AlignedVector<double> e = {};
    };

    const Table& table_;
    double size_;
    std::vector<Block> blocks_;
    std::vector<int> first_;  // number of the first variable of each block
    std::map<int, AlignedVector<std::uint64_t>> wide_;  // bits of variables whose codes the table keeps
    std::vector<AlignedVector<std::uint64_t>> columns_;
    // of binary variables without missing values, which come first: rows where both are 1, S of pairs and of each, log Γ of cells
    int n_binary_ = 0;
    double all_ = 0.0;
    std::vector<double> cell_;
    Matrix<std::int32_t> both_;
    AlignedVector<std::int32_t> ones_;
    Matrix<double> pair_;
    AlignedVector<double> single_;

    bool is_binary(std::size_t b) const { return blocks_[b].levels == 2 && blocks_[b].first_level == 1 && table_.n_rows <= MOST_BINARY; }

    std::vector<int> all_levels() const {
        std::set<int> out;
        for (const Block& block : blocks_) out.insert(block.levels);
        return {out.begin(), out.end()};
    }

    void add(const Block& block) {
        first_.push_back(blocks_.empty() ? 0 : first_.back() + int(blocks_.back().variables.size()));
        blocks_.push_back(block);
        if (block.bits) return;
        Block& own = blocks_.back();  // one variable of many levels
        const int v = block.variables[0];
        auto& bits = wide_[v];
        auto& columns = columns_.emplace_back(table_.n_words * own.width());
        bits.assign(std::size_t(own.levels) * table_.n_words, 0);
        for (std::int64_t row = 0; row < table_.n_rows; ++row)
            if (const std::int32_t level = table_.codes(v)[row]; level >= 0) bits[level * table_.n_words + row / 64] |= 1ull << row % 64;
        for (int l = 0; l < own.levels; ++l)
            for (std::size_t w = 0; w < table_.n_words; ++w) columns[w * own.width() + l * own.stride] = bits[l * table_.n_words + w];
        own.bits = columns.data(), own.word_stride = own.width(), own.level_stride = own.stride;
    }

    const std::uint64_t* bits(int variable, int level) const {
        const auto found = wide_.find(variable);
        return found == wide_.end() ? table_.bits(variable, level) : found->second.data() + level * table_.n_words;
    }

    void count_binary_pairs(int n_threads) {
        const std::size_t n = std::size_t(n_binary_), wide = padded(n, 8) + 8 * blocks_.size();
        if (n < 3) return;
        const auto single = rising_table(size_ / 2, table_.n_rows), pair = rising_table(size_ / 4, table_.n_rows);
        all_ = rising_table(size_, table_.n_rows).back(), cell_ = rising_table(size_ / 8, table_.n_rows);
        const auto rows = std::int32_t(table_.n_rows);
        ones_.assign(wide, 0), single_.assign(wide, 0.0), both_.resize(n, wide), pair_.resize(n, wide);
        std::vector<const std::uint64_t*> masks;
        for (std::size_t b = 0; masks.size() < n; ++b)
            for (int v : blocks_[b].variables) {
                const std::size_t i = masks.size();
                ones_[i] = std::int32_t(table_.size(v, 1));
                single_[i] = single[ones_[i]] + single[rows - ones_[i]] - all_;
                masks.push_back(table_.bits(v, 1));
            }
        spread(n_threads, std::int64_t((n + PAIRS - 1) / PAIRS), [&](int, std::int64_t task) {
            const std::size_t first = std::size_t(task) * PAIRS, last = std::min(n, first + PAIRS);
            std::vector<std::int32_t*> out(last - first);
            for (std::size_t b = 0, done = 0; done < n; done += blocks_[b++].variables.size()) {
                Matrix<std::int32_t> counts(last - first, blocks_[b].width());
                for (std::size_t i = 0; i < out.size(); ++i) out[i] = counts[i];
                count_tile(table_, blocks_[b], std::span(masks).subspan(first, last - first), 0, out);
                for (std::size_t i = first; i < last; ++i) std::copy_n(counts[i - first], blocks_[b].variables.size(), both_[i] + done);
            }
            for (std::size_t i = first; i < last; ++i)
                for (std::size_t j = 0; j < n; ++j) {
                    const std::int32_t t = both_[i][j];
                    pair_[i][j] = pair[t] + pair[ones_[i] - t] + pair[ones_[j] - t] + pair[rows - ones_[i] - ones_[j] + t] - all_;
                }
        });
    }

    void look(const Task& task, Work& work, Best& best) {
        std::size_t c = task.b;
        if (n_binary_ > 2 && is_binary(task.a) && is_binary(task.b)) {
            mask(task, work, 1);
            for (; c < blocks_.size() && is_binary(c); ++c) score_binary(task, c, work, best);
        }
        if (c == blocks_.size()) return;
        mask(task, work, 0);
        for (; c < blocks_.size(); ++c) score(task, c, work, best);
    }

    // The rows of every pair of levels, from a level on, of x and each y.
    void mask(const Task& task, Work& work, int from) {
        const Block &mine = blocks_[task.a], &theirs = blocks_[task.b];
        const int per_pair = (mine.levels - from) * (theirs.levels - from);
        work.masks.reserve(std::size_t(task.last - task.first) * per_pair, table_.n_words);
        work.sizes.clear();
        for (int y = task.first; y < task.last; ++y)
            for (int a = from; a < mine.levels; ++a)
                for (int b = from; b < theirs.levels; ++b) {
                    const std::uint64_t *p = bits(mine.variables[task.x], a), *q = bits(theirs.variables[y], b);
                    std::uint64_t* to = work.masks[work.sizes.size()];
                    std::int32_t n = 0;
                    for (std::size_t w = 0; w < table_.n_words; ++w) to[w] = p[w] & q[w], n += std::popcount(to[w]);
                    work.sizes.push_back(n);
                }
    }

    std::size_t count(const Task& task, std::size_t c, Work& work) {
        const std::size_t from = c == task.b ? std::size_t(task.first + 1) / 8 * 8 : 0, n = work.sizes.size();
        if (from >= blocks_[c].stride) return from;
        std::vector<const std::uint64_t*> masks(n);
        std::vector<std::int32_t*> out(n);
        work.counts.reserve(n, blocks_[c].width());
        for (std::size_t i = 0; i < n; ++i) masks[i] = work.masks[i], out[i] = work.counts[i];
        count_tile(table_, blocks_[c], masks, from, out);
        return from;
    }

    void score_binary(const Task& task, std::size_t c, Work& work, Best& best) {
        const auto& zs = blocks_[c].variables;
        const std::size_t from = count(task, c, work), size = zs.size(), at = std::size_t(first_[c]);
        const std::size_t x = std::size_t(first_[task.a] + task.x);
        const double* rise = cell_.data();
        work.e.resize(padded(size, 8));
        for (int i = task.first; i < task.last; ++i) {
            const std::size_t y = std::size_t(first_[task.b] + i);
            const std::int32_t *with_x = both_[x] + at, *with_y = both_[y] + at, *ones = ones_.data() + at, *together = work.counts[i - task.first];
            const std::int32_t xy = both_[x][y], nx = ones_[x], ny = ones_[y], rest = std::int32_t(table_.n_rows) - nx - ny + xy;
            const double start = single_[x] + single_[y] - pair_[x][y] - all_, *px = pair_[x] + at, *py = pair_[y] + at, *sz = single_.data() + at;
            double* e = work.e.data();
            for (std::size_t z = from; z < size; ++z) {
                const std::int32_t t = together[z], xz = with_x[z] - t, yz = with_y[z] - t, only = ones[z] - xz - yz - t;
                const double joint = (rise[t] + rise[xy - t]) + (rise[xz] + rise[yz]) + (rise[nx - xy - xz] + rise[ny - xy - yz]) + (rise[only] + rise[rest - only]);
                e[z] = (start + joint) - (px[z] + py[z]) + sz[z];
            }
            for (std::size_t z = c == task.b ? std::size_t(i) + 1 : 0; z < size; ++z)
                best.offer(e[z], blocks_[task.a].variables[task.x], blocks_[task.b].variables[i], zs[z]);
        }
    }

    void score(const Task& task, std::size_t c, Work& work, Best& best) {
        const Block &mine = blocks_[task.a], &theirs = blocks_[task.b], &others = blocks_[c];
        const std::size_t pairs = std::size_t(mine.levels) * theirs.levels, S = others.stride;
        if (!has_a_say(std::int64_t(pairs) * others.levels, table_.n_rows)) return;
        count(task, c, work);
        work.cells.resize(pairs * others.levels);
        for (int i = task.first; i < task.last; ++i)
            for (std::size_t z = c == task.b ? std::size_t(i) + 1 : 0; z < others.variables.size(); ++z) {
                std::int32_t* cell = work.cells.data();
                for (std::size_t k = 0; k < pairs; ++k) {
                    const std::size_t mask = std::size_t(i - task.first) * pairs + k;
                    std::int32_t* zero = cell;
                    if (others.first_level) *cell++ = work.sizes[mask];  // what the other levels leave
                    for (int l = 0; l < others.n_levels(); ++l) {
                        const std::int32_t n = work.counts[mask][l * S + z];
                        if (others.first_level) *zero -= n;
                        *cell++ = n;
                    }
                }
                best.offer(work.evidence(work.cells.data(), mine.levels, theirs.levels, others.levels), mine.variables[task.x], theirs.variables[i],
                           others.variables[z]);
            }
    }
};

}  // namespace

std::vector<Triple> find_triples(const Table& table, double size, double threshold, std::size_t most, int n_threads) {
    return TripleScan(table, size).find(threshold, most, std::max(n_threads, 1));
}

namespace {

nb::tuple as_tuple(const std::vector<Triple>& triples) {
    std::vector<std::int64_t> which;
    std::vector<double> evidence;
    for (const Triple& one : triples) which.insert(which.end(), {one.x, one.y, one.z}), evidence.push_back(one.evidence);
    return nb::make_tuple(to_numpy(std::move(which), {triples.size(), 3}), to_numpy(std::move(evidence)));
}

nb::tuple triples(const Table& table, double size, double threshold, std::int64_t most, int n_threads) {
    if (!(size > 0) || most < 0) throw std::invalid_argument("size and most must be positive");
    std::vector<Triple> found;
    {
        nb::gil_scoped_release unlocked;
        found = find_triples(table, size, threshold, std::size_t(most), n_threads);
    }
    return as_tuple(found);
}

nb::object evidence_of_cells(Ints levels, Ints start, Table2<const std::int64_t> cells, std::int64_t n_rows, double size) {
    const std::size_t n = levels.shape(0) / 3;
    if (levels.shape(0) % 3 || start.shape(0) != n + 1 || cells.shape(0) != 4 || !(size > 0)) throw std::invalid_argument("cells do not fit the triples");
    std::set<int> all;
    for (std::int64_t r : span_of(levels)) {
        if (r < 1 || r > MOST_LEVELS) throw std::invalid_argument("levels out of range");
        all.insert(int(r));
    }
    std::vector<double> out(n);
    TripleEvidence evidence({all.begin(), all.end()}, n_rows, size);
    std::vector<std::int32_t> dense;
    for (std::size_t t = 0; t < n; ++t) {
        const std::int64_t *r = levels.data() + 3 * t, begin = start.data()[t], end = start.data()[t + 1], m = r[0] * r[1] * r[2];
        if (begin < 0 || end < begin || end > std::int64_t(cells.shape(1)) || !has_a_say(m, n_rows)) throw std::invalid_argument("cells do not fit the triples");
        dense.assign(std::size_t(m), 0);
        for (std::int64_t i = begin; i < end; ++i) {
            std::int64_t place = 0;
            for (int k = 0; k < 3; ++k) {
                const std::int64_t level = cells.data()[k * cells.shape(1) + i];
                if (level < 0 || level >= r[k]) throw std::invalid_argument("a cell has no such level");
                place = place * r[k] + level;
            }
            dense[std::size_t(place)] += std::int32_t(cells.data()[3 * cells.shape(1) + i]);
        }
        out[t] = evidence(dense.data(), int(r[0]), int(r[1]), int(r[2]));
    }
    return nb::cast(to_numpy(std::move(out)));
}

}  // namespace

void bind_triples(nb::module_& module) {
    module.def("triples", &triples, nb::arg("table"), nb::arg("size"), nb::arg("threshold"), nb::arg("most"), nb::arg("n_threads"));
    module.def("triples_of_cells", &evidence_of_cells, nb::arg("levels"), nb::arg("start"), nb::arg("cells"), nb::arg("n_rows"), nb::arg("size"));
}

}  // namespace ibmap
