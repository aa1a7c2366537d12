// The Bayesian test for Python: questions, rows of the IB-score, all pairs.
#include "bayes_pairs.hpp"
#include "bind.hpp"
#include "lists.hpp"
#include "pool.hpp"
#include "row_keys.hpp"
#include "rows.hpp"
#include "spare.hpp"

#include <nanobind/stl/optional.h>

namespace ibmap {

namespace {

constexpr std::int64_t LARGE = 20'000'000;  // cells of a table of which one row takes longer than to start a thread

class Bayes {
  public:
    Bayes(Ints levels, std::int64_t n_rows, Table2<const double> log_prior, Table2<const double> cell, Table2<const double> margin,
          bool every_slice, bool one_factor)
        : model_(span_of(levels), n_rows, log_prior, cell, margin, every_slice, one_factor) {}

    nb::tuple posteriors(const Table& table, Ints x, Ints y_start, Ints y, Ints given_start, Ints given, int n_threads) {
        const std::size_t n = x.shape(0);
        const Lists ys{y_start, y}, sets{given_start, given};
        check(table), check_variables(x, model_.n, "x"), ys.check(n, model_.n, "ys"), sets.check(n, model_.n, "conditioning sets");
        std::vector<double> yes(y.shape(0)), no(y.shape(0));
        {
            nb::gil_scoped_release unlocked;
            const auto keys = keys_for(table, x, ys, sets);
            with_rows(table, std::min<int>(n_threads, int(n)), [&](auto& rows) {
                std::vector<KeyedRows> keyed;
                for (std::size_t t = 0; keys && t < rows.size(); ++t) keyed.emplace_back(model_, *keys);
                spread(int(rows.size()), std::int64_t(n), [&](int thread, std::int64_t q) {
                    const auto mine = ys[std::size_t(q)], set = sets[std::size_t(q)];
                    const auto first = std::size_t(y_start.data()[q]);
                    const int of = int(x.data()[q]);
                    auto put = [&](std::size_t i, double t) { yes[first + i] = Posterior(t).independent, no[first + i] = Posterior(t).dependent; };
                    if (mine.size() == 1 && std::min(model_.levels[of], model_.levels[mine[0]]) < 2) return put(0, model_.prior_odds(of, int(mine[0])));
                    if (keys && by_keys(of, mine, set)) return put(0, keyed[std::size_t(thread)].log_odds(of, int(mine[0]), set));
                    BayesRows& work = *rows[std::size_t(thread)];
                    work.ask(of, set, false);
                    if (8 * mine.size() > std::size_t(model_.n)) {
                        const auto t = work.everyone();
                        for (std::size_t i = 0; i < mine.size(); ++i) put(i, mine[i] == of ? work.log_odds(of) : t[std::size_t(mine[i])]);
                    } else {
                        for (std::size_t i = 0; i < mine.size(); ++i) put(i, work.log_odds(int(mine[i])));
                    }
                });
            });
        }
        return nb::make_tuple(to_numpy(std::move(yes)), to_numpy(std::move(no)));
    }

    std::int64_t first_independent(const Table& table, std::int64_t x, std::int64_t y, Table2<const std::int64_t> subsets, double threshold) {
        check(table);
        const std::size_t size = subsets.shape(1);
        for (std::size_t i = 0; i < subsets.shape(0) * size; ++i)
            if (subsets.data()[i] < 0 || subsets.data()[i] >= model_.n) throw std::invalid_argument("a subset has what is not a variable");
        if (std::min(x, y) < 0 || std::max(x, y) >= model_.n) throw std::invalid_argument("x or y is not a variable");
        std::int64_t found = -1;
        nb::gil_scoped_release unlocked;
        with_rows(table, 1, [&](auto& rows) {
            for (std::size_t q = 0; q < subsets.shape(0) && found < 0; ++q) {
                rows[0]->ask(int(x), {subsets.data() + q * size, size}, false);
                if (Posterior(rows[0]->log_odds(int(y))).independent > threshold) found = std::int64_t(q);
            }
        });
        return found;
    }

