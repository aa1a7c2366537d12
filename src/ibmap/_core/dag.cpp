// A directed acyclic graph in a search: which moves are allowed, what each gains, which structures were seen.
// Rows are children, columns parents: arcs[x, y] is y → x, evidence[x, y] what y gains as a parent of x beside its other parents.
#include "bind.hpp"
#include "lists.hpp"
#include "matrix.hpp"
#include "splitmix.hpp"

#include <nanobind/stl/tuple.h>

#include <bit>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_set>

namespace ibmap {

namespace {

constexpr double NEVER = -std::numeric_limits<double>::infinity();

// A set of variables for every variable.
class Sets {
  public:
    explicit Sets(int n) : words_(std::size_t(n + 63) / 64), bits_(words_ * std::size_t(n)) {}

    bool has(int set, int v) const { return bits_[set * words_ + v / 64] >> (v % 64) & 1; }
    void add(int set, int v) { bits_[set * words_ + v / 64] |= 1ull << v % 64; }
    void remove(int set, int v) { bits_[set * words_ + v / 64] &= ~(1ull << v % 64); }
    std::span<std::uint64_t> operator[](int set) { return {bits_.data() + set * words_, words_}; }
    std::span<const std::uint64_t> operator[](int set) const { return {bits_.data() + set * words_, words_}; }
    void add_all(int set, std::span<const std::uint64_t> more) {
        for (std::size_t w = 0; w < words_; ++w) bits_[set * words_ + w] |= more[w];
    }

  private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

std::vector<int> listed(std::span<const std::uint64_t> set) {
    std::vector<int> out;
    for (std::size_t w = 0; w < set.size(); ++w)
        for (std::uint64_t word = set[w]; word; word &= word - 1) out.push_back(int(64 * w) + std::countr_zero(word));
    return out;
}

class Dag {
  public:
    enum Kind { ADD, DELETE, REVERSE, NONE };  // what a move does with an arc; NONE: there is no move

    const int n;
    const double tolerance;  // gains that differ by less may come from rounding

    // required, forbidden: pairs. An arc between the first may be reversed but not deleted; the second get neither an arc nor a common child.
    // So many numbers of rows are kept, for families that come back.
    Dag(Table2<const bool> required, Table2<const bool> forbidden, std::int64_t max_parents, double tolerance, std::int64_t most_kept)
        : n(int(required.shape(0))), tolerance(tolerance), max_parents_(max_parents), most_kept_(most_kept), parents_(n), arcs_(n), ancestors_(n),
          descendants_(n), required_(n), forbidden_(n), blocked_(n), evidence_(n, n), rows_(n), bound_(n), stale_(n, 1) {
        for (const auto* pairs : {&required, &forbidden})
            if (pairs->shape(0) != std::size_t(n) || pairs->shape(1) != std::size_t(n)) throw std::invalid_argument("one row and one column for every variable");
        for (int x = 0; x < n; ++x)
            for (int y = 0; y < n; ++y) {
                if (required.data()[x * n + y]) required_.add(x, y);
                if (forbidden.data()[x * n + y]) forbidden_.add(x, y);
            }
        for (int x = 0; x < n; ++x) block(x);
        begin();
    }

    std::uint64_t mark() const { return mark_; }
    const std::vector<int>& parents(int x) const { return parents_[x]; }
    bool is_arc(int x, int y) const { return arcs_.has(x, y); }
    bool is_ancestor(int x, int y) const { return ancestors_.has(x, y); }
    double evidence(int x, int y) const { return evidence_[x][y]; }

