// Searches for the best directed graph that share the rows that they have asked for: climbs from many starts, orders of families that
// were counted, walks among graphs of the same score, and what the best graph with or without an edge is worth.
#include "bind.hpp"
#include "dag.hpp"
#include "interrupt.hpp"
#include "lists.hpp"
#include "orders.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>

namespace ibmap {

namespace {

constexpr double SAME = 1e-6;  // scores of whole graphs that differ by less are equal

struct Move {
    int kind, x, y;
};

class DagSearch {
  public:
    using Arcs = std::vector<std::pair<int, int>>;  // child, parent

    DagSearch(Table2<const bool> required, Table2<const bool> forbidden, std::int64_t max_parents, double tolerance, std::int64_t most_kept,
              Table2<const double> t, Vector<const double> value, nb::callable ask, std::uint64_t seed)
        : n_(int(required.shape(0))), dag_(required, forbidden, max_parents, tolerance, most_kept), ask_(std::move(ask)), families_(n_), random_(seed, 0) {
        if (t.shape(0) != std::size_t(n_) || t.shape(1) != std::size_t(n_) || value.shape(0) != std::size_t(n_))
            throw std::invalid_argument("a row for every variable");
        for (int x = 0; x < n_; ++x) take(x, {t.data() + std::size_t(x) * std::size_t(n_), std::size_t(n_)}, value.data()[x]);
        arrive();
    }

    std::int64_t n_rows() const { return n_rows_; }
    double gain() const { return gain_; }

    double score() const {
        double total = 0.0;
        for (int x = 0; x < n_; ++x) total += dag_.value(x);
        return total;
    }
    Arcs arcs() const {
        Arcs out;
        for (int x = 0; x < n_; ++x)
            for (int y : dag_.parents(x)) out.emplace_back(x, y);
        return out;
    }
    const Dag& dag() const { return dag_; }

    // Go to a structure, and begin there.
    void load(const Arcs& arcs) {
        Parents target(n_);
        for (auto [x, y] : arcs) {
            if (std::min(x, y) < 0 || std::max(x, y) >= n_) throw std::invalid_argument("there is no such variable");
            target[x].push_back(y);
        }
        load(std::move(target));
    }

    // Add, delete or reverse the arc that gains most, up to so many moves beyond an optimum; end in the best structure since the beginning.
    void climb(int tabu) {
        dag_.begin();
        double optimum = gain_;
        for (int in_vain = 0; in_vain <= tabu; ++in_vain) {
            const auto [kind, x, y] = dag_.best_move();
            if (kind == Dag::NONE || (tabu == 0 && dag_.gain(kind, x, y) <= dag_.tolerance)) break;
            make({kind, x, y});
            dag_.remember();
            if (gain_ > optimum + dag_.tolerance) optimum = gain_, in_vain = -1;
            if (gain_ > best_gain_ + dag_.tolerance) arrive();
            else if (dag_.mark() == best_mark_) break;  // where an earlier climb has ended
            interrupt_.after(4096);
        }
        go_back();
    }

    // Reverse the arcs of each variable in turn, or delete them if that is not allowed, and climb from there.
    bool shake(const std::vector<int>& order, int tabu) {
        const double before = best_gain_;
        for (int v : order) {
            bool shaken = false;
            for (auto [x, y] : arcs()) {
                if (v != x && v != y) continue;
                const bool turns = dag_.can_reverse(x, y);
                if (!turns && dag_.is_required(x, y)) continue;
                make({turns ? Dag::REVERSE : Dag::DELETE, x, y}), shaken = true;
            }
            if (shaken) climb(tabu);
        }
        return best_gain_ > before;
    }

    void rank(std::vector<int> ranks) { dag_.rank(std::move(ranks)); }

    // Reverse covered arcs at random, whose ends have the same other parents: graphs of the same score with other neighbours.
    void walk(int steps) {
        for (int step = 0; step < steps; ++step) {
            Arcs covered;
            for (auto [x, y] : arcs()) {
                const auto &mine = dag_.parents(x), &its = dag_.parents(y);
                if (mine.size() != its.size() + 1 || !dag_.can_reverse(x, y)) continue;
                if (std::includes(mine.begin(), mine.end(), its.begin(), its.end())) covered.emplace_back(x, y);
            }
            if (covered.empty()) break;
            const auto [x, y] = covered[below(random_, covered.size())];
            dag_.move(Dag::REVERSE, x, y);
        }
        for (int x = 0; x < n_; ++x) look_again(x);
        arrive();
    }

    // The best graph that families counted so far can make, by orders that begin with those of some graphs and are then disturbed, until so many
    // in a row were in vain; its score is at least that of the first.
    std::pair<double, Arcs> by_orders(const std::vector<Arcs>& starts, int patience, int moved) {
        if (starts.empty()) throw std::invalid_argument("orders begin with a graph");
        Parents best;
        std::vector<Parents> graphs;
        double score = 0.0;
        for (const Arcs& arcs : starts) {
            load(arcs), graphs.push_back(here());
            for (int x = 0; x < n_; ++x) families_.note(x, dag_.parents(x), dag_.value(x));
            if (best.empty() || this->score() > score + SAME) best = here(), score = this->score();
        }
        search_orders(graphs, patience, moved, best, score);
        load(best);
        return {this->score(), this->arcs()};
    }

