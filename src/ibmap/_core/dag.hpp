// A directed acyclic graph in a search: which moves are allowed, what each gains, which structures were seen.
// Rows are children, columns parents: arcs[x, y] is y → x, evidence[x, y] what y gains as a parent of x beside its other parents.
#pragma once
#include "arrays.hpp"
#include "matrix.hpp"
#include "splitmix.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace ibmap {

inline constexpr double NEVER = -std::numeric_limits<double>::infinity();

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

inline std::vector<int> listed(std::span<const std::uint64_t> set) {
    std::vector<int> out;
    for (std::size_t w = 0; w < set.size(); ++w)
        for (std::uint64_t word = set[w]; word; word &= word - 1) out.push_back(int(64 * w) + std::countr_zero(word));
    return out;
}

// What is known of a family: what every variable gains as a parent beside the others, and s_x(P).
struct KnownRow {
    std::vector<double> t;
    double value = 0.0;
};

struct HashOfParents {
    std::size_t operator()(const std::vector<int>& parents) const {
        std::uint64_t hash = 1;
        for (int p : parents) hash = mix(hash + std::uint64_t(p) + 1);
        return std::size_t(hash);
    }
};

class Dag {
  public:
    enum Kind { ADD, DELETE, REVERSE, NONE };  // what a move does with an arc; NONE: there is no move

    const int n;
    const double tolerance;  // gains that differ by less may come from rounding

