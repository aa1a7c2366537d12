// Tables of counts: x against each of some ys, in the slices of what is given, as lists of observed cells.
#pragma once
#include "interrupt.hpp"
#include "level_counts.hpp"
#include "lists.hpp"

namespace ibmap {

struct Cell {
    std::int32_t slice, x, y, rows;
};

struct Set {
    std::int32_t slice, x, rows;
};

// A list that grows without touching memory before it is written.
template <class T>
class Grown {
  public:
    T* room(std::size_t n) {  // for so many more; end(p) tells how far they were written
        if (size_ + n > capacity_) {
            capacity_ = std::max(size_ + n, 2 * capacity_);
            auto larger = std::make_unique_for_overwrite<T[]>(capacity_);
            std::copy_n(values_.get(), size_, larger.get());
            values_ = std::move(larger);
        }
        return values_.get() + size_;
    }
    void end(const T* last) { size_ = std::size_t(last - values_.get()); }
    void clear() {  // small ones keep their memory, as new memory must be paged in
        size_ = 0;
        if (capacity_ > MOST_KEPT) values_.reset(), capacity_ = 0;
    }
    std::span<const T> all() const { return {values_.get(), size_}; }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t MOST_KEPT = 1 << 20;
    std::unique_ptr<T[]> values_;
    std::size_t size_ = 0, capacity_ = 0;
};

// What is asked (engines/questions.py), and the answer (engines/tables.py).
struct Questions {
    Ints x;
    Lists y, given;

    std::size_t size() const { return x.shape(0); }
    void check(int n) const {
        check_variables(x, n, "x");
        y.check(size(), n, "ys"), given.check(size(), n, "given variables");
    }
};

struct Answer {
    std::vector<std::int64_t> start{0}, slice_start{0}, set_start{0};  // of every table; of every question
    std::vector<std::int64_t> some_row;                                // of every slice
    Grown<Cell> cells;                                                 // by slice, level of x, level of y
    Grown<Set> sets;

    void clear() {
        start.assign(1, 0), slice_start.assign(1, 0), set_start.assign(1, 0);
        some_row.clear(), cells.clear(), sets.clear();
    }
};

// The workspace of one thread.
class Counter {
  public:
    explicit Counter(const Table& table) : table_(table), counts_(table), tiles_(table.blocks.size()), totals_(table.blocks.size()) {}
    Answer answer;  // to what was asked last
    void count(const Questions& asked);

    // Mutual information of every x and y, in nats, in the rows that know both; nothing is given.
    void information(const Questions& asked, std::span<double> out);

  private:
    const Table& table_;
    BitCounts counts_;
    LevelCounts level_counts_;
    int x_ = -1;  // what the rows are split by
    std::vector<std::int64_t> given_;
    struct Tile {  // counts of a block
        bool ready = false;
        int n_asked = 0;
        std::size_t from = 0;
        Matrix<std::int32_t> counts;
    };
    std::vector<Tile> tiles_;
    std::vector<int> row_;  // of every question without given variables: where its levels begin in tiles
    std::vector<std::vector<std::int32_t>> totals_;
    std::vector<const std::uint64_t*> masks_;
    std::vector<std::int32_t*> places_;
    std::vector<LevelCount> sorted_;
    std::vector<double> n_log_n_, nats_, sum_;  // n log n; mutual information of all variables; of a block, before it is divided
    std::vector<std::int32_t> sums_;      // over the levels of x or y, for all variables of a block

    template <class Work>
    void for_each(const Questions& asked, Work work);
    void ask(int x, Members given);
    bool is_simple(const Questions& asked, std::size_t q) const { return asked.given[q].empty() && !table_.is_wide(int(asked.x.data()[q])); }
    void look(const Questions& asked, std::size_t first, std::size_t last);
    void count_simple(const Questions& asked, std::size_t first, std::size_t last);
    void count_blocks(const Questions& asked, std::size_t q);
    void add_tables(const Questions& asked, std::size_t q, int row);
    void add_counted(const Block& block, std::size_t position, const Matrix<std::int32_t>& counts, int row);
    void add_one(int y);
    void block_information(std::size_t b, int x, int row);
    double information_of(std::span<const Cell> cells);
    const std::vector<std::int32_t>& totals(std::size_t b);
};

}  // namespace ibmap