    // Take what every variable gains as a parent of x, and keep it for the family of x as it is.
    void put(int x, std::span<const std::int32_t> y, std::span<const double> t, bool keeps) {
        for (std::size_t i = 0; i < y.size(); ++i) evidence_[x][y[i]] = t[i];
        stale_[x] = 1;
        if (!keeps) return;
        if (n_kept_ * n > most_kept_) {
            for (auto& rows : rows_) rows.clear();
            n_kept_ = 0;
        }
        rows_[x][parents_[x]].assign(evidence_[x], evidence_[x] + n), ++n_kept_;
    }
    // Whether the row of x for its family is kept; then it is put.
    bool look_up(int x) {
        const auto at = rows_[x].find(parents_[x]);
        if (at == rows_[x].end()) return false;
        std::copy(at->second.begin(), at->second.end(), evidence_[x]), stale_[x] = 1;
        return true;
    }

    // Forget the structures that were seen, but for this one.
    void begin() {
        seen_.clear();
        seen_.insert(mark_);
    }
    void remember() { seen_.insert(mark_); }

    void move(int kind, int x, int y) {
        if (kind < ADD || kind > REVERSE || x == y || is_arc(x, y) != (kind != ADD) || (kind == ADD && (is_arc(y, x) || ancestors_.has(y, x))) ||
            (kind == REVERSE && another_way(x, y)))
            throw std::invalid_argument("there is no such move");
        mark_ = after(kind, x, y);
        if (kind != ADD) remove_arc(x, y);
        if (kind != DELETE) kind == ADD ? add_arc(x, y) : add_arc(y, x);
    }

    bool can_reverse(int x, int y) const { return is_allowed(REVERSE, x, y); }

    // The move of y → x that gains most and leads to no structure that was seen. Moves that gain as much, but for the tolerance or 1e-9 of it, tie:
    // the smallest (y, x) comes first.
    std::tuple<int, int, int> best_move() {
        using Place = std::tuple<int, int, int>;  // y, x, kind
        const Place none{n, 0, NONE};
        Place best = none;
        double least = NEVER;
        for (const bool ties : {false, true}) {  // find the largest gain; then the first move that gains as much
            auto consider = [&](int kind, int x, int y, double gain) {
                const Place place{y, x, kind};
                if (gain > least && !(ties && place >= best) && is_allowed(kind, x, y) && !seen_.contains(after(kind, x, y)))
                    best = place, least = ties ? least : gain;
            };
            for (int x = 0; x < n; ++x)
                for (int y : parents_[x]) {
                    consider(DELETE, x, y, -evidence_[x][y]);
                    consider(REVERSE, x, y, evidence_[y][x] - evidence_[x][y]);
                }
            for (int x = 0; x < n; ++x) {
                if (!(bound(x) > least)) continue;
                for_candidates(x, [&](int y) { consider(ADD, x, y, evidence_[x][y]); });
            }
            if (best == none) break;
            least -= std::max(tolerance, 1e-9 * std::abs(least));
        }
        return {std::get<2>(best), std::get<1>(best), std::get<0>(best)};
    }

  private:
    std::int64_t max_parents_, most_kept_, n_kept_ = 0;
    std::vector<std::vector<int>> parents_;  // sorted
    Sets arcs_, ancestors_, descendants_, required_, forbidden_, blocked_;
    Matrix<double> evidence_;
    std::vector<std::map<std::vector<int>, std::vector<double>>> rows_;  // of every child, by its parents
    std::vector<double> bound_;        // what the best new parent of each x gains, whether the structure was seen or not
    std::vector<std::uint8_t> stale_;  // whether that has to be found again
    std::uint64_t mark_ = 1;           // of the structure: a scrambled number for every arc, exclusive or
    std::unordered_set<std::uint64_t> seen_;

    std::uint64_t number(int x, int y) const { return mix(std::uint64_t(x) * std::uint64_t(n) + std::uint64_t(y) + 1); }
    std::uint64_t after(int kind, int x, int y) const { return mark_ ^ number(x, y) ^ (kind == REVERSE ? number(y, x) : 0); }

