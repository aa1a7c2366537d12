// How much three variables say only together: the evidence of an interaction, of one triple or of all triples of a table.
//
// e(x, y, z) = S(xyz) - S(xy) - S(xz) - S(yz) + S(x) + S(y) + S(z), on the rows that know all three. S is the log marginal
// likelihood of a joint table of m cells, whose prior counts size / m add up to size. It is symmetric: one number for all three.
#pragma once
#include "table.hpp"

#include <cmath>
#include <map>
#include <tuple>

namespace ibmap {

// log Γ(a + n) - log Γ(a): from a table up to some n, by Stirling's series beyond.
class Rise {
  public:
    Rise(double a, std::int64_t most);
    double operator()(std::int64_t n) const { return n < std::int64_t(table.size()) ? table[std::size_t(n)] : beyond(n); }

    std::vector<double> table;

  private:
    double a_, log_gamma_;
    double beyond(std::int64_t n) const;
};

// The evidence of tables with these numbers of levels.
class TripleEvidence {
  public:
    // levels: all that occur.
    TripleEvidence(std::vector<int> levels, std::int64_t n_rows, double size);

    const Rise& rise(std::int64_t cells) const { return rises_.at(cells); }
    // cells[(a ly + b) lz + c]: rows with these levels.
    double operator()(const std::int32_t* cells, int lx, int ly, int lz);

  private:
    std::map<std::int64_t, Rise> rises_;
    std::vector<std::int32_t> xy_, xz_, yz_;
};

struct Triple {
    double evidence;
    int x, y, z;  // ascending

    // The most evidence first; ties, to six digits, go to the smallest triple.
    bool operator<(const Triple& other) const {
        const double mine = std::round(1e6 * evidence), theirs = std::round(1e6 * other.evidence);
        return mine != theirs ? mine > theirs : std::tie(x, y, z) < std::tie(other.x, other.y, other.z);
    }
};

// A table of more cells than rows says nothing about them together.
inline bool has_a_say(std::int64_t cells, std::int64_t n_rows) { return cells <= std::max<std::int64_t>(n_rows, 8); }

// All triples of variables of 2 to MOST_LEVELS levels with more evidence than a threshold; of many, the `most` first.
std::vector<Triple> find_triples(const Table& table, double size, double threshold, std::size_t most, int n_threads);

}  // namespace ibmap
