// The Bayesian test of conditional independence. In a slice k of the conditioning set, with counts c of n rows,
//   d_k = log DM(cells; γ) - log DM(levels of x; α) - log DM(levels of y; β),   DM Dirichlet-multinomial,
// is the log Bayes factor of dependence. Independence must hold in every slice. The K slices share one prior p of
// independence, p^K = prior, so that t_k = log((1 - p) / p) + d_k and log Pr(independent) = -Σ_k softplus(t_k).
// All that anybody needs to know is t = log Pr(dependent) - log Pr(independent): both posteriors are softplus of it.
#pragma once
#include "conditionals.hpp"
#include "groups.hpp"
#include "level_counts.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace ibmap {

// The prior counts of the table of x and y, as log Γ(a + c) - log Γ(a) of c = 0 ... rows.
struct Priors {
    const double *cell = nullptr, *row = nullptr, *column = nullptr;  // γ; α of the levels of x, of y
    const double *cell_total = nullptr, *row_total = nullptr, *column_total = nullptr;  // of their sums; null if that takes too much memory
    double cell_sum = 0.0, row_sum = 0.0, column_sum = 0.0;

    // What all tables of a slice of n rows share: the logarithm of the normalising terms of h / g.
    double of_rows(std::int64_t n) const;
};

class BayesModel {
  public:
    int n;
    std::int64_t n_rows;
    std::vector<int> levels;
    bool every_slice;  // configurations that no row has are slices, too
    bool one_factor;   // one Bayes factor decides for all slices

    // cell and margin: γ and α of tables of I x J levels, for all numbers of levels that occur, ascending; log_prior: (1, 1) or (n, n).
    BayesModel(std::span<const std::int64_t> levels, std::int64_t n_rows, Table2<const double> log_prior, Table2<const double> cell,
               Table2<const double> margin, bool every_slice, bool one_factor);

    const Priors& priors(int x, int y) const;
    bool one_prior() const { return log_prior_.size() == 1; }
    double log_prior(int x, int y) const { return one_prior() ? log_prior_[0] : log_prior_[std::size_t(x) * std::size_t(n) + std::size_t(y)]; }

    // log((1 - p) / p) of a slice, log_slices = log K; and of all that is known before any row is.
    static double slice_odds(double log_prior, double log_slices);
    double prior_odds(int x, int y) const { return slice_odds(log_prior(x, y), 0.0); }

    // log K of a conditioning set without one of its variables, or -1.
    double log_slices(Members given, std::int64_t without, std::int64_t observed) const;

    // t, of the factors d_k of some slices, and of slices of one row, where d_k = 0; t_k is left where d_k was.
    double log_odds(std::span<double> factors, std::int64_t n_single, double log_prior, double log_slices) const;

  private:
    std::vector<int> kind_;  // of every variable: which number of levels it has, ascending
    std::size_t n_kinds_ = 0;
    std::vector<double> log_prior_, cell_, margin_;
    std::vector<int> kind_levels_;
    struct Known {
        std::once_flag once;
        Priors priors;
    };
    std::unique_ptr<Known[]> known_;  // (kinds, kinds), made when they are first asked for
    mutable std::mutex guard_;
    mutable std::map<double, std::vector<double>> tables_;

    const double* table(double parameter) const;
};

// d[v] += sign Σ_levels table[count] of all variables v of a block from one on: level 0 has what the others leave of n rows.
void add_all_cells(const double* table, const std::int32_t* counts, std::int32_t n, int n_levels, std::size_t stride, std::size_t from, double sign,
                   double* d);

double log_one_minus_exp(double log_p);  // log(1 - e^log_p), log_p <= 0, accurate at both ends

// log Pr(independent) and log Pr(dependent).
struct Posterior {
    double independent, dependent;
    explicit Posterior(double t) : independent(-softplus(t)), dependent(-softplus(-t)) {}
};

// Tables that are lists of observed cells (slice, level of x, level of y, rows), sorted so: from any engine.
class BayesCells {
  public:
    explicit BayesCells(const BayesModel& model) : model_(model) {}

