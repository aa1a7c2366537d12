// Rows of evidence where variables are levels, ordered levels or numbers: the log evidence of x given its blanket, and of every y.
//
// A number is regressed on the columns of its blanket, with a conjugate prior: exact, from products of columns alone. Levels have a
// log-linear model whose slices are rows (loglinear.hpp). The effects of x have a common scale 4^k that is not known; a number enters with
// its square where that has evidence. Ys outside are screened as if every row had the mean weights; those that are not unlikely are made
// exact by one step from the mode. Where x and another variable have many levels, the curvature of x is approximated (large.hpp), and the screen is the
// answer. Main effects of the members that have levels are mixed with a full table, as in conditionals.hpp: what the mixture has more than main effects is
// added, beside numbers, too. tests/reference/mixed.py is the same in a few lines.
#pragma once
#include "conditionals.hpp"
#include "mixed_table.hpp"

namespace ibmap {

class MixedRows {  // the workspace of one thread
  public:
    explicit MixedRows(const MixedTable& table) : table_(table), t_(std::size_t(table.n)), listed_(std::size_t(table.n)) {}

    Row row(int x, Members blanket, std::span<const double> odds, const Wanted& wanted);

    struct Effects {  // at the mode, at the best scale
        std::vector<int> columns;                // of each member that enter
        std::vector<double> effect;              // function by function of x, column by column
        std::vector<double> covariance;          // of the effects of each member by themselves, one member after the other
        double variance = 0.0, n_rows = 0.0;     // what is left of a number; weights of the rows that were used
    };
    Effects effects(int x, Members members);

  private:
    static constexpr int SCALES = 6;
    static constexpr double VAGUE = 0.02, PRECISION = 4.0;  // of intercepts; of effects at the smallest scale
    static constexpr double CLOSE = 1e-14;                  // squared length of a step, in standard deviations, that is not taken
    static constexpr double GIVE_UP = 5.0;                  // log units below the best scale where no larger one is tried
    static constexpr double UNLIKELY = -4.0;                // screened evidence below which nothing more exact is made
    static constexpr double UNSURE = 3.0;                   // t of a member below which it is made exact, lest the search goes round
    static constexpr double CERTAIN = 20.0;                 // t of a member that stays, beyond which it is made exact only on request
    static constexpr double PRIOR_COUNT = 0.5, FULL = 0.01; // of a level in a full table; the prior share of full tables
    static constexpr int BLOCK = LARGE;                     // parameters of an effect beyond which nothing more exact is made

    struct Scales {  // what was found at each scale that was tried
        std::vector<double> values, log_share;  // log evidence; log posterior
        double total = 0.0;
        int best = 0;
        bool add(double value);  // whether another one is worth trying
        void finish();
        void all_alike(double value);
        double mean(const double* t, std::size_t stride) const;     // log Σ share e^t
        double without(const double* t, std::size_t stride) const;  // - log Σ share e^-t
    };

    struct Levels {  // x has levels: its model at the best scale, one of two
        bool is_large = false;
        LogLinear model;
        LargeModel large;
        Scales scales;
        std::vector<int> slice;      // of every row; -1 if it does not know x or a member
        std::vector<int> columns;    // of each member that enter
        Matrix<double> inside;       // (scales, members): t of members
        double value = 0.0, n_known = 0.0;
    };

    struct Columns {  // some columns of a variable outside, and where sums about them are
        int y, first, r, at = 0, pairs_at = 0;
    };

    struct Regression {  // x is a number: of some columns, at one scale
        std::vector<int> at;         // columns among those of products_
        Matrix<double> factor;
        std::vector<double> effect;
        double rss = 0.0, tss = 0.0, value = 0.0;
    };

    const MixedTable& table_;
    std::vector<double> t_;
    std::vector<std::uint8_t> listed_;
    Levels levels_, reduced_;
    Regression regression_, trial_;
    Matrix<double> products_, raw_, functions_, scores_, rotated_, left_, weights_, spread_, small_, parts_, by_scale_, cross_, given_, inner_, whole_;
    Matrix<double> sums_, squares_, y_columns_, y_pairs_, functions_of_x_, tile_of_x_, tile_, tile_of_pairs_;  // see find_sums
    std::vector<Matrix<double>> factors_;
    std::vector<double> inner_of_rows_, block_, eigenvalues_, spreads_, u_;
    std::vector<int> key_, slice_of_key_, entering_;
    double total_ = 0.0, degrees_ = 0.0;  // weights of the rows that products_ are about; degrees of freedom of what is left
    std::vector<std::vector<double>> rising_;  // by levels: see rise()
    std::vector<std::int64_t> keys_;  // of every row: levels of the members of a full table; -1 if it is not known
    std::vector<double> cells_, slices_, full_gains_, main_t_, sum_of_levels_;
    std::vector<int> set_start_, rows_by_set_;
    Matrix<double> atoms_of_slice_;

    double numbers_row(int x, Members members, bool everyone);
    double levels_row(int x, Members members, bool everyone, const Wanted& wanted);
    double cells_without_largest(int x, Members coded) const;
    double rise(int levels, double n);  // log Γ(a + n) - log Γ(a), a the prior count of so many levels
    double main_row(int x, Members members, Members known_by, bool everyone, const Wanted& wanted);
    double add_full_tables(int x, Members coded, Members known_by, bool everyone);
    double full_table(int x, std::int64_t below, std::int64_t without, std::int64_t n_configurations);
    void find_full_gains(int x, Members coded, std::int64_t n_configurations);

    void find_products(int x, Members members);
    double inner(int v, int i, int j) const;
    void regress(Regression& found, double precision);
    double gain(const Regression& now, const double* u, int r, double precision);

    void fit(Levels& found, int x, Members members, Members known_by, const Levels* other = nullptr, const std::vector<int>& old = {});
    template <class Model>
    void fit_model(Model& model, Levels& found, int x, Members members, Members known_by, const Model* other, const std::vector<int>& old);
    bool knows(std::int64_t row, int x, Members known_by) const;
    void find_slices(Levels& found, int x, Members members, Members known_by);
    void fill(LogLinear& model, Levels& found, int x, Members members);
    void fill(LargeModel& model, Levels& found, int x, Members members);
    std::vector<bool> find_bent(const LogLinear& model, Levels& found, int x, Members members);
    std::vector<bool> find_bent(const LargeModel& model, Levels& found, int x, Members members);
    void find_sums(const Levels& found, const std::vector<Columns>& asked);
    void assemble(const LogLinear& model, const Columns& asked);
    void give_to(const LogLinear& model, int block, const Matrix<double>& factor);
    double step(int block, double precision);
    int find_scores(const Levels& found, int x, double& mean_weight);
    int find_left(const Levels& found, Members members, double ridge);
    void judge(const Levels& found, int e, int k, int first, int r, int n_scales, int column);
    void screen(const Levels& found, int x, Members members);
    void find_factors(const Levels& found);
    void make_exact(const Levels& found, int x, Members members);
};

}  // namespace ibmap
