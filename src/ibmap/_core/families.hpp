// Scores of families, a variable x with its parents P: sums over cells (of x and P) and slices (of P) with n rows each.
//   s_x(P) = Σ_cells f(n; q r) - Σ_slices f(n; q) - cost(q, r, N)
// x has r levels, P could have q configurations, N rows know all of them. What y gains as a parent of x beside others is
// t_xy = s_x(P + y) - s_x(P), on the rows that know y as well: one sign, whether y is in P or not.
#pragma once
#include "cells.hpp"
#include "groups.hpp"

#include <unordered_map>

namespace ibmap {

class FamilyScore {
  public:
    virtual ~FamilyScore() = default;
    virtual double parameter(double cells) const = 0;  // all that f needs to know of the number of possible cells
    virtual std::vector<double> table(double parameter, std::int64_t most) const = 0;  // f of n = 0 ... most
    virtual double value(double parameter, std::int64_t n) const = 0;                  // f
    virtual double cost(double q, double r, std::int64_t rows) const = 0;
};

// The marginal likelihood, with prior counts that add up to a: f(n; m) = log Γ(a / m + n) - log Γ(a / m).
struct BDeu final : FamilyScore {
    double size;
    explicit BDeu(double a) : size(a) {}
    double parameter(double cells) const override { return size / cells; }
    std::vector<double> table(double parameter, std::int64_t most) const override { return rising_table(parameter, most); }
    double value(double parameter, std::int64_t n) const override { return std::lgamma(parameter + double(n)) - std::lgamma(parameter); }
    double cost(double, double, std::int64_t) const override { return 0.0; }
};

// The log-likelihood, less ½ log N for every parameter: f(n) = n log n.
struct BIC final : FamilyScore {
    double parameter(double) const override { return 0.0; }
    std::vector<double> table(double, std::int64_t most) const override {
        std::vector<double> out(std::size_t(most) + 1);
        for (std::int64_t n = 1; n <= most; ++n) out[n] = value(0.0, n);
        return out;
    }
    double value(double, std::int64_t n) const override { return n ? double(n) * std::log(double(n)) : 0.0; }
    double cost(double q, double r, std::int64_t rows) const override { return 0.5 * std::log(double(std::max<std::int64_t>(rows, 1))) * (r - 1.0) * q; }
};

// The quotient of normalised maximum likelihoods: f(n) = n log n; what fits q r cells, less what fits q slices, is the cost.
// R(N, K) is the log of the sum of the largest likelihoods of all tables of N rows in K cells (Szpankowski and Weinberger 2012).
struct QNML final : FamilyScore {
    double parameter(double) const override { return 0.0; }
    std::vector<double> table(double, std::int64_t most) const override { return BIC().table(0.0, most); }
    double value(double, std::int64_t n) const override { return BIC().value(0.0, n); }
    double cost(double q, double r, std::int64_t rows) const override { return regret(q * r, double(rows)) - regret(q, double(rows)); }

    static double regret(double cells, double rows) {
        if (cells <= 1.0 || rows < 1.0) return 0.0;
        if (rows == 1.0) return std::log(cells);  // the approximation is off by 0.1, and arcs would come of a single row
        const double a = cells / rows, more = 2.0 / a / (std::sqrt(1.0 + 4.0 / a) + 1.0), c = 1.0 + more;  // c = (1 + sqrt(1 + 4 / a)) / 2
        return rows * (std::log(a) + (a + 2.0) * std::log1p(more) - 1.0 / c) - 0.5 * std::log(c + 2.0 / a);
    }
};

// f for one number of cells, looked up where n is small.
class CountFunction {
  public:
    CountFunction(const FamilyScore& score, double parameter) : score_(&score), parameter_(parameter) {}
    double operator()(std::int64_t n) const { return n < std::int64_t(table_.size()) ? table_[n] : score_->value(parameter_, n); }
    const double* table() const { return table_.data(); }
    std::size_t reach(std::int64_t n, std::int64_t n_rows);  // look up to n, if that is few; returns how many values there are more

  private:
    const FamilyScore* score_;
    double parameter_;
    std::vector<double> table_;
};

// The workspace of one thread.
class FamilyRows {
  public:
    FamilyRows(std::vector<int> levels, std::int64_t n_rows, std::unique_ptr<FamilyScore> score);
    FamilyRows(const FamilyRows&) = delete;

    std::vector<int> levels;
    std::int64_t n_rows;

    // s_x(P), and t of the parents; of everybody else after that, by who has counted.
    void ask(const Slices& slices, int x, Members parents);
    void outside(BitCounts& counts);
    void outside(const Cells& cells, std::size_t question);

    double value() const { return value_; }
    double t(std::int64_t y) const { return t_[y]; }

  private:
    std::unique_ptr<FamilyScore> score_;
    std::unordered_map<double, CountFunction> functions_;
    std::size_t n_values_ = 0;
    int x_ = 0;
    std::vector<std::int64_t> parents_;
    const Slices* slices_ = nullptr;
    double q_ = 1.0, r_ = 1.0, value_ = 0.0;
    std::int64_t rows_ = 0;
    std::vector<double> t_;
    Groups groups_;
    std::vector<std::int64_t> by_level_, group_size_, with_y_;
    Splitter splitter_;
    Matrix<std::int32_t> counts_;
    AlignedVector<std::int32_t> both_;
    AlignedVector<double> sums_;

    struct Functions {
        const CountFunction &cell, &row, &column, &slice;
    };

    double r_of(std::int64_t v) const { return std::max(levels[v], 1); }
    const CountFunction& function(double cells, std::int64_t most);
    double whole(const Slices& slices, double q, std::int64_t rows);
    double grouped(const Slices& slices, double q, std::int64_t rows);
    Functions functions(double s);
    double cost(double s, std::int64_t rows) const;
    template <class Work>
    void count(BitCounts& counts, std::size_t b, int least, Work work);
    void block(BitCounts& counts, std::size_t b);
    void incomplete_block(BitCounts& counts, std::size_t b);
    double of_cells(const Cells& cells, std::size_t table, int y);
};

// log Π p(x | parents) Π p(child | its parents), normalised over the levels of x, of all rows, each left out of the counts in turn; size adds up
// the prior counts of every family. arcs[x, y]: y is a parent of x.
class LeftOut {
  public:
    LeftOut(const std::vector<int>& levels, const bool* arcs, double size) : levels_(levels), n_(levels.size()), arcs_(arcs), size_(size), place_(n_) {}
    double operator()(const Slices& slices, int x, Members blanket);

  private:
    const std::vector<int>& levels_;
    std::size_t n_;
    const bool* arcs_;
    double size_;
    std::vector<int> place_, members_;
    Groups parents_, family_;
    std::vector<double> in_slice_, in_cell_, of_group_, own_of_group_, logs_, own_;

    bool is_parent(std::int64_t y, std::int64_t x) const { return arcs_[std::size_t(x) * n_ + std::size_t(y)]; }
    void count(const Slices& slices, const Groups& groups, int r, std::vector<double>& out) const;
};

}  // namespace ibmap
