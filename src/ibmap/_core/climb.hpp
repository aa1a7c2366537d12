// Where the paper's climb stands: a graph, σ_xy, the log posterior of what it asserts about x and y, seen from x, and the least
// credible pair of every variable. How credible a pair is: σ_xy + σ_yx.
//
// While there are few variables, σ is a matrix. With very many, a pair is listed at both of its ends if t is above a floor at
// one of them; one that is not listed is too credible to matter. An end of a listed pair whose σ nobody has asked for counts as
// low as the floor allows, until it could decide.
#pragma once
#include "arrays.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

namespace ibmap {

class Climb {
  public:
    static constexpr double TIE = 1e-9;  // rounding must not decide: what is closer than this is equal

    using Pair = std::pair<std::int32_t, std::int32_t>;
    using List = std::vector<std::int32_t>;
    struct Rows {  // as a criterion returns them
        std::span<const std::int64_t> start;
        std::span<const std::int32_t> y;
        std::span<const double> t, value;
    };

    const int n;
    const bool is_whole;  // σ is a matrix
    const double floor;   // t above which pairs are listed

    Climb(int n, bool is_whole, double floor);

    // The graph
    bool is_edge(int x, int y) const { return contains(adjacent_[x], y); }
    const List& neighbours(int x) const { return adjacent_[x]; }
    void toggle(int x, int y);  // σ stays as it was
    std::vector<Pair> edges() const;
    void lock(int x, int y);    // the pair is not proposed any more
    void close(int x, int y);   // nor is this one, until all are opened again
    void open_all();

    // Rows
    void begin(std::span<const double> values);  // the matrix was filled by somebody else
    void put(std::span<const std::int64_t> xs, const Rows& rows);
    const List& listed(int x) const { return rows_[x].y; }  // who must be in a row of x, whatever its t
    double find(int x, int y) const;                        // σ_xy, NaN if it is not known
    double value(int x) const { return value_[x]; }
    double total() const;
    double* matrix() { return matrix_.get(); }

    // Proposals
    std::vector<std::int64_t> unknown();   // whose rows must be made again, before the least credible pair is known
    bool lists_enough();                   // whether no pair that is not listed can be as little credible
    std::optional<Pair> least_credible();  // the smallest (x, y) of the least credible pairs that may be flipped
    std::vector<Pair> near_misses(std::size_t most) const;  // pairs without an edge, least credible first

  private:
    static constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN(), NEVER = std::numeric_limits<double>::infinity();
    struct Row {
        List y;
        std::vector<double> sigma;
    };

    double bound_;                  // σ of who is not listed is not below it
    std::unique_ptr<double[]> matrix_;  // (n, n): σ, 0 for x = y
    std::vector<Row> rows_;         // or σ of those who are listed, in their order
    std::vector<double> value_;     // s_x(B)
    std::vector<double> lowest_;    // the least credibility of a pair of x that may be flipped
    std::vector<List> adjacent_, locked_, tried_;
    std::vector<std::uint8_t> is_dirty_, is_closed_;  // whether lowest_ is to be found; whether a pair of the x at hand may not be flipped
    std::vector<std::int32_t> dirty_;
    std::vector<double> buffer_;

    static bool contains(const List& sorted, int y);
    static void insert(List& sorted, int y);
    static void erase(List& sorted, int y);
    void mark(int x) {
        if (!is_dirty_[x]) is_dirty_[x] = 1, dirty_.push_back(x);
    }
    void flag_closed(int x, bool closed);
    void mend(int i, int x, double before, double after);
    void put_whole(int x, std::span<const double> t);
    void put_listed(int x, std::span<const std::int32_t> ys, std::span<const double> t);
    std::size_t place(int x, int y) const;  // of y in the row of x; the size of the row if it is not there
    double at_least(double sigma) const { return std::isnan(sigma) ? bound_ : sigma; }
    std::span<const double> credibilities(int x);  // of x with everybody, or with those who are listed; infinite where it may not be flipped
    int other(int x, std::size_t i) const { return is_whole ? int(i) : rows_[x].y[i]; }
    void all_lowest();
    double limit();  // up to which pairs are as little credible as the least
};

}  // namespace ibmap