    std::int64_t first_dependent(const Table& table, std::int64_t x, Ints ys, Ints given, double margin) {
        check_question(table, x, given), check_variables(ys, model_.n, "y");
        std::int64_t found = -1;
        nb::gil_scoped_release unlocked;
        with_rows(table, 1, [&](auto& rows) {
            rows[0]->ask(int(x), span_of(given), false);
            found = rows[0]->first_dependent(span_of(ys), margin);
        });
        return found;
    }

    std::int64_t first_independent_member(const Table& table, std::int64_t x, Ints members, double margin) {
        check_question(table, x, members);
        std::int64_t found = -1;
        nb::gil_scoped_release unlocked;
        with_rows(table, 1, [&](auto& rows) {
            rows[0]->ask(int(x), span_of(members));
            found = rows[0]->first_independent_member(margin);
        });
        return found;
    }

    nb::tuple posteriors_of_cells(Ints x, Ints y, Ints start, Table2<const std::int64_t> cells, std::optional<Vector<const double>> log_slices) {
        const std::size_t n = x.shape(0);
        check_variables(x, model_.n, "x"), check_variables(y, model_.n, "y");
        bool holds = y.shape(0) == n && start.shape(0) == n + 1 && cells.shape(0) == 4 && (log_slices ? log_slices->shape(0) == n : !model_.every_slice);
        for (std::size_t t = 0; holds && t <= n; ++t) holds = (t ? start.data()[t - 1] : 0) <= start.data()[t] && start.data()[t] <= std::int64_t(cells.shape(1));
        if (!holds) throw std::invalid_argument("cells do not fit the tables");
        std::vector<double> yes(n), no(n);
        {
            nb::gil_scoped_release unlocked;
            BayesCells work(model_);
            for (std::size_t t = 0; t < n; ++t) {
                const double slices = log_slices ? log_slices->data()[t] : 0.0;
                const Posterior found(work.log_odds(int(x.data()[t]), int(y.data()[t]), cells, start.data()[t], start.data()[t + 1], slices));
                yes[t] = found.independent, no[t] = found.dependent;
            }
        }
        return nb::make_tuple(to_numpy(std::move(yes)), to_numpy(std::move(no)));
    }

    nb::tuple rows(const Table& table, Ints xs, Ints start, Ints members, double floor, Ints also_start, Ints also, bool members_only, int n_threads) {
        const std::size_t n = xs.shape(0);
        const Lists blankets{start, members}, others{also_start, also};
        check(table), check_variables(xs, model_.n, "x"), blankets.check(n, model_.n, "blankets"), others.check(n, model_.n, "others");
        for (std::size_t q = 0; q < n; ++q)
            for (std::int64_t m : blankets[q])
                if (m == xs.data()[q]) throw std::invalid_argument("x is not in its own blanket");
        std::vector<Row> found(n);
        {
            nb::gil_scoped_release unlocked;
            with_rows(table, std::min<int>(n_threads, int(table.n_rows * table.n < LARGE ? n / 4 : n)), [&](auto& work) {
                spread(int(work.size()), std::int64_t(n), [&](int thread, std::int64_t q) {
                    BayesRows& mine = *work[std::size_t(thread)];
                    mine.ask(int(xs.data()[q]), blankets[std::size_t(q)]);
                    found[std::size_t(q)] = members_only ? mine.row_of_members() : mine.row(floor, others[std::size_t(q)]);
                });
            });
        }
        return joined(found);
    }

    void fill_unconditional(const Table& table, Table2<double> sigma, int n_threads) {
        check(table);
        if (sigma.shape(0) != std::size_t(model_.n) || sigma.shape(1) != std::size_t(model_.n)) throw std::invalid_argument("one row and one column for every variable");
        nb::gil_scoped_release unlocked;
        with_rows(table, n_threads, [&](auto& rows) { ibmap::fill_unconditional(PairTiles(model_, table), rows, sigma.data()); });
    }

