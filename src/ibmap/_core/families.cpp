#include "families.hpp"

#include "bayes.hpp"
#include "bind.hpp"
#include "lists.hpp"
#include "pool.hpp"
#include "rows.hpp"

#include <nanobind/stl/string.h>

#include <numeric>
#include <ranges>
#include <string>

namespace ibmap {

namespace {

constexpr double MOST_CONFIGURATIONS = 1e260;     // of parents that are told from more
constexpr std::int64_t MOST_LOOKED_UP = 1 << 20;  // rows of a cell up to which functions are tables
constexpr std::size_t MOST_VALUES = 1 << 25;      // of such tables
constexpr std::size_t COUNTED = 1 << 16;          // counts that are made before they are scored

}  // namespace

std::size_t CountFunction::reach(std::int64_t n, std::int64_t n_rows) {
    n = std::min(n, MOST_LOOKED_UP);
    if (n < std::int64_t(table_.size())) return 0;
    const std::size_t before = table_.size();
    table_ = score_->table(parameter_, std::min({std::max<std::int64_t>(n, 2 * std::int64_t(before)), std::max(n, n_rows), MOST_LOOKED_UP}));
    return table_.size() - before;
}

FamilyRows::FamilyRows(std::vector<int> n_levels, std::int64_t rows, std::unique_ptr<FamilyScore> score)
    : levels(std::move(n_levels)), n_rows(rows), score_(std::move(score)), t_(levels.size()) {}

int largest(const Slices& slices) { return slices.n ? *std::max_element(slices.size.begin(), slices.size.end()) : 0; }

// f where there could be so many cells, of up to so many rows.
const CountFunction& FamilyRows::function(double cells, std::int64_t most) {
    const double parameter = score_->parameter(cells);
    CountFunction& found = functions_.try_emplace(parameter, *score_, parameter).first->second;
    n_values_ += found.reach(most, n_rows);
    return found;
}

// s_x of the slices as they are.
double FamilyRows::whole(const Slices& slices, double q, std::int64_t rows) {
    const int most = largest(slices);
    const CountFunction &of_cell = function(q * r_, most), &of_slice = function(q, most);
    double total = 0.0;
    for (int size : slices.set_size) total += of_cell(size);
    for (int size : slices.size) total -= of_slice(size);
    return total - score_->cost(q, r_, rows);
}

// s_x of groups of slices: each of them is one.
double FamilyRows::grouped(const Slices& slices, double q, std::int64_t rows) {
    group_size_.assign(groups_.n, 0);
    for (int k = 0; k < slices.n; ++k) group_size_[groups_.of[k]] += slices.size[k];
    const std::int64_t most = slices.n ? *std::max_element(group_size_.begin(), group_size_.end()) : 0;
    const CountFunction &of_cell = function(q * r_, most), &of_slice = function(q, most);
    if (by_level_.size() < std::size_t(levels[x_])) by_level_.resize(std::size_t(levels[x_]));
    double total = 0.0;
    auto sets = [&](int k) { return std::views::iota(slices.first_set[k], slices.first_set[k + 1]); };
    for (int first : groups_.first) {
        for (int k = first; k >= 0; k = groups_.next[k])
            for (int s : sets(k)) by_level_[slices.set_level[s]] += slices.set_size[s];
        for (int k = first; k >= 0; k = groups_.next[k])
            for (int s : sets(k))
                if (const auto rows_of_level = std::exchange(by_level_[slices.set_level[s]], 0)) total += of_cell(rows_of_level);
    }
    for (std::int64_t n : group_size_) total -= of_slice(n);
    return total - score_->cost(q, r_, rows);
}

void FamilyRows::ask(const Slices& slices, int x, Members parents) {
    if (n_values_ > MOST_VALUES) functions_.clear(), n_values_ = 0;
    x_ = x, parents_.assign(parents.begin(), parents.end()), slices_ = &slices;
    std::fill(t_.begin(), t_.end(), 0.0);
    q_ = 1.0, r_ = r_of(x);
    for (std::int64_t p : parents) q_ = std::min(q_ * r_of(p), MOST_CONFIGURATIONS);
    rows_ = std::accumulate(slices.size.begin(), slices.size.end(), std::int64_t(0));
    value_ = whole(slices, q_, rows_);
    groups_.without_each(slices, [&](int j) {
        t_[parents[j]] = value_ - grouped(slices, std::max(q_ / r_of(parents[j]), 1.0), rows_);
        return true;
    });
}

void FamilyRows::outside(BitCounts& counts) {
    const Table& table = counts.table();
    if (levels[x_] < 2) return;  // nothing says anything about a constant
    const std::vector<double> of_parents = t_;
    for (std::size_t b = 0; b < table.blocks.size(); ++b) table.blocks[b].first_level ? block(counts, b) : incomplete_block(counts, b);
    for (std::int64_t p : parents_) t_[p] = of_parents[p];
    for (std::int64_t y = 0; y < std::int64_t(levels.size()); ++y) {  // of very many levels, in no block: the rows are split by it
        if (levels[y] <= MOST_LEVELS || y == x_ || std::find(parents_.begin(), parents_.end(), y) != parents_.end()) continue;
        with_y_.assign(parents_.begin(), parents_.end()), with_y_.push_back(y);
        splitter_.split(table, x_, with_y_);
        const Slices& finer = splitter_.slices;
        const auto rows = std::accumulate(finer.size.begin(), finer.size.end(), std::int64_t(0));
        std::vector<int> others(parents_.size());
        std::iota(others.begin(), others.end(), 0);
        groups_.among(finer, others);
        t_[y] = whole(finer, q_ * r_of(y), rows) - grouped(finer, q_, rows);
    }
}

// The functions that y, of s levels, is judged by: of its cells with x, of the levels of x, of its own levels, of slices.
FamilyRows::Functions FamilyRows::functions(double s) {
    const int most = largest(*slices_);
    return {function(q_ * r_ * s, most), function(q_ * r_, most), function(q_ * s, most), function(q_, most)};
}

// What another parent of s levels costs.
double FamilyRows::cost(double s, std::int64_t rows) const { return score_->cost(q_ * s, r_, rows) - score_->cost(q_, r_, rows); }

// Count all slices of at least so many rows in a block, and call work(slice, first set in counts_) for each.
template <class Work>
void FamilyRows::count(BitCounts& counts, std::size_t b, int least, Work work) {
    const Slices& slices = *slices_;
    const int most = int(std::max<std::size_t>(16, COUNTED / padded(counts.block(b).width(), 64)));
    for (int k = 0; k < slices.n;) {
        if (slices.size[k] < least) {
            ++k;
            continue;
        }
        const int first = slices.first_set[k];
        int stop = k + 1;
        while (stop < slices.n && slices.size[stop] >= least && slices.first_set[stop + 1] - first <= most) ++stop;
        counts.count(b, first, slices.first_set[stop], counts_);
        for (; k < stop; ++k) work(k, first);
    }
}

// t of all ys of a block that have a value in every row: level 0 is what the others leave.
void FamilyRows::block(BitCounts& counts, std::size_t b) {
    const Block& block = counts.block(b);
    const Slices& slices = *slices_;
    const Functions of = functions(block.levels);
    const std::size_t S = block.stride, width = block.width();
    sums_.assign(S, 0.0), both_.resize(width);
    double *sums = sums_.data(), start = 0.0;
    auto add = [&](const CountFunction& f, const std::int32_t* count, std::int32_t n, double sign) {
        if (n < MOST_LOOKED_UP) return add_all_cells(f.table(), count, n, block.n_levels(), S, 0, sign, sums);
        for (std::size_t v = 0; v < S; ++v) {
            std::int64_t rest = n;
            for (std::size_t c = v; c < width; c += S) sums[v] += sign * f(count[c]), rest -= count[c];
            sums[v] += sign * f(rest);
        }
    };
    count(counts, b, 2, [&](int k, int first) {  // a row alone says nothing
        std::int32_t* both = both_.data();
        std::fill_n(both, width, 0);
        start += of.slice(slices.size[k]);
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) {
            const std::int32_t* count = counts_[s - first];
            start -= of.row(slices.set_size[s]);
            add(of.cell, count, slices.set_size[s], 1.0);
            for (std::size_t c = 0; c < width; ++c) both[c] += count[c];
        }
        add(of.column, both, slices.size[k], -1.0);
    });
    start -= cost(block.levels, rows_);
    for (std::size_t v = 0; v < block.variables.size(); ++v) t_[block.variables[v]] = sums[v] + start;
}