    // What the score loses if two variables get no edge: at once, and after a climb; with the arcs that are there then, all of them if that is better,
    // otherwise those of the children that have other parents now. Common children lose x.
    std::tuple<double, double, Arcs> without(int x, int y) {
        check(x, y);
        return tried([&] { dag_.forbid(x, y, true); }, [&] { dag_.forbid(x, y, false); }, [&] {
            for (auto [child, parent] : {std::pair{x, y}, std::pair{y, x}})
                if (dag_.is_arc(child, parent)) make({Dag::DELETE, child, parent});
            for (int child = 0; child < n_; ++child)
                if (dag_.is_arc(child, x) && dag_.is_arc(child, y)) make({Dag::DELETE, child, x});
        });
    }
    // What it gains with the arc y → x; an infinite loss if that is not allowed.
    std::tuple<double, double, Arcs> with_arc(int x, int y) {
        check(x, y);
        if (dag_.is_arc(x, y) || dag_.is_blocked(x, y) || dag_.is_ancestor(y, x) || dag_.is_arc(y, x)) return {NEVER, NEVER, {}};
        return tried([&] { dag_.require(x, y, true); }, [&] { dag_.require(x, y, false); }, [&] { make({Dag::ADD, x, y}); });
    }

  private:
    int n_;
    Dag dag_;
    nb::callable ask_;
    FamilyLists families_;
    Stream random_;
    Interrupt interrupt_;
    std::int64_t n_rows_ = 0;
    double gain_ = 0.0, best_gain_ = 0.0;  // since the beginning, and at the best structure since
    std::uint64_t best_mark_ = 0;
    std::vector<Move> trail_;  // since the best structure

    void check(int x, int y) const {
        if (std::min(x, y) < 0 || std::max(x, y) >= n_ || x == y) throw std::invalid_argument("these are not two variables");
    }

    // The structure is the best one.
    void arrive() { best_gain_ = gain_, best_mark_ = dag_.mark(), trail_.clear(); }

    Parents here() const {
        Parents out;
        for (int x = 0; x < n_; ++x) out.push_back(dag_.parents(x));
        return out;
    }

    Arcs arcs_of_changed() const {
        std::vector<int> changed;
        for (auto [kind, x, y] : trail_) {
            changed.push_back(x);
            if (kind == Dag::REVERSE) changed.push_back(y);
        }
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        Arcs out;
        for (int x : changed)
            for (int y : dag_.parents(x)) out.emplace_back(x, y);
        return out;
    }

    void load(Parents target) {
        std::vector<std::uint8_t> changed(n_, 0);
        for (auto& parents : target) std::sort(parents.begin(), parents.end());
        for (auto [x, y] : arcs())
            if (!std::binary_search(target[x].begin(), target[x].end(), y)) dag_.move(Dag::DELETE, x, y), changed[x] = 1;
        for (int x = 0; x < n_; ++x) {
            for (int y : target[x])
                if (!dag_.is_arc(x, y)) dag_.move(Dag::ADD, x, y), changed[x] = 1;
            if (changed[x]) look_again(x);
        }
        gain_ = 0.0;
        arrive();
    }

    void make(Move move) {
        gain_ += dag_.gain(move.kind, move.x, move.y);
        change(move);
        trail_.push_back(move);
    }
    void change(Move move) {
        dag_.move(move.kind, move.x, move.y);
        look_again(move.x);
        if (move.kind == Dag::REVERSE) look_again(move.y);
    }
    void go_back() {
        for (; !trail_.empty(); trail_.pop_back()) {
            const auto [kind, x, y] = trail_.back();
            if (kind == Dag::REVERSE) change({kind, y, x});
            else change({kind == Dag::ADD ? Dag::DELETE : Dag::ADD, x, y});
        }
        gain_ = best_gain_;
    }

    void search_orders(const std::vector<Parents>& starts, int patience, int moved, Parents& best, double& score) {
        nb::gil_scoped_release unlocked;
        families_.sort();
        OrderSearch orders(families_, random_);
        auto search = [&](std::vector<int> order) {
            orders.begin(std::move(order)), orders.climb();
            const double found = orders.score(), before = score;
            if (found > score - SAME) best = orders.parents(), score = std::max(found, score);  // as good: the next begins elsewhere
            interrupt_.after(4096);
            return found > before + SAME;
        };
        for (const Parents& graph : starts) search(orders.order_of(graph));
        for (int in_vain = 0; in_vain < patience;) {
            std::vector<int> order = orders.order_of(best);
            orders.disturb(order, moved);
            in_vain = search(std::move(order)) ? 0 : in_vain + 1;
        }
    }