    // Whether a path from y to x passes through another parent of x: then y ← x would close a cycle.
    bool another_way(int x, int y) const {
        for (int p : parents_[x])
            if (ancestors_.has(p, y)) return true;
        return false;
    }
    bool is_allowed(int kind, int x, int y) const {
        if (kind == ADD) return !blocked_.has(x, y) && !ancestors_.has(y, x);
        if (kind == DELETE) return !required_.has(x, y);
        return !blocked_.has(y, x) && !another_way(x, y);
    }

    // Call work(y) for all y that may become parents of x; one about whom the data say nothing never does: beyond an optimum a search would collect
    // such arcs, of constants to everything.
    template <class Work>
    void for_candidates(int x, Work work) const {
        const auto blocked = blocked_[x], below = descendants_[x], above = arcs_[x];
        const double* t = evidence_[x];
        for (std::size_t w = 0; w < blocked.size(); ++w)
            for (std::uint64_t free = ~(blocked[w] | below[w] | above[w]); free; free &= free - 1) {
                const int y = int(64 * w) + std::countr_zero(free);
                if (y >= n) break;
                if (std::abs(t[y]) > tolerance && y != x) work(y);
            }
    }
    double bound(int x) {
        if (stale_[x]) {
            double best = NEVER;
            for_candidates(x, [&](int y) { best = std::max(best, evidence_[x][y]); });
            bound_[x] = best, stale_[x] = 0;
        }
        return bound_[x];
    }

    // Who may not become a parent of x: a forbidden pair, or one with a parent of x; everybody, if it has enough.
    void block(int x) {
        const auto blocked = blocked_[x], forbidden = forbidden_[x];
        std::copy(forbidden.begin(), forbidden.end(), blocked.begin());
        for (int p : parents_[x]) blocked_.add_all(x, forbidden_[p]);
        if (std::int64_t(parents_[x].size()) >= max_parents_) std::fill(blocked.begin(), blocked.end(), ~0ull);
        stale_[x] = 1;
    }

    void add_arc(int x, int y) {
        arcs_.add(x, y);
        parents_[x].insert(std::lower_bound(parents_[x].begin(), parents_[x].end(), y), y);
        const std::vector<int> above = self_and(ancestors_, y), below = self_and(descendants_, x);
        for (int v : below) ancestors_.add_all(v, ancestors_[y]), ancestors_.add(v, y);
        for (int a : above) descendants_.add_all(a, descendants_[x]), descendants_.add(a, x), stale_[a] = 1;
        block(x);
    }

    void remove_arc(int x, int y) {
        arcs_.remove(x, y);
        parents_[x].erase(std::lower_bound(parents_[x].begin(), parents_[x].end(), y));
        const std::vector<int> above = self_and(ancestors_, y), below = self_and(descendants_, x);
        auto n_ancestors = [&](int v) {
            int found = 0;
            for (std::uint64_t word : ancestors_[v]) found += std::popcount(word);
            return found;
        };
        std::vector<std::pair<int, int>> order;  // who has fewer ancestors comes before its descendants
        for (int v : below) order.emplace_back(n_ancestors(v), v);
        std::sort(order.begin(), order.end());
        for (auto [size, v] : order) {
            std::fill(ancestors_[v].begin(), ancestors_[v].end(), 0);
            for (int p : parents_[v]) ancestors_.add_all(v, ancestors_[p]), ancestors_.add(v, p);
        }
        for (int a : above) {
            for (int v : below)
                if (!ancestors_.has(v, a)) descendants_.remove(a, v);
            stale_[a] = 1;
        }
        block(x);
    }

