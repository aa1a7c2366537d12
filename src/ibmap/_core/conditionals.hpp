// Conditionals: how x may depend on its blanket, as log evidence. Two families, and their mixture:
// pairwise is log-linear (loglinear.hpp), saturated has a Dirichlet-multinomial for every configuration of the blanket.
#pragma once
#include "counting.hpp"
#include "large.hpp"

#include <array>
#include <limits>
#include <map>
#include <memory>

namespace ibmap {

inline constexpr double HOPELESS = -1e6;  // log odds of full tables that would have more cells than rows
inline constexpr double NEVER = -1e6;     // evidence for an edge of a variable of too many levels
inline constexpr int LARGE = 24;          // parameters of the largest effect that x could have, beyond which its model is approximated
inline constexpr double STRONG = 1.0;     // length of an effect beyond which its size and H⁻¹ say too little

enum class Family { pairwise, saturated, adaptive };

// log Γ(a + n) - log Γ(a), looked up while there are few rows.
class Rising {
  public:
    static constexpr std::int64_t MOST = 1 << 20;
    Rising(double a, std::int64_t n_rows) : a_(a), at_zero_(std::lgamma(a)), table_(rising_table(a, std::min(n_rows, MOST))) {}
    double operator()(std::int64_t n) const { return n < std::int64_t(table_.size()) ? table_[n] : std::lgamma(a_ + double(n)) - at_zero_; }
    const double* table() const { return table_.data(); }

  private:
    double a_, at_zero_;
    std::vector<double> table_;
};

struct Options {
    Family family = Family::adaptive;
    Precision precision;
    double prior_count = 0.5, saturated_share = 0.01;
};

// What is the same for all questions about a table, however it is counted.
class Conditionals {
  public:
    int n;
    std::int64_t n_rows;
    Options options;
    std::vector<int> levels;
    std::vector<std::uint8_t> modelled;       // whether a variable has few enough levels
    std::vector<std::uint8_t> large;          // whether the model of a variable is approximated, whatever its blanket
    std::vector<int> constants;
    bool has_scores = false;                  // whether levels of some variables have an order
    std::vector<double> log_levels, ahead;    // ahead: of the saturated family without neighbours, where both are one model
    double log_rows;
    Rising by_cell;

    // counts: rows of every level of every variable, one variable after the other.
    Conditionals(std::vector<int> levels, const std::vector<bool>& ordinal, std::span<const std::int64_t> counts, std::int64_t n_rows, Options options);

    const Coding& contrasts_for(int n_levels) const { return contrasts_.at(n_levels); }
    const Coding& contrasts_of(int v) const { return contrasts_.at(levels[v]); }
    const Coding& indicators_of(int v) const { return indicators_.at(levels[v]); }
    const Coding& coding_of(int v) const { return *coding_[v]; }
    const Rising& by_total(int x) const { return by_total_.at(levels[x]); }
    bool has(Family family) const { return options.family == family || options.family == Family::adaptive; }

  private:
    std::map<int, Coding> contrasts_, scores_, indicators_;
    std::map<int, Rising> by_total_;
    std::vector<const Coding*> coding_;
};

struct Row {  // what a question is answered with: t_xy of who is listed, in order
    std::vector<std::int32_t> y;
    std::vector<double> t;
    double rest = 0.0, value = 0.0;  // Σ e^t of all others; s_x(B)
};

struct Wanted {  // of a row
    double floor;                        // t above which a variable is listed, beside the members of the blanket
    std::span<const std::int64_t> also;  // others that are
    bool exact;                          // t of members by fits without them where effects are strong; nobody else is listed; if also has some, of these alone
    bool rough = false;                  // t of members does not matter
};

// The workspace of one thread.
class RowMaker {
  public:
    explicit RowMaker(const Conditionals& shared) : shared_(shared), t_(padded(shared.n, 8)), marked_(shared.n), exponentials_(padded(shared.n, 8)) {}

    // odds: log prior odds of an edge of x with every y, or with all alike if there is one. Nothing is counted about an x of too many levels.
    Row row(CountSource* source, int x, Members blanket, std::span<const double> odds, const Wanted& wanted);
    double left_out(const Slices& slices, int x, Members members);  // of the pairwise family

  private:
    struct Values { double pairwise = 0.0, saturated = 0.0; };
    struct Mixed { double full_odds, now, cells, value; };

    const Conditionals& shared_;
    LogLinear model_, reduced_;
    LargeModel large_, reduced_large_;
    struct Summed {  // what is added up over slices for every column of ys: weights, means, and the functions that scores are about
        const Matrix<double>*weight, *mean, *counts;
        const double* rows;
        const Coding* functions;
        const std::vector<const Coding*>* members;
        int n_weights, first_effect_weight, n_effect_weights, n_means;
    } model_sums_;
    bool is_large_ = false;
    AlignedVector<double> t_;
    std::vector<std::uint8_t> marked_;
    AlignedVector<double> exponentials_;
    Matrix<std::int32_t> counts_, margins_;
    Matrix<double> of_slice_, sums_, z_, small_, zt_;
    AlignedVector<double> full_, main_, inner_;
    std::vector<std::int32_t> both_;
    std::vector<double> totals_, inside_, full_inside_, score_, levels_;
    std::vector<std::vector<int>> groups_;  // slices by level of a member
    double full_start_ = 0.0;
    std::vector<std::uint64_t> hash_;
    std::vector<int> slots_, merged_;
    std::vector<double> pairs_of_cells_;      // of every set and slice: log Γ of both cells that a y of two levels makes of it
    std::vector<std::size_t> pairs_start_;    // (sets + slices): where those of each begin; empty if they do not pay

    void fit(const Slices& slices, int x, Members members);
    Values values(const Slices& slices, int x, Members members);
    Mixed mixed(int x, Members members, const Values& found) const;
    void members_of_row(const Slices& slices, int x, Members members, const Values& found, const Mixed& now, bool exact);
    void saturated_members(const Slices& slices, int x, Members members, double value, double cells);
    void others_of_row(CountSource& source, int x, Members members, const Mixed& now);
    void count_and_sum(CountSource& source, std::size_t b, int x, bool pairwise, bool saturated);
    void add_saturated(const Slices& slices, const Block& block, int x, int k, int first);
    void find_pairs_of_cells(const Slices& slices, int x);
    void add_pairs_of_cells(const Slices& slices, const Block& block, int k, int first);
    void find_groups(const Slices& slices, Members members);
    void sum_groups(int base, int stop);
    void find_totals(const Slices& slices);
    void find_scores();
    void code_members(std::size_t width);
    void code(const Block& block, const Coding& coding, int row, double* out);
    void judge(const Block& block, const Coding& coding, const std::vector<int>& which);
    double judge_one(const Block& block, const Coding& coding, int v);
    void judge_large(const Block& block, const Coding& coding, const std::vector<int>& which);
    double inside(const Slices& slices, int x, int member, bool exact);
    int n_groups() const;
    int row_of(int column, int weight) const;
};

}  // namespace ibmap