// The same where values are missing: every y has rows of its own.
void FamilyRows::incomplete_block(BitCounts& counts, std::size_t b) {
    const Block& block = counts.block(b);
    const Slices& slices = *slices_;
    const Functions of = functions(block.levels);
    const std::size_t S = block.stride, width = block.width(), m = block.variables.size();
    sums_.assign(S, 0.0), both_.resize(width);
    std::vector<std::int64_t> rows(S);
    count(counts, b, 1, [&](int k, int first) {
        std::fill_n(both_.data(), width, 0);
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s)
            for (std::size_t v = 0; v < m; ++v) {
                std::int64_t row = 0;
                for (std::size_t c = v; c < width; c += S)
                    if (const std::int32_t n = counts_[s - first][c]) sums_[v] += of.cell(n), row += n, both_[c] += n;
                sums_[v] -= of.row(row);
            }
        for (std::size_t v = 0; v < m; ++v) {
            std::int64_t all = 0;
            for (std::size_t c = v; c < width; c += S)
                if (const std::int32_t n = both_[c]) sums_[v] -= of.column(n), all += n;
            sums_[v] += of.slice(all), rows[v] += all;
        }
    });
    for (std::size_t v = 0; v < m; ++v) t_[block.variables[v]] = sums_[v] - cost(block.levels, rows[v]);
}

