// Log-linear models of variables with many levels: as in loglinear.hpp, but for one approximation.
//
// With q contrasts of x and a design of width w, H = Σ_k n_k W_k ⊗ d_k d_kᵀ + Λ has (q w)² entries: hours, where x and its
// neighbours have dozens of levels. For evidence, the covariance W_k of the contrasts of x in slice k is replaced by its
// mean W̄ over all rows. Then H = W̄ ⊗ X + Λ with X = Σ_k n_k d_k d_kᵀ, and in the eigenvectors of W̄ (eigenvalues ω) and of
// Λ^-½ X Λ^-½ (eigenvalues μ) it is diagonal: all that is asked of it comes from the matrix 1 / (1 + ω_a μ_j), `shrink`.
// Mode and likelihood are exact: conjugate gradients solve Newton's steps, with the approximated H as preconditioner,
// corrected by the products with H that the steps before have made, as in L-BFGS.
#pragma once
#include "loglinear.hpp"

#include <deque>

namespace ibmap {

class LargeModel {
  public:
    int q = 0, width = 0, n_slices = 0, n_padded = 0;
    std::vector<int> which;
    std::vector<const Coding*> coding;  // of the parts of the design: of each member one, or one of each column of a number
    std::vector<int> first;           // (members + 1): column of the design where each begins
    Matrix<double> counts, share;     // (levels, slices), as of the small model
    Matrix<double> ones;              // (1, slices): the weight of a slice with rows
    AlignedVector<double> rows;
    Matrix<double> theta;             // (q, width)
    Matrix<double> basis, vectors;    // eigenvectors: of X, scaled by Λ^-½, and of W̄, as columns
    Matrix<double> shrink;            // (q, width)
    std::vector<double> omega;
    double value = 0.0, height = 0.0;

    void fit(const Slices& slices, const Coding& contrasts, std::vector<int> members, std::vector<const Coding*> codings,
             const Precision& precision, const LargeModel* begin_at = nullptr);

    // Or: make place for slices, tell what is in each, and find the mode.
    void shape(const Coding& contrasts, std::vector<const Coding*> parts, std::vector<int> first_of_members, int n);
    void put(int slice, int part, int level, double amount) {
        at_[slice * coding.size() + part] = first_row_[part] + level, amount_[slice * coding.size() + part] = amount;
    }
    void count(int slice, int level, double weight) { by_slice_[slice][level] += weight, rows[slice] += weight; }
    void find_mode(const Precision& precision, LogLinear::Start start = LogLinear::Start::shares);
    const double* shares_of(int slice) const { return share_by_slice_[slice]; }

    double inside(int member);
    double length(int member) const;
    double left_out() const;
    Matrix<double> covariance(int member) const;  // of its effects, function by function of x, with the approximated H

  private:
    static constexpr int STEPS = 50, INNER = 100;
    static constexpr double MOST_SEEN = 80; // directions that are used again
    static constexpr double ROUGH = 1e-3;   // what may be left of the slope, squared, far from the mode
    static constexpr double LAST = 1e-10;   // the same, of a step so good that after it none would gain anything
    static constexpr double CLOSE = 1e-18; // twice the log posterior that the next step could gain: less is rounding

    const Coding* C_ = nullptr;
    Precision precision_;
    int n_levels_ = 0, n_rows_of_table_ = 0;
    std::vector<int> at_;             // (slices, parts): the row of a table that stands for the part's level
    std::vector<double> amount_;      // and how often it is taken: 1 of levels, the value of a number
    std::vector<int> first_row_, first_column_;  // of every part: row of its level 0 (row 0 stands for 1), its first column
    Matrix<double> by_slice_, share_by_slice_;  // (slices, levels): counts, and probabilities
    Matrix<double> table_, sums_, slope_, step_, rest_, solved_, direction_, curved_, trial_, scratch_, scratch2_, inner_;
    std::vector<double> mu_, change_;
    struct Seen {                     // what conjugate gradients found out about H: it is used again, as H hardly changes from step to step
        Matrix<double> direction, curved;
        double size;                  // their inner product
    };
    std::deque<Seen> seen_;           // of the last steps, also those at other scales of the prior
    std::vector<Seen> fresh_;         // of this one
    Matrix<double> corrected_;
    std::vector<double> factor_;

    double prior(int column) const { return column ? precision_.effect : precision_.intercept; }
    void begin();
    void find_basis();
    void to_table(const Matrix<double>& effects);               // table_: what 1 and every level add to the log odds of x
    void from_sums(Matrix<double>& out);                        // sums_ by row and level become (q, width)
    double at(const Matrix<double>& effects);                   // log posterior; sets the probabilities
    void find_slope();
    void curvature(const Matrix<double>& direction, Matrix<double>& out);
    template <int V>
    void sum_changes();
    void approximately(const Matrix<double>& slope, Matrix<double>& out);  // H⁻¹ slope, with the approximated H
    void nearly(const Matrix<double>& slope, Matrix<double>& out);         // the same, better
    void diagonalise();
    void find_shrink();
    void newton_step();
};

}  // namespace ibmap