    // t of x and y, whose cells are those from begin to end; log_slices is looked at if configurations that no row has count.
    double log_odds(int x, int y, Table2<const std::int64_t> cells, std::int64_t begin, std::int64_t end, double log_slices);

  private:
    const BayesModel& model_;
    std::vector<std::int64_t> by_y_;
    std::vector<double> factors_;
};

// The workspace of one thread: questions about one table.
class BayesRows {
  public:
    BayesRows(const BayesModel& model, const Table& table);
    BayesRows(const BayesRows&) = delete;

    const Table& table() const { return table_; }

    // From now on questions are about x given these variables; and about these themselves, if that is said.
    void ask(int x, Members given, bool and_members = true);

    double log_odds(int y);              // t of one y
    // t of all ys: block by block, all ys of a block at once; 0 for x, and given ones as if they were not.
    std::span<const double> everyone() { return everyone(false); }
    std::span<const double> members();   // t of every given variable, given the others

    // The first of some ys that is dependent, or the first given variable that is independent given the others; -1 if there is none.
    // Independent is who has a log posterior of it above the log prior and a margin.
    std::int64_t first_dependent(std::span<const std::int64_t> ys, double margin);
    std::int64_t first_independent_member(double margin);

    // The row of the IB-score: t of all ys, of given ones given the others; those above the floor, given, or asked for are listed. Its
    // value is Σ σ, the log posterior of what x asserts if the given variables are its blanket.
    Row row(double floor, std::span<const std::int64_t> also);
    Row row_of_members();                // these alone, in the order in which they are given

  private:
    struct Run { std::size_t position, variable, size; };  // variables of a block that follow each other

    const BayesModel& model_;
    const Table& table_;
    BitCounts counts_of_;
    int x_ = 0;
    std::vector<std::int64_t> given_;
    double log_slices_ = 0.0;
    // Arrays that loops go through side by side lie some lines apart in one matrix: at equal places of pages they would wait for each other.
    static constexpr std::size_t APART = 40;
    Matrix<double> row_;                   // t, σ, and e^t or 1, of all variables
    double *t_, *sigma_, *exponentials_;
    std::size_t width_;                    // of these, a multiple of 8
    bool with_sigma_ = false;              // whether the latter are wanted
    std::vector<std::vector<Run>> runs_;   // of every block
    std::vector<int> constants_, wide_;    // variables that are in no block

    // of one y
    LevelCounts level_counts_;
    std::vector<int> seen_;
    std::vector<std::int32_t> by_level_, by_y_;
    std::vector<double> factors_;

    // of a block
    bool together_ = false;                // one t for all slices
    Matrix<std::int32_t> counts_;
    AlignedVector<std::int32_t> both_, rest_;
    int left_over_ = -1;                   // the set whose counts are in rest_
    std::vector<std::vector<std::int32_t>> totals_;  // of every block, all rows
    Matrix<double> of_block_;              // what follows, of all variables of a block
    double *d_ = nullptr, *offset_ = nullptr, *above_ = nullptr, *product_ = nullptr, *of_sigma_ = nullptr, *of_exponential_ = nullptr;
    std::vector<double> pairs_;            // of every set and slice: log Γ of both cells that a y of two levels makes of it
    std::vector<std::size_t> pairs_start_;
    const Priors* pairs_of_ = nullptr;     // whose prior counts these are

    // of members
    std::vector<double> inside_, of_slice_;
    Groups groups_;

    // of a row
    std::vector<std::uint8_t> listed_;

    const Slices& slices() const { return counts_of_.slices(); }
    void block(std::size_t b);
    void count(std::size_t b, int first, int last);
    void add_slice(const Block& block, const Priors& priors, int k, int first);
    void find_pairs(const Priors& priors);
    void put(std::size_t b, std::int64_t n_single);
    void put_one(int y, double t);
    std::span<const double> everyone(bool with_sigma);
    bool is_independent(int y, double t, double margin) const { return Posterior(t).independent > model_.log_prior(x_, y) + margin; }
    template <class Each>
    void for_each_member(Each each);
};

}  // namespace ibmap