    // required, forbidden: pairs. An arc between the first may be reversed but not deleted; the second get neither an arc nor a common child.
    // So many numbers of rows are kept, for families that come back.
    Dag(Table2<const bool> required, Table2<const bool> forbidden, std::int64_t max_parents, double tolerance, std::int64_t most_kept)
        : n(int(required.shape(0))), tolerance(tolerance), max_parents_(max_parents), most_kept_(most_kept), parents_(n), arcs_(n), children_(n), ancestors_(n),
          descendants_(n), required_(n), forbidden_(n), blocked_(n), evidence_(n, n), value_(n), rows_(n), bound_(n), stale_(n, 1), rank_(n) {
        std::iota(rank_.begin(), rank_.end(), 0);
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
    bool is_forbidden(int x, int y) const { return forbidden_.has(x, y); }
    bool is_required(int x, int y) const { return required_.has(x, y); }
    bool is_blocked(int x, int y) const { return blocked_.has(x, y); }  // as a parent of x, beside those that it has
    double evidence(int x, int y) const { return evidence_[x][y]; }
    const double* evidence(int x) const { return evidence_[x]; }
    double value(int x) const { return value_[x]; }  // s_x of the parents of x, if who put the row has said it
    double gain(int kind, int x, int y) const {
        return kind == ADD ? evidence_[x][y] : kind == DELETE ? -evidence_[x][y] : evidence_[y][x] - evidence_[x][y];
    }

    // Moves that gain as much: the smallest (rank of y, rank of x) comes first.
    void rank(std::vector<int> ranks) { rank_ = std::move(ranks); }

    void forbid(int x, int y, bool is) { pair(forbidden_, x, y, is); }
    void require(int x, int y, bool is) { pair(required_, x, y, is); }

    // Take what every variable gains as a parent of x, and keep it for the family of x as it is.
    void put(int x, std::span<const std::int32_t> y, std::span<const double> t, bool keeps) {
        for (std::size_t i = 0; i < y.size(); ++i) evidence_[x][y[i]] = t[i];
        keep(x, keeps);
    }
    void put(int x, std::span<const double> t, double value) {
        std::copy(t.begin(), t.end(), evidence_[x]), value_[x] = value;
        keep(x, true);
    }
    // Whether the row of x for its family is kept; then it is put.
    bool look_up(int x) {
        const auto at = rows_[x].find(parents_[x]);
        if (at == rows_[x].end()) return false;
        std::copy(at->second.t.begin(), at->second.t.end(), evidence_[x]), value_[x] = at->second.value, stale_[x] = 1;
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
    // the smallest (rank of y, rank of x) comes first.
    std::tuple<int, int, int> best_move() {
        using Place = std::tuple<int, int, int>;  // ranks of y and x, kind
        const Place none{n, 0, NONE};
        Place best = none;
        std::tuple<int, int, int> found{NONE, 0, 0};
        double least = NEVER;
        for (const bool ties : {false, true}) {  // find the largest gain; then the first move that gains as much
            auto consider = [&](int kind, int x, int y, double gain) {
                const Place place{rank_[y], rank_[x], kind};
                if (gain > least && !(ties && place >= best) && is_allowed(kind, x, y) && !seen_.contains(after(kind, x, y)))
                    best = place, found = {kind, x, y}, least = ties ? least : gain;
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
        return found;
    }

  private:
    std::int64_t max_parents_, most_kept_, n_kept_ = 0;
    std::vector<std::vector<int>> parents_;  // sorted
    Sets arcs_, children_, ancestors_, descendants_, required_, forbidden_, blocked_;
    Matrix<double> evidence_;
    std::vector<double> value_;
    std::vector<std::unordered_map<std::vector<int>, KnownRow, HashOfParents>> rows_;  // of every child, by its parents
    std::vector<double> bound_;        // what the best new parent of each x gains, whether the structure was seen or not
    std::vector<std::uint8_t> stale_;  // whether that has to be found again
    std::vector<int> rank_;
    std::uint64_t mark_ = 1;           // of the structure: a scrambled number for every arc, exclusive or
    std::unordered_set<std::uint64_t> seen_;

    std::uint64_t number(int x, int y) const { return mix(std::uint64_t(x) * std::uint64_t(n) + std::uint64_t(y) + 1); }
    std::uint64_t after(int kind, int x, int y) const { return mark_ ^ number(x, y) ^ (kind == REVERSE ? number(y, x) : 0); }

    void keep(int x, bool keeps) {
        stale_[x] = 1;
        if (!keeps) return;
        if (n_kept_ * n > most_kept_) {
            for (auto& rows : rows_) rows.clear();
            n_kept_ = 0;
        }
        KnownRow& row = rows_[x][parents_[x]];
        row.t.assign(evidence_[x], evidence_[x] + n), row.value = value_[x], ++n_kept_;
    }
    void pair(Sets& pairs, int x, int y, bool is) {
        is ? pairs.add(x, y) : pairs.remove(x, y), is ? pairs.add(y, x) : pairs.remove(y, x);
        for (int v = 0; v < n; ++v)
            if (v == x || v == y || is_arc(v, x) || is_arc(v, y)) block(v);
    }

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
        arcs_.add(x, y), children_.add(y, x);
        parents_[x].insert(std::lower_bound(parents_[x].begin(), parents_[x].end(), y), y);
        const std::vector<int> above = self_and(ancestors_, y), below = self_and(descendants_, x);
        for (int v : below) ancestors_.add_all(v, ancestors_[y]), ancestors_.add(v, y);
        for (int a : above) descendants_.add_all(a, descendants_[x]), descendants_.add(a, x), stale_[a] = 1;
        block(x);
    }

    void remove_arc(int x, int y) {
        arcs_.remove(x, y), children_.remove(y, x);
        parents_[x].erase(std::lower_bound(parents_[x].begin(), parents_[x].end(), y));
        const std::vector<std::uint64_t> before(ancestors_[x].begin(), ancestors_[x].end());
        const std::vector<int> above = in_order(ancestors_, descendants_, y), below = in_order(descendants_, ancestors_, x);
        collect(ancestors_, x, parents_[x]);
        if (!std::ranges::equal(ancestors_[x], before)) {  // otherwise another way leads from each of them to x
            for (int v : below) collect(ancestors_, v, parents_[v]);
            for (int a : above) collect(descendants_, a, listed(children_[a])), stale_[a] = 1;
        }
        block(x);
    }

    // A set of v is made of its next ones, and of theirs.
    static void collect(Sets& sets, int v, const std::vector<int>& next) {
        std::fill(sets[v].begin(), sets[v].end(), 0);
        for (int u : next) sets.add_all(v, sets[u]), sets.add(v, u);
    }
    // Those of a set of v, and v: who has fewer on the other side comes first, so that it comes before those who are beyond it.
    static std::vector<int> in_order(const Sets& sets, const Sets& others, int v) {
        std::vector<std::pair<int, int>> order;
        for (int u : self_and(sets, v)) {
            int size = 0;
            for (std::uint64_t word : others[u]) size += std::popcount(word);
            order.emplace_back(size, u);
        }
        std::sort(order.begin(), order.end());
        std::vector<int> out;
        for (auto [size, u] : order) out.push_back(u);
        return out;
    }

    static std::vector<int> self_and(const Sets& sets, int v) {
        std::vector<int> out = listed(sets[v]);
        out.push_back(v);
        return out;
    }
};

}  // namespace ibmap