  private:
    BayesModel model_;
    Spare<BayesRows> spare_;

    void check(const Table& table) const {
        if (table.levels != model_.levels || table.n_rows != model_.n_rows) throw std::invalid_argument("the table is another one");
    }

    void check_question(const Table& table, std::int64_t x, const Ints& given) const {
        check(table), check_variables(given, model_.n, "a given variable");
        if (x < 0 || x >= model_.n) throw std::invalid_argument("x is not a variable");
        for (std::int64_t z : span_of(given))
            if (z == x) throw std::invalid_argument("x is not given");
    }

    // Call work with workspaces for some threads; those of another table are left to the next who asks about that.
    template <class Work>
    void with_rows(const Table& table, int n_threads, Work work) {
        std::vector<std::unique_ptr<BayesRows>> rows;
        for (int t = 0; t < std::max(1, n_threads); ++t) {
            auto one = spare_.take([&] { return std::make_unique<BayesRows>(model_, table); });
            if (&one->table() != &table) one = std::make_unique<BayesRows>(model_, table);
            rows.push_back(std::move(one));
        }
        work(rows);
        for (auto& one : rows) spare_.give(std::move(one));
    }

    bool by_keys(int x, Members ys, Members given) const { return ys.size() == 1 && KeyedRows::serves(model_, x, int(ys[0]), given); }

    // Keys of rows, if some questions are for them and the others complete: to make them takes as long as to split rows by all variables.
    std::optional<RowKeys> keys_for(const Table& table, const Ints& x, const Lists& ys, const Lists& sets) const {
        std::size_t given = 0;
        for (std::size_t q = 0; q < x.shape(0); ++q)
            if (by_keys(int(x.data()[q]), ys[q], sets[q])) given += sets[q].size();
        if (given < 2 * std::size_t(model_.n) || std::count(table.complete.begin(), table.complete.end(), 0)) return {};
        return RowKeys(table);
    }
};

}  // namespace

void bind_bayes(nb::module_& module) {
    nb::class_<Bayes>(module, "Bayes")
        .def(nb::init<Ints, std::int64_t, Table2<const double>, Table2<const double>, Table2<const double>, bool, bool>(), nb::arg("levels"),
             nb::arg("n_rows"), nb::arg("log_prior"), nb::arg("cell"), nb::arg("margin"), nb::arg("every_slice"), nb::arg("one_factor"))
        .def("posteriors", &Bayes::posteriors, nb::arg("table"), nb::arg("x"), nb::arg("y_start"), nb::arg("y"), nb::arg("given_start"),
             nb::arg("given"), nb::arg("n_threads") = 1)
        .def("first_independent", &Bayes::first_independent, nb::arg("table"), nb::arg("x"), nb::arg("y"), nb::arg("subsets"), nb::arg("threshold"))
        .def("first_dependent", &Bayes::first_dependent, nb::arg("table"), nb::arg("x"), nb::arg("ys"), nb::arg("given"), nb::arg("margin"))
        .def("first_independent_member", &Bayes::first_independent_member, nb::arg("table"), nb::arg("x"), nb::arg("members"), nb::arg("margin"))
        .def("posteriors_of_cells", &Bayes::posteriors_of_cells, nb::arg("x"), nb::arg("y"), nb::arg("start"), nb::arg("cells"),
             nb::arg("log_slices").none())
        .def("rows", &Bayes::rows, nb::arg("table"), nb::arg("xs"), nb::arg("start"), nb::arg("members"), nb::arg("floor"), nb::arg("also_start"),
             nb::arg("also"), nb::arg("members_only") = false, nb::arg("n_threads") = 1)
        .def("fill_unconditional", &Bayes::fill_unconditional, nb::arg("table"), nb::arg("sigma"), nb::arg("n_threads") = 1);
}

}  // namespace ibmap