    static std::vector<int> self_and(const Sets& sets, int v) {
        std::vector<int> out = listed(sets[v]);
        out.push_back(v);
        return out;
    }
};

void check(const Dag& dag, std::int64_t x, std::int64_t y) {
    if (std::min(x, y) < 0 || std::max(x, y) >= dag.n) throw std::invalid_argument("there is no such variable");
}

}  // namespace

void bind_dag(nb::module_& module) {
    nb::class_<Dag>(module, "Dag")
        .def(nb::init<Table2<const bool>, Table2<const bool>, std::int64_t, double, std::int64_t>(), nb::arg("required"), nb::arg("forbidden"),
             nb::arg("max_parents"), nb::arg("tolerance"), nb::arg("most_kept"))
        .def_prop_ro("mark", &Dag::mark)
        .def("arcs", [](const Dag& dag) {
            std::vector<std::int64_t> out;
            for (int x = 0; x < dag.n; ++x)
                for (int y : dag.parents(x)) out.push_back(x), out.push_back(y);
            const std::size_t size = out.size() / 2;
            return to_numpy(std::move(out), {size, 2});
        })
        .def("ancestors", [](const Dag& dag) {
            std::vector<std::uint8_t> out;
            for (int x = 0; x < dag.n; ++x)
                for (int y = 0; y < dag.n; ++y) out.push_back(dag.is_ancestor(x, y));
            return to_numpy(std::move(out), {std::size_t(dag.n), std::size_t(dag.n)});
        })
        .def("evidence", [](const Dag& dag) {
            std::vector<double> out;
            for (int x = 0; x < dag.n; ++x)
                for (int y = 0; y < dag.n; ++y) out.push_back(dag.evidence(x, y));
            return to_numpy(std::move(out), {std::size_t(dag.n), std::size_t(dag.n)});
        })
        .def("parents", [](const Dag& dag, std::int64_t x) {
            check(dag, x, x);
            const auto& mine = dag.parents(int(x));
            return to_numpy(std::vector<std::int64_t>(mine.begin(), mine.end()));
        }, nb::arg("x"))
        .def("gain", [](const Dag& dag, std::int64_t x, std::int64_t y) {
            check(dag, x, y);
            return dag.evidence(int(x), int(y));
        }, nb::arg("x"), nb::arg("y"))
        .def("put", [](Dag& dag, Ints xs, Ints start, Vector<const std::int32_t> y, Vector<const double> t, bool keeps) {
            const std::size_t rows = xs.shape(0), size = y.shape(0);
            check_variables(xs, dag.n, "x");
            bool holds = start.shape(0) == rows + 1 && start.data()[0] == 0 && start.data()[rows] == std::int64_t(size) && t.shape(0) == size;
            for (std::size_t q = 0; holds && q < rows; ++q) holds = start.data()[q] <= start.data()[q + 1];
            for (std::size_t i = 0; holds && i < size; ++i) holds = 0 <= y.data()[i] && y.data()[i] < dag.n;
            if (!holds) throw std::invalid_argument("these are not rows");
            for (std::size_t q = 0; q < rows; ++q) {
                const auto begin = std::size_t(start.data()[q]), n_listed = std::size_t(start.data()[q + 1]) - begin;
                dag.put(int(xs.data()[q]), span_of(y).subspan(begin, n_listed), span_of(t).subspan(begin, n_listed), keeps);
            }
        }, nb::arg("xs"), nb::arg("start"), nb::arg("y"), nb::arg("t"), nb::arg("keeps") = true)
        .def("look_up", [](Dag& dag, std::int64_t x) {
            check(dag, x, x);
            return dag.look_up(int(x));
        }, nb::arg("x"))
        .def("begin", &Dag::begin)
        .def("remember", &Dag::remember)
        .def("move", [](Dag& dag, int kind, std::int64_t x, std::int64_t y) {
            check(dag, x, y);
            dag.move(kind, int(x), int(y));
        }, nb::arg("kind"), nb::arg("x"), nb::arg("y"))
        .def("can_reverse", [](const Dag& dag, std::int64_t x, std::int64_t y) {
            check(dag, x, y);
            return dag.is_arc(int(x), int(y)) && dag.can_reverse(int(x), int(y));
        }, nb::arg("x"), nb::arg("y"))
        .def("best_move", &Dag::best_move);
}

}  // namespace ibmap
