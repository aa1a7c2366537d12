// Tables of several partitions of the rows → their sum: slices are matched by their keys.
#pragma once
#include "cells.hpp"
#include "counter.hpp"

namespace ibmap {

class Merger {
  public:
    // The parts answer the same questions; their lists have been checked.
    Merger(std::span<const Cells> parts, const std::vector<int>& levels);
    void merge(Answer& out, std::vector<std::int64_t>& keys);

  private:
    struct Slice {
        std::uint64_t code;         // of the first members
        const std::int64_t* key;
        std::int32_t part, number;  // within its part and question
    };
    struct Entry {
        std::int64_t slice, x, y, rows;
        auto place() const { return std::tuple(slice, x, y); }
    };
    struct List {  // of cells, or of sets: those of a y with one level
        std::int64_t size;
        const std::int64_t *slice, *x, *y, *rows, *number;
    };
    std::span<const Cells> parts_;
    const std::vector<int>& levels_;
    std::vector<Slice> slices_;
    std::vector<std::vector<std::int64_t>> number_;  // of every part: the new number of each slice of the question
    std::vector<std::int64_t> first_key_;            // of every part
    std::vector<List> lists_;  // of every part
    std::vector<Entry> entries_;
    std::vector<std::int64_t> places_;

    std::int64_t merge_keys(std::size_t q, std::vector<std::int64_t>& keys);
    template <class T>
    void add_up(std::int64_t n_slices, std::int64_t n_x, std::int64_t n_y, Grown<T>& out);
};

}  // namespace ibmap