void FamilyRows::outside(const Cells& cells, std::size_t question) {
    if (levels[x_] < 2) return;
    for (auto t = std::size_t(cells.y_start.data()[question]); t < std::size_t(cells.y_start.data()[question + 1]); ++t)
        if (const auto y = int(cells.y.data()[t]); levels[y] > 1) t_[y] = of_cells(cells, t, y);
}

// t of one y from its cells, sorted by slice, level of x, level of y.
double FamilyRows::of_cells(const Cells& cells, std::size_t table, int y) {
    const auto stride = cells.cells.shape(1);
    const std::int64_t *slice = cells.cells.data(), *of_x = slice + stride, *of_y = of_x + stride, *rows = of_y + stride, end = cells.start.data()[table + 1];
    const Functions of = functions(r_of(y));
    if (by_level_.size() < std::size_t(levels[y])) by_level_.resize(std::size_t(levels[y]));
    double total = 0.0;
    std::int64_t n_all = 0;
    for (std::int64_t i = cells.start.data()[table]; i < end;) {
        const std::int64_t first = i;
        std::int64_t n = 0;
        while (i < end && slice[i] == slice[first]) {
            std::int64_t row = 0;
            for (const std::int64_t level = of_x[i]; i < end && slice[i] == slice[first] && of_x[i] == level; ++i)
                total += of.cell(rows[i]), row += rows[i], by_level_[of_y[i]] += rows[i];
            total -= of.row(row), n += row;
        }
        for (std::int64_t j = first; j < i; ++j)
            if (const auto column = std::exchange(by_level_[of_y[j]], 0)) total -= of.column(column);
        total += of.slice(n), n_all += n;
    }
    return total - cost(r_of(y), n_all);
}

// (groups, r): rows with each level of x.
void LeftOut::count(const Slices& slices, const Groups& groups, int r, std::vector<double>& out) const {
    out.assign(std::size_t(groups.n) * std::size_t(r), 0.0);
    for (int k = 0; k < slices.n; ++k)
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s)
            out[groups.of[k] * r + slices.set_level[s]] += slices.set_size[s];
}