    void look_again(int x) {
        if (dag_.look_up(x)) return;
        const auto& mine = dag_.parents(x);
        const nb::object answer = ask_(x, to_numpy(std::vector<std::int64_t>(mine.begin(), mine.end())));
        const auto t = nb::cast<Vector<const double>>(answer[0]);
        if (t.shape(0) != std::size_t(n_)) throw std::invalid_argument("a number for every variable");
        take(x, span_of(t), nb::cast<double>(answer[1]));
        ++n_rows_;
    }

    // Take a row, and note the family and those with one parent more; one that a part of it surpasses is never needed.
    void take(int x, std::span<const double> t, double value) {
        dag_.put(x, t, value);
        const auto& mine = dag_.parents(x);
        if (std::all_of(mine.begin(), mine.end(), [&](int p) { return t[p] >= 0.0; })) families_.note(x, mine, value);
        for (int y = 0; y < n_; ++y) {
            if (y == x || !(t[y] > dag_.tolerance) || dag_.is_arc(x, y) || dag_.is_blocked(x, y)) continue;
            std::vector<int> more(mine);
            more.insert(std::lower_bound(more.begin(), more.end(), y), y);
            families_.note(x, more, value + t[y]);
        }
    }

    // Bind, change something, climb without a way back, tell what came of it; then all is as before.
    template <class Bind, class Release, class Change>
    std::tuple<double, double, Arcs> tried(Bind bind, Release release, Change change_it) {
        const double before = gain_;
        std::vector<Move> done;
        bind();
        change_it();
        const double changed = gain_ - before;
        dag_.begin();
        while (true) {
            const auto [kind, x, y] = dag_.best_move();
            if (kind == Dag::NONE || dag_.gain(kind, x, y) <= dag_.tolerance) break;
            make({kind, x, y});
            dag_.remember();
            interrupt_.after(4096);
        }
        const double climbed = gain_ - before;
        const Arcs found = climbed > SAME ? arcs() : arcs_of_changed();
        go_back();
        release();
        return {changed, climbed, found};
    }
};

}  // namespace

void bind_dag_search(nb::module_& module) {
    nb::class_<DagSearch>(module, "DagSearch")
        .def(nb::init<Table2<const bool>, Table2<const bool>, std::int64_t, double, std::int64_t, Table2<const double>, Vector<const double>, nb::callable,
                      std::uint64_t>(),
             nb::arg("required"), nb::arg("forbidden"), nb::arg("max_parents"), nb::arg("tolerance"), nb::arg("most_kept"), nb::arg("t"), nb::arg("value"),
             nb::arg("ask"), nb::arg("seed"))
        .def_prop_ro("n_rows", &DagSearch::n_rows)
        .def_prop_ro("gain", &DagSearch::gain)
        .def_prop_ro("score", &DagSearch::score)
        .def("arcs", &DagSearch::arcs)
        .def("load", nb::overload_cast<const DagSearch::Arcs&>(&DagSearch::load), nb::arg("arcs"))
        .def("rank", [](DagSearch& search, std::vector<int> ranks) {
            std::vector<int> sorted(ranks);
            std::sort(sorted.begin(), sorted.end());
            for (std::size_t i = 0; i < sorted.size(); ++i)
                if (sorted[i] != int(i)) throw std::invalid_argument("ranks are not a permutation");
            if (sorted.size() != std::size_t(search.dag().n)) throw std::invalid_argument("a rank for every variable");
            search.rank(std::move(ranks));
        }, nb::arg("ranks"))
        .def("climb", &DagSearch::climb, nb::arg("tabu"))
        .def("shake", [](DagSearch& search, const std::vector<int>& order, int tabu) {
            for (int v : order)
                if (v < 0 || v >= search.dag().n) throw std::invalid_argument("there is no such variable");
            return search.shake(order, tabu);
        }, nb::arg("order"), nb::arg("tabu"))
        .def("walk", &DagSearch::walk, nb::arg("steps"))
        .def("by_orders", &DagSearch::by_orders, nb::arg("starts"), nb::arg("patience"), nb::arg("moved"))
        .def("without", &DagSearch::without, nb::arg("x"), nb::arg("y"))
        .def("with_arc", &DagSearch::with_arc, nb::arg("x"), nb::arg("y"))
        .def("evidence", [](const DagSearch& search) {
            const auto n = std::size_t(search.dag().n);
            std::vector<double> out;
            for (std::size_t x = 0; x < n; ++x) out.insert(out.end(), search.dag().evidence(int(x)), search.dag().evidence(int(x)) + n);
            return to_numpy(std::move(out), {n, n});
        })
        .def("ancestors", [](const DagSearch& search) {
            const auto n = std::size_t(search.dag().n);
            std::vector<std::uint8_t> out;
            for (std::size_t x = 0; x < n; ++x)
                for (std::size_t y = 0; y < n; ++y) out.push_back(search.dag().is_ancestor(int(x), int(y)));
            return to_numpy(std::move(out), {n, n});
        });
}

}  // namespace ibmap
