// Rows of evidence for Python: from the bits of a table, or from cells that any engine has counted.
#include "bind.hpp"
#include "cells.hpp"
#include "lists.hpp"
#include "margins.hpp"
#include "pool.hpp"
#include "rows.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

namespace ibmap {

namespace {

std::span<const std::int64_t> part(const Ints& start, const Ints& values, std::size_t q) { return Lists{start, values}[q]; }

class Evidence {  // the conditionals of a table, and workspaces for threads
  public:
    Evidence(Ints levels, Vector<const bool> ordinal, Ints counts, std::int64_t n_rows, const std::string& family, double effect_precision,
             double intercept_precision, double prior_count, double saturated_share)
        : shared_(make(levels, ordinal, counts, n_rows, family, effect_precision, intercept_precision, prior_count, saturated_share)) {}

    Evidence(const Evidence&) = delete;

    nb::tuple rows(const Table& table, Ints xs, Ints start, Ints members, Table2<const double> odds, double floor, Ints also_start, Ints also,
                   bool exact, int n_threads) {
        if (table.levels != shared_.levels || table.n_rows != shared_.n_rows) throw std::invalid_argument("the table is another one");
        check(xs, start, members, also_start, also);
        if (counted_ != &table) bit_counts_.clear(), margins_.clear(), counted_ = &table;
        while (int(bit_counts_.size()) < threads_for(xs.shape(0), n_threads))
            bit_counts_.push_back(std::make_unique<BitCounts>(table)), margins_.push_back(std::make_unique<MarginCounts>(table));
        const bool everyone = !exact && (floor < std::numeric_limits<double>::infinity() || also.shape(0));
        return rows_by(xs, start, members, odds, floor, also_start, also, exact, n_threads, tasks(xs, start, members, everyone),
                       [&](int thread, const Task& task, std::int64_t q, Members known) -> CountSource& {
                           MarginCounts& margins = *margins_[thread];
                           if (q == task.first && !task.whole.empty()) task.fits = margins.ask(int(xs.data()[q]), task.whole);
                           const int gone = missing_from(known, task.whole);
                           if (task.fits && table.complete[std::size_t(task.whole[std::size_t(gone)])]) {
                               margins.leave_out(gone);
                               return margins;
                           }
                           bit_counts_[thread]->ask(int(xs.data()[q]), known);
                           return *bit_counts_[thread];
                       });
    }

    nb::tuple rows_of_cells(Ints x, Ints y, Ints y_start, Ints given, Ints given_start, Ints slice_start, Ints keys, Ints set_start,
                            Table2<const std::int64_t> sets, Ints cell_start, Table2<const std::int64_t> cells, Ints xs, Ints start, Ints members,
                            Table2<const double> odds, double floor, Ints also_start, Ints also, bool exact, int n_threads) {
        const Cells asked{x, y, y_start, given, given_start, slice_start, keys, set_start, sets, cell_start, cells};
        asked.check(shared_.levels);
        check(xs, start, members, also_start, also);
        std::vector<std::int64_t> question;  // of every x; those that are not modelled have none
        for (std::size_t q = 0, next = 0; q < xs.shape(0); ++q) {
            const bool known = shared_.modelled[std::size_t(xs.data()[q])];
            if (known && (next >= asked.size() || asked.x.data()[next] != xs.data()[q])) throw std::invalid_argument("the tables are about other variables");
            question.push_back(known ? std::int64_t(next++) : -1);
        }
        std::vector<std::unique_ptr<CellCounts>> counts;
        while (int(counts.size()) < threads_for(xs.shape(0), n_threads)) counts.push_back(std::make_unique<CellCounts>(asked, shared_.levels));
        return rows_by(xs, start, members, odds, floor, also_start, also, exact, n_threads, tasks(xs, start, members, false),
                       [&](int thread, const Task&, std::int64_t q, Members known) -> CountSource& {
                           const auto mine = std::size_t(question[q]);
                           if (!std::ranges::equal(counts[thread]->given(mine), known)) throw std::invalid_argument("the tables are about other blankets");
                           counts[thread]->ask(mine);
                           return *counts[thread];
                       });
    }