// A row that is left out is counted where x has its own level: logs_ of the other levels, own_ of that one. Where x is the child, the row is missing
// among those with the same parents whatever level x has; what is the same for all levels says nothing.
double LeftOut::operator()(const Slices& slices, int x, Members blanket) {
    const int r = levels_[x];
    if (r < 2) return 0.0;
    const std::size_t K = std::size_t(slices.n), R = std::size_t(r);
    for (std::size_t j = 0; j < blanket.size(); ++j) place_[blanket[j]] = int(j);
    logs_.assign(K * R, 0.0), own_.assign(K * R, 0.0);
    auto add_family = [&](std::int64_t child) {
        double cells = levels_[child];
        members_.clear();
        for (std::int64_t p : blanket)
            if (is_parent(p, child)) members_.push_back(place_[p]), cells *= levels_[p];
        if (child != x) cells *= r;
        const double a = size_ / cells, all = a * levels_[child];
        parents_.among(slices, members_), count(slices, parents_, r, in_slice_);
        if (child != x) members_.push_back(place_[child]), family_.among(slices, members_), count(slices, family_, r, in_cell_);
        const Groups& groups = child == x ? parents_ : family_;
        const auto& n = child == x ? in_slice_ : in_cell_;
        of_group_.assign(n.size(), 0.0), own_of_group_.assign(n.size(), 0.0);
        for (std::size_t i = 0; i < n.size(); ++i) {
            const double rows = child == x ? 0.0 : in_slice_[parents_.of[groups.first[i / R]] * R + i % R];
            of_group_[i] = std::log(child == x ? n[i] + a : (n[i] + a) / (rows + all));
            if (n[i] > 0) own_of_group_[i] = std::log(child == x ? n[i] - 1 + a : (n[i] - 1 + a) / (rows - 1 + all));
        }
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t l = 0; l < R; ++l) logs_[k * R + l] += of_group_[groups.of[k] * R + l], own_[k * R + l] += own_of_group_[groups.of[k] * R + l];
    };
    add_family(x);
    for (std::int64_t child : blanket)
        if (is_parent(x, child)) add_family(child);
    double total = 0.0;
    std::int64_t rows = 0;
    for (std::size_t k = 0; k < K; ++k)
        for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s) {
            const auto level = std::size_t(slices.set_level[s]);
            const double mine = own_[k * R + level];
            double others = 0.0, largest = mine;
            for (std::size_t l = 0; l < R; ++l) largest = std::max(largest, l == level ? mine : logs_[k * R + l]);
            for (std::size_t l = 0; l < R; ++l) others += std::exp((l == level ? mine : logs_[k * R + l]) - largest);
            total += slices.set_size[s] * (mine - largest - std::log(others)), rows += slices.set_size[s];
        }
    return rows ? total / double(rows) : 0.0;
}

namespace {

std::vector<int> as_levels(const Ints& given) {
    std::vector<int> out;
    for (std::int64_t r : span_of(given)) {
        if (r < 0 || r >= (std::int64_t(1) << 31)) throw std::invalid_argument("levels out of range");
        out.push_back(int(r));
    }
    return out;
}

std::unique_ptr<FamilyScore> score_named(const std::string& name, double size) {
    if (name == "bic") return std::make_unique<BIC>();
    if (name == "qnml") return std::make_unique<QNML>();
    if (name != "bdeu") throw std::invalid_argument("no such score: " + name);
    if (!(size > 0.0 && size < std::numeric_limits<double>::infinity())) throw std::invalid_argument("an equivalent sample size is positive");
    return std::make_unique<BDeu>(size);
}

class Families {
  public:
    Families(Ints levels, std::int64_t n_rows, const std::string& score, double size) : rows_(as_levels(levels), n_rows, score_named(score, size)) {}

    nb::tuple rows(const Table& table, Ints xs, Ints start, Ints parents, Table2<const double> odds, double floor, Ints also_start, Ints also, bool exact, int) {
        if (table.levels != rows_.levels || table.n_rows != rows_.n_rows) throw std::invalid_argument("the table is another one");
        return rows_by(xs, {start, parents}, odds, {also_start, also}, floor, exact, [&](std::size_t q, Members given, bool everyone) {
            if (!counts_ || &counts_->table() != &table) counts_ = std::make_unique<BitCounts>(table);
            counts_->ask(int(xs.data()[q]), given);
            rows_.ask(counts_->slices(), int(xs.data()[q]), given);
            if (everyone) rows_.outside(*counts_);
        });
    }

    nb::tuple rows_of_cells(Ints x, Ints y, Ints y_start, Ints given, Ints given_start, Ints slice_start, Ints keys, Ints set_start,
                            Table2<const std::int64_t> sets, Ints cell_start, Table2<const std::int64_t> cells, Ints xs, Ints start, Ints parents,
                            Table2<const double> odds, double floor, Ints also_start, Ints also, bool exact, int) {
        const Cells asked{x, y, y_start, given, given_start, slice_start, keys, set_start, sets, cell_start, cells};
        asked.check(rows_.levels);
        const Lists sets_given{given_start, given};
        if (asked.size() != xs.shape(0)) throw std::invalid_argument("the tables are about other variables");
        SliceReader reader(asked);
        return rows_by(xs, {start, parents}, odds, {also_start, also}, floor, exact, [&](std::size_t q, Members mine, bool everyone) {
            if (x.data()[q] != xs.data()[q] || !std::ranges::equal(sets_given[q], mine)) throw std::invalid_argument("the tables are about other families");
            rows_.ask(reader.read(q), int(xs.data()[q]), mine);
            if (everyone) rows_.outside(asked, q);
        });
    }

