// All pairs of variables without conditioning: the score of the graph without edges. Every pair is counted once, for both of its ends.
#pragma once
#include "bayes.hpp"

namespace ibmap {

// Some variables of one block, by position, against all of another block that do not come before them.
struct Tile {
    std::size_t block, others;
    int first, last;
};

// Counts a tile of pairs before it is scored: the bits of a few columns stay in the cache while many variables pass over them.
class PairTiles {
  public:
    static constexpr int HEIGHT = 64;  // variables of a tile

    PairTiles(const BayesModel& model, const Table& table);

    const BayesModel& model;
    const Table& table;
    std::vector<std::size_t> blocks;  // those of variables that have a value in every row
    std::vector<int> irregular;       // variables that are in none of them
    std::vector<std::uint8_t> is_irregular;

    std::vector<Tile> tiles() const;  // by the first variable, then by the others

    struct Work {  // of one thread
        Matrix<std::int32_t> counts;
        AlignedVector<std::int32_t> rest;
        AlignedVector<double> columns;
        Matrix<double> t;  // (variables of the tile, columns of the other block)
    };
    void score(const Tile& tile, Work& work) const;  // work.t

    // Positions of the other block from which on pairs of a variable of a tile have not been seen before.
    static int from(const Tile& tile, int position) { return tile.block == tile.others ? position + 1 : 0; }

  private:
    std::vector<std::vector<std::int32_t>> totals_;  // of every block: rows of each column
};

// sigma[x n + y] = -softplus(t), the log posterior of independence, symmetric and 0 for x = y.
void fill_unconditional(const PairTiles& tiles, std::span<std::unique_ptr<BayesRows>> rows, double* sigma);

}  // namespace ibmap
