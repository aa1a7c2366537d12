// The best directed graph of an order of the variables, where each takes its best parents of those before it; and orders that are better.
// Only families that were counted before are looked at, so that a step costs no counting (Teyssier and Koller 2005).
#pragma once
#include "splitmix.hpp"

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

namespace ibmap {

using Parents = std::vector<std::vector<int>>;  // of every variable, sorted

// A random number below a bound.
inline std::size_t below(Stream& random, std::size_t bound) { return std::size_t(uniform(random.next()) * double(bound)); }

// Families of every variable with what they are worth, the best first, none that a part of it surpasses.
class FamilyLists {
  public:
    struct Family {
        double value;
        std::uint64_t signature;  // a bit for every member: a part of another set has no other bits
        std::vector<int> members;
    };

    explicit FamilyLists(int n) : lists_(n), noted_(n) {}

    void note(int x, std::span<const int> parents, double value);
    void sort();  // put what was noted into its place
    const std::vector<Family>& operator[](int x) const { return lists_[x]; }
    int n() const { return int(lists_.size()); }

  private:
    std::vector<std::vector<Family>> lists_, noted_;
    std::unordered_set<std::uint64_t> known_;  // hashes of all that was ever noted
};

class OrderSearch {
  public:
    OrderSearch(const FamilyLists& families, Stream& random);

    void begin(std::vector<int> order);
    void climb();          // move variables while that gains
    double score() const;  // of the best graph of the order
    Parents parents() const;
    std::vector<int> order_of(const Parents& parents);     // a random one in which parents come first
    void disturb(std::vector<int>& order, int times);      // put random variables at random places

  private:
    static constexpr double GAIN = 1e-7;
    static constexpr int SWEEPS = 100;

    struct Use {  // of a variable as a member of families of x: where they stand in the list of x
        int x;
        std::vector<int> families;
    };

    const FamilyLists& families_;
    Stream& random_;
    int n_;
    std::vector<std::vector<Use>> uses_;  // of every variable
    std::vector<int> order_, place_, best_, moved_;
    std::vector<double> gains_;
    std::vector<int> first_;

    double value(int x, int family) const { return families_[x][std::size_t(family)].value; }
    int best_before(int x, int place, int from = 0, int without = -1) const;
    int better_with(const Use& use, int v) const;
    bool improve(int v);
    void move(int v, int to);
};

}  // namespace ibmap