  private:
    FamilyRows rows_;
    std::unique_ptr<BitCounts> counts_;  // of the table that was asked last
    std::mutex guard_;

    template <class Ask>
    nb::tuple rows_by(const Ints& xs, const Lists& parents, Table2<const double> odds, const Lists& also, double floor, bool exact, Ask ask) {
        const int n = int(rows_.levels.size());
        const std::size_t n_rows = xs.shape(0);
        check_variables(xs, n, "x"), parents.check(n_rows, n, "parents"), also.check(n_rows, n, "others");
        for (std::size_t q = 0; q < n_rows; ++q)
            for (std::int64_t p : parents[q])
                if (p == xs.data()[q]) throw std::invalid_argument("x is not its own parent");
        const Odds prior(odds, n);
        std::vector<Row> found(n_rows);
        {
            nb::gil_scoped_release unlocked;
            const std::lock_guard lock(guard_);
            std::vector<std::uint8_t> listed(std::size_t(n), 0);
            spread(1, std::int64_t(n_rows), [&](int, std::int64_t q) {
                const auto mine = parents[q], others = also[q];
                const std::int64_t x = xs.data()[q];
                const bool everyone = !exact && (floor < std::numeric_limits<double>::infinity() || !others.empty());
                ask(std::size_t(q), mine, everyone);
                Row& row = found[q];
                row.value = rows_.value();
                for (std::int64_t p : mine) row.value += prior(x, p), listed[p] = 1;
                for (std::int64_t y : others) listed[y] |= everyone;
                for (std::int64_t y = 0; y < n; ++y) {
                    if (y == x || !(everyone || listed[y])) continue;
                    const double t = rows_.t(y) + prior(x, y);
                    if (listed[y] || t > floor) row.y.push_back(std::int32_t(y)), row.t.push_back(t);
                    else row.rest += std::exp(std::min(t, 0.0));
                }
                std::fill(listed.begin(), listed.end(), 0);
            });
        }
        return joined(found);
    }
};

nb::object directed_left_out(Ints levels, Ints x, Ints given, Ints given_start, Ints slice_start, Ints keys, Ints set_start,
                             Table2<const std::int64_t> sets, Table2<const bool> arcs, double size) {
    const std::vector<int> r = as_levels(levels);
    const std::size_t n = x.shape(0);
    const std::vector<std::int64_t> none(n + 1, 0);
    const Cells asked{x, Ints(none.data(), {0}), Ints(none.data(), {n + 1}), given, given_start, slice_start, keys, set_start, sets,
                      Ints(none.data(), {1}), Table2<const std::int64_t>(none.data(), {4, 0})};
    asked.check(r);
    if (arcs.shape(0) != r.size() || arcs.shape(1) != r.size()) throw std::invalid_argument("a row and a column of arcs for every variable");
    if (!(size > 0.0)) throw std::invalid_argument("prior counts are positive");
    std::vector<double> out(n);
    {
        nb::gil_scoped_release unlocked;
        const Lists blankets{given_start, given};
        SliceReader reader(asked);
        LeftOut left_out(r, arcs.data(), size);
        spread(1, std::int64_t(n), [&](int, std::int64_t q) {
            out[q] = left_out(reader.read(std::size_t(q)), int(x.data()[q]), blankets[q]);
        });
    }
    return nb::cast(to_numpy(std::move(out)));
}

}  // namespace

void bind_families(nb::module_& module) {
    nb::class_<Families>(module, "Families")
        .def(nb::init<Ints, std::int64_t, const std::string&, double>(), nb::arg("levels"), nb::arg("n_rows"), nb::arg("score"),
             nb::arg("equivalent_sample_size"))
        .def("rows", &Families::rows, nb::arg("table"), nb::arg("xs"), nb::arg("start"), nb::arg("parents"), nb::arg("odds"), nb::arg("floor"),
             nb::arg("also_start"), nb::arg("also"), nb::arg("exact"), nb::arg("n_threads"))
        .def("rows_of_cells", &Families::rows_of_cells);
    module.def("directed_left_out", &directed_left_out, nb::arg("levels"), nb::arg("x"), nb::arg("given"), nb::arg("given_start"), nb::arg("slice_start"),
               nb::arg("keys"), nb::arg("set_start"), nb::arg("sets"), nb::arg("arcs"), nb::arg("size"));
}

}  // namespace ibmap