    // Of every question: what leaving out each row in turn makes of the log likelihood, in the pairwise and the saturated family.
    nb::object left_out(Ints x, Ints given, Ints given_start, Ints slice_start, Ints keys, Ints set_start, Table2<const std::int64_t> sets, int n_threads) {
        const std::vector<std::int64_t> none(x.shape(0) + 1, 0);
        const std::size_t n = x.shape(0);
        const Ints no_ys(none.data(), {0}), no_start(none.data(), {n + 1}), no_cell(none.data(), {1});
        const Table2<const std::int64_t> no_cells(none.data(), {4, 0});
        const Cells asked{x, no_ys, no_start, given, given_start, slice_start, keys, set_start, sets, no_cell, no_cells};
        asked.check(shared_.levels);
        for (std::size_t q = 0; q < n; ++q)
            if (!shared_.modelled[std::size_t(x.data()[q])]) throw std::invalid_argument("a variable has too many levels");
        for (std::size_t i = 0; i < given.shape(0); ++i)
            if (!shared_.modelled[std::size_t(given.data()[i])]) throw std::invalid_argument("a variable has too many levels");
        std::vector<double> out(2 * n);
        {
            nb::gil_scoped_release unlocked;
            const int threads = threads_for(n, n_threads);
            std::vector<CellCounts> counts(std::size_t(threads), CellCounts(asked, shared_.levels));
            spread(threads, std::int64_t(n), [&](int thread, std::int64_t q) {
                counts[thread].ask(std::size_t(q));
                const Slices& slices = counts[thread].slices();
                out[q] = makers_[thread]->left_out(slices, int(x.data()[q]), counts[thread].given(std::size_t(q)));
                const double a = shared_.options.prior_count, r = shared_.levels[std::size_t(x.data()[q])];
                double& full = out[n + q];
                for (int k = 0; k < slices.n; ++k)
                    for (int s = slices.first_set[k]; s < slices.first_set[k + 1]; ++s)
                        full += slices.set_size[s] * std::log((slices.set_size[s] - 1 + a) / (slices.size[k] - 1 + a * r));
            });
        }
        return nb::cast(to_numpy(std::move(out), {2, n}));
    }

  private:
    Conditionals shared_;
    std::vector<std::unique_ptr<RowMaker>> makers_;
    std::vector<std::unique_ptr<BitCounts>> bit_counts_;  // of the table that was asked last
    std::vector<std::unique_ptr<MarginCounts>> margins_;
    const Table* counted_ = nullptr;

    int threads_for(std::size_t n_tasks, int n_threads) {
        const int threads = std::max(1, std::min<int>(n_threads, int(n_tasks / 4)));  // starting one costs as much as a few rows
        while (int(makers_.size()) < threads) makers_.push_back(std::make_unique<RowMaker>(shared_));
        return threads;
    }

    struct Task {  // questions first to last - 1; if they are about one x given a blanket without one of its members each, the whole of it
        std::int64_t first, last;
        std::vector<std::int64_t> whole;
        mutable bool fits = false;
    };

    std::vector<Task> tasks(const Ints& xs, const Ints& start, const Ints& members, bool everyone) const {
        const auto n = std::int64_t(xs.shape(0));
        auto alike = [&](std::int64_t q, std::int64_t x) { return q < n && xs.data()[q] == x; };
        auto is_known = [&](std::int64_t v) { return bool(shared_.modelled[std::size_t(v)]); };
        std::vector<Task> found;
        for (std::int64_t q = 0; q < n;) {
            const auto x = xs.data()[q];
            Task task{q, q + 1, {}};
            if (everyone && is_known(x) && alike(q + 1, x)) {
                const auto one = part(start, members, std::size_t(q)), other = part(start, members, std::size_t(q) + 1);
                std::ranges::set_union(one, other, std::back_inserter(task.whole));
                auto belongs = [&](std::int64_t k) {
                    const auto some = part(start, members, std::size_t(k));
                    const bool in_order = std::ranges::adjacent_find(some, std::ranges::greater_equal{}) == some.end();
                    return in_order && some.size() + 1 == task.whole.size() && std::ranges::includes(task.whole, some);
                };
                if (std::ranges::all_of(task.whole, is_known) && belongs(q) && belongs(q + 1))
                    while (alike(task.last, x) && belongs(task.last)) ++task.last;
                else
                    task.whole.clear();
            }
            q = task.last;
            found.push_back(std::move(task));
        }
        return found;
    }

