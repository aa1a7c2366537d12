// The state of a search: a graph, the row of every x given its blanket, and with whom flipping gains most.
//
// Flipping (x, y) gains ±(t_xy + t_yx) / 2: minus for an edge that is there. Only a pair whose t is above zero at one end
// can be an edge that gains, so of every row those above a floor are enough: an end that is not listed is not above it,
// and is asked for where the pair could gain all the same. While there are few variables rows are kept whole; what is
// decided does not depend on it. Rows are kept as they were with the prior of edges that the search began with: when it
// changes, `shift` does, and no row.
#pragma once
#include "arrays.hpp"

#include <cmath>
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace ibmap {

class State {
  public:
    static constexpr double TIE = 1e-9;      // rounding must not decide: what is closer than this is equal
    static constexpr double LISTED = -6.0;   // t above which a posterior is one: 1 in 400; below it e^t stands for it

    struct Row {
        std::vector<std::int32_t> y;
        std::vector<double> t;                          // less the shift of the prior
        double rest = 0.0, value = 0.0, floor = 0.0;    // Σ e^t of all others; s_x(B); below it e^t stands for a posterior
    };
    struct Rows {  // as a criterion returns them
        std::span<const std::int64_t> start;
        std::span<const std::int32_t> y;
        std::span<const double> t, rest, value;
    };
    struct End {  // what x would say, if its neighbour y were gone
        double others = 0.0;   // log(1 + Σ_z e^t_z) over the variables outside its blanket, without the rival
        std::int64_t rival = -1;
        double evidence = -std::numeric_limits<double>::infinity();  // t of the rival, the strongest of them
        double promised = -std::numeric_limits<double>::infinity();  // by how much the score should rise if z came in the place of y
        std::int64_t z = -1;
    };
    using Pair = std::pair<std::int32_t, std::int32_t>;

    const int n;
    const double floor;  // t above which pairs are listed, with the prior that a row was made with
    double shift = 0.0;  // of the prior log odds of all edges, since rows were made

    State(int n, double floor) : n(n), floor(floor), rows_(n), adjacent_(n), positive_(n), positive_from_(n), partner_(n, n), best_(n, NEVER), is_dirty_(n), kept_(n) {}

    // The graph
    bool is_edge(int x, int y) const { return contains(adjacent_[x], y); }
    const std::vector<std::int32_t>& neighbours(int x) const { return adjacent_[x]; }
    void toggle(int x, int y);  // rows stay as they were
    std::vector<Pair> edges() const;
    void close(int x, int y) { closed_.insert(key(x, y)); }  // the pair is not flipped any more
    void open_all() { closed_.clear(); }
    void lock(int x, int y) { locked_.insert(key(x, y)); }
    bool may_flip(int x, int y) const { return !closed_.contains(key(x, y)) && !locked_.contains(key(x, y)); }

    // Rows
    void put(std::span<const std::int64_t> xs, const Rows& rows);
    std::vector<std::int32_t> wanted(int x) const;  // ys that a row of x should list: who would be adjacent to x, and its neighbours
    std::optional<double> find(int x, int y) const;
    double value(int x) const { return rows_[x].value; }
    double total() const;
    bool is_whole() const { return std::isinf(floor); }
    void keep_rows(std::span<const std::int64_t> xs, std::span<const std::int64_t> ys);  // as those of x before y comes

    // Gains
    double gain(int x, int y) const;               // if an end is not listed, at most that
    std::vector<Pair> choose();                    // with whom flipping gains most, where that may have changed; ends that must be known first
    std::vector<Pair> mutual_choices() const;      // pairs that gain, and are the best choice of both ends
    std::optional<Pair> best_choice() const;       // the pair that gains most
    std::vector<Pair> near_misses(std::size_t most) const;  // pairs without an edge that look most like one

    // The prior of edges
    double mean_degree() const;      // posterior number of neighbours, as each variable sees it
    void shift_prior(double more);
    void shift_prior(std::span<const double> more);  // of every pair
    void rebase();                   // let rows be those of the prior as it is now

    // Rivals
    std::vector<double> log_sums() const;  // log(1 + Σ_z e^t_z) over the variables outside the blanket of every x
    bool has_kept(int x, int y) const { return kept_[x] && kept_[x]->first == y && knows_all(x, kept_[x]->second); }
    End compare_kept(int x, int y, std::vector<Pair>& unknown) const;
    End compare(int x, int y, const Rows& rows, std::size_t q, std::vector<Pair>& unknown) const;

    // Trials: what was done since one began can be taken back
    void begin_trial();
    void end_trial(bool take_back);

  private:
    static constexpr double NEVER = -std::numeric_limits<double>::infinity();
    struct Trial {
        std::unordered_map<int, Row> rows;
        std::vector<Pair> toggled;
        std::vector<std::int32_t> partner;
        std::vector<double> best;
        std::unordered_set<std::uint64_t> closed;
    };

    std::vector<Row> rows_;
    std::vector<std::vector<std::int32_t>> adjacent_, positive_, positive_from_;  // positive: y with t_xy > 0; and back
    std::unordered_set<std::uint64_t> closed_, locked_;
    std::vector<std::int32_t> partner_;
    std::vector<double> best_;
    std::vector<std::uint8_t> is_dirty_;
    std::vector<std::int32_t> dirty_;
    std::vector<std::optional<std::pair<std::int32_t, Row>>> kept_;  // of x: the row before its newest neighbour came
    std::optional<Trial> trial_;

    static std::uint64_t key(int x, int y) { return std::uint64_t(std::min(x, y)) << 32 | std::uint32_t(std::max(x, y)); }
    static bool contains(const std::vector<std::int32_t>& sorted, int y) { return std::binary_search(sorted.begin(), sorted.end(), y); }
    static void insert(std::vector<std::int32_t>& sorted, int y);
    static void erase(std::vector<std::int32_t>& sorted, int y);
    void mark(int x) {
        if (!is_dirty_[x]) is_dirty_[x] = 1, dirty_.push_back(x);
    }
    void mark_around(int x);
    void replace(int x, Row row);
    void find_positive(int x);
    std::optional<double> find_in(const Row& row, int x, int y) const;
    bool knows_all(int x, const Row& row) const;
    End compare_row(int x, int y, const Row& row, double added, std::vector<Pair>& unknown) const;
};

}  // namespace ibmap
