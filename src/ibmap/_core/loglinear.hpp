// x given its blanket as a log-linear model: the mode by Newton's method, and Laplace's approximation of the evidence.
//
// In slice k, log p(x = l) = C_l · α + Σ_f S_lf (θ_f · d_k) + constant: intercepts α for the contrasts C of x, and for
// every effect function S_f of x effects of the columns d_k of the blanket. Of a nominal x, S = C; of an ordinal one,
// S is the score of its levels, one column: with an ordinal neighbour that is the linear-by-linear association.
//
// Arrays run over slices, so that loops over slices are loops over vectors; slices beyond the last have no rows.
#pragma once
#include "linear.hpp"
#include "numbers.hpp"
#include "slices.hpp"

namespace ibmap {

struct Precision {  // of the prior; and how close to the mode: the squared length of a step, in standard deviations, that is not taken
    double intercept = 0.02, effect = 4.0, close = 1e-20;
};

// Rows of (levels of x) counts, designs and codes: what a model is fitted to.
class LogLinear {
  public:
    int q = 0, e = 0;                        // columns of C and of S
    int width = 0, size = 0;                 // columns of the design with the 1 of the intercept; parameters
    int n_slices = 0, n_padded = 0;
    int n_weights = 0, first_effect_weight = 0, n_effect_weights = 0;
    std::vector<int> which;                  // members of the blanket that are in the model
    std::vector<const Coding*> coding;       // of each of them
    std::vector<int> first;                  // (members + 1): column of the design where each begins
    Matrix<double> design;                   // (width, slices)
    Matrix<double> counts, share;            // (levels, slices): rows, and probabilities at the mode
    Matrix<double> mean;                     // (e, slices): of S
    Matrix<double> weight;                   // (weights, slices): covariances of functions of x, see ei() and ee()
    Matrix<double> factor;                   // Cholesky factor of H, the negative Hessian
    AlignedVector<double> rows;              // of each slice
    std::vector<double> theta;               // intercepts; then the effects, function by function
    double value = 0.0, height = 0.0;        // log evidence; log posterior at the mode

    int ei(int f, int a) const { return nominal_ ? pair(f, a) : a; }  // the weight Cov(S_f, C_a)
    int ee(int f, int g) const { return nominal_ ? pair(f, g) : q; }  // the weight Cov(S_f, S_g)
    int effect_at(int f, int column) const { return q + f * (width - 1) + column - 1; }
    const Coding& effect_coding() const { return *S_; }

    // Fit x, with contrasts and effect coding, given some of the members of the slices, each with its coding.
    void fit(const Slices& slices, const Coding& contrasts, const Coding& effects, std::vector<int> members,
             std::vector<const Coding*> codings, const Precision& precision, const LogLinear* begin_at = nullptr);

    // Or: make place for rows of which each is a slice of its own, and fill in design (but for its first row), counts and rows; then find the
    // mode, from the shares of the levels, from theta, or from the last mode. first: column of the design where each member begins, and the end.
    enum class Start { shares, theta, mode };
    void shape(const Coding& contrasts, const Coding& effects, std::vector<int> first, int n_slices);
    void find_mode(const Precision& precision, Start start = Start::shares);

    double inside(int member);        // t of a member, by its effects and their block of H⁻¹
    double length(int member) const;  // of its effects
    double left_out();                // log likelihood, less the number of parameters that the data have set and not the prior

  private:
    static constexpr int STEPS = 50, SLICES_AT_ONCE = 256;
    static constexpr double SHORTER = 0.01;    // squared length of a step beside that before it, above which the curvature is found anew
    static constexpr double ROUNDING = 1e-13;  // of the log posterior, by which a good step may seem to lower it

    const Coding *C_ = nullptr, *S_ = nullptr;
    bool nominal_ = true;
    Precision precision_;
    Matrix<double> odds_, mean_c_, parts_, inner_, weighted_, by_slice_, both_;
    Matrix<double> information_;  // H without the prior, at the mode
    std::vector<double> step_, trial_, effect_, levels_;
    AlignedVector<double> largest_, norm_, left_;
    std::vector<int> indicator_at_;  // (slices, members): 1 + column of the indicator of a level among those above 0; 0 for level 0
    std::vector<int> first_indicator_;

    static int pair(int a, int b) { return a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a; }
    double prior(int parameter) const { return parameter < q ? precision_.intercept : precision_.effect; }
    void set(const Slices& slices);
    void begin();
    void begin_at(const LogLinear& other);
    double log_posterior(const std::vector<double>& at);
    double log_likelihood(const std::vector<double>& at, int begin, int n);
    void find_weights();
    void slope();
    void curvature();
    void curvature_by_columns();
    void curvature_by_indicators();
    void curvature_of_intercepts();
    void put(int a, int i, int b, int j, double sum);
    bool climb();
    template <class At>
    void code_members(At at, int lane);
};

}  // namespace ibmap