    static int missing_from(Members some, Members whole) { return int(std::ranges::mismatch(whole, some).in1 - whole.begin()); }

    // Rows of some xs, by source(thread, task, question, blanket), which counts.
    template <class Source>
    nb::tuple rows_by(Ints xs, Ints start, Ints members, Table2<const double> odds, double floor, Ints also_start, Ints also, bool exact, int n_threads,
                      const std::vector<Task>& tasks, Source source) {
        const Odds prior(odds, shared_.n);
        std::vector<Row> found(xs.shape(0));
        {
            nb::gil_scoped_release unlocked;
            spread(threads_for(found.size(), n_threads), std::int64_t(tasks.size()), [&](int thread, std::int64_t t) {
                for (std::int64_t q = tasks[t].first; q < tasks[t].last; ++q) {
                    const auto x = xs.data()[q];
                    const auto blanket = part(start, members, q);
                    std::vector<std::int64_t> known;
                    for (std::int64_t m : blanket)
                        if (shared_.modelled[std::size_t(m)]) known.push_back(m);
                    const Wanted wanted{floor, part(also_start, also, q), exact};
                    CountSource* counts = shared_.modelled[std::size_t(x)] ? &source(thread, tasks[t], q, known) : nullptr;
                    found[q] = makers_[thread]->row(counts, int(x), blanket, prior.of(x), wanted);
                }
            });
        }
        return joined(found);
    }

    void check(const Ints& xs, const Ints& start, const Ints& members, const Ints& also_start, const Ints& also) const {
        const std::size_t n = xs.shape(0);
        check_variables(xs, shared_.n, "x");
        Lists{start, members}.check(n, shared_.n, "blankets");
        Lists{also_start, also}.check(n, shared_.n, "others");
        for (std::size_t q = 0; q < n; ++q)
            for (std::int64_t m : part(start, members, q))
                if (m == xs.data()[q]) throw std::invalid_argument("x is not in its own blanket");
    }

    static Conditionals make(const Ints& levels, const Vector<const bool>& ordinal, const Ints& counts, std::int64_t n_rows, const std::string& family,
                             double effect_precision, double intercept_precision, double prior_count, double saturated_share) {
        Options options;
        if (family == "pairwise") options.family = Family::pairwise;
        else if (family == "saturated") options.family = Family::saturated;
        else if (family == "adaptive") options.family = Family::adaptive;
        else throw std::invalid_argument("no such family: " + family);
        options.precision = {intercept_precision, effect_precision};
        options.prior_count = prior_count, options.saturated_share = saturated_share;
        std::vector<int> sizes;
        std::int64_t total = 0;
        for (std::size_t v = 0; v < levels.shape(0); ++v) sizes.push_back(int(levels.data()[v])), total += levels.data()[v];
        if (ordinal.shape(0) != sizes.size() || std::int64_t(counts.shape(0)) != total) throw std::invalid_argument("one flag for a variable, one count for a level");
        const std::vector<bool> ordered(ordinal.data(), ordinal.data() + ordinal.shape(0));
        return Conditionals(std::move(sizes), ordered, span_of(counts), n_rows, options);
    }
};

}  // namespace

void bind_rows(nb::module_& module) {
    nb::class_<Evidence>(module, "Conditionals")
        .def(nb::init<Ints, Vector<const bool>, Ints, std::int64_t, const std::string&, double, double, double, double>(), nb::arg("levels"),
             nb::arg("ordinal"), nb::arg("counts"), nb::arg("n_rows"), nb::arg("family"), nb::arg("effect_precision"), nb::arg("intercept_precision"),
             nb::arg("prior_count"), nb::arg("saturated_share"))
        .def("rows", &Evidence::rows, nb::arg("table"), nb::arg("xs"), nb::arg("start"), nb::arg("members"), nb::arg("odds"), nb::arg("floor"),
             nb::arg("also_start"), nb::arg("also"), nb::arg("exact"), nb::arg("n_threads"))
        .def("rows_of_cells", &Evidence::rows_of_cells)
        .def("left_out", &Evidence::left_out);
}

}  // namespace ibmap
