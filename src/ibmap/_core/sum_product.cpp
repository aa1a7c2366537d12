// Sums and products of strided tables of logarithms: what inference in a junction tree is made of.
//
// A program is a list of steps. A step goes over all cells of a table, adds up the entries of its operands there, and
// adds the exponentials into its target, as logarithms. An operand or a target is a place in a workspace, and a stride
// for every dimension of the table; a stride of 0 leaves a dimension out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"

namespace ibmap {

namespace {

using Index = std::int64_t;
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr Index most_cells = Index{1} << 31;

struct Operand {
    Index place;
    std::span<const Index> stride;
};

struct Step {
    std::span<const Index> size;    // of the dimensions
    std::vector<Operand> operands;  // the target is the last
    Index n_cells, n_targets;
};

// The cells of a table line by line: a line is the last dimension, and of the others the last runs fastest.
class Lines {
  public:
    Lines(std::span<const Index> size, std::span<const Operand> operands)
        : size_(size), operands_(operands), digit_(size.size(), 0), position_(operands.size()) {
        for (std::size_t o = 0; o < operands.size(); ++o) position_[o] = operands[o].place;
    }

    Index operator[](std::size_t operand) const { return position_[operand]; }

    void advance() {
        for (Index d = Index(size_.size()) - 2; d >= 0; --d) {
            const bool turned = ++digit_[d] == size_[d];
            for (std::size_t o = 0; o < position_.size(); ++o)
                position_[o] += operands_[o].stride[d] * (turned ? 1 - size_[d] : 1);
            if (!turned) return;
            digit_[d] = 0;
        }
    }

  private:
    std::span<const Index> size_;
    std::span<const Operand> operands_;
    std::vector<Index> digit_, position_;
};

class SumProduct {
  public:
    SumProduct(Vector<const Index> shape, Vector<const Index> size, Vector<const Index> places, Vector<const Index> place,
               Vector<const Index> stride, Index work_size)
        : size_(size.data(), size.data() + size.size()), stride_(stride.data(), stride.data() + stride.size()),
          work_size_(work_size) {
        if (work_size < 0 || work_size > most_cells) throw std::invalid_argument("work_size is out of range");
        check_starts(span_of(shape), size_.size(), "shape");
        check_starts(span_of(places), place.size(), "places");
        if (shape.size() != places.size()) throw std::invalid_argument("shape and places must be about the same steps");
        std::size_t next = 0;
        for (std::size_t s = 0; s + 1 < shape.size(); ++s) {
            const std::size_t first = shape.data()[s], n_dims = shape.data()[s + 1] - first;
            Step step{std::span(size_).subspan(first, n_dims), {}, 1, 1};
            for (Index p = places.data()[s]; p < places.data()[s + 1]; ++p, next += n_dims) {
                if (next + n_dims > stride_.size()) throw std::invalid_argument("stride must have a number per dimension");
                step.operands.push_back({place.data()[p], std::span<const Index>(stride_).subspan(next, n_dims)});
            }
            check(step);
            steps_.push_back(std::move(step));
        }
    }

    SumProduct(const SumProduct&) = delete;  // steps are views of size_ and stride_

    void run(Vector<double> work, std::size_t first, std::size_t last) const {
        if (Index(work.size()) < work_size_) throw std::invalid_argument("the workspace is too small");
        if (first > last || last > steps_.size()) throw std::invalid_argument("there are no such steps");
        const nb::gil_scoped_release unlocked;
        Interrupt interrupt;
        Index largest = 0;
        for (std::size_t s = first; s < last; ++s) largest = std::max(largest, steps_[s].n_cells);
        const auto sums = std::make_unique_for_overwrite<double[]>(largest);
        const auto peak = std::make_unique_for_overwrite<double[]>(largest);
        for (std::size_t s = first; s < last; ++s) {
            run_step(steps_[s], work.data(), sums.get(), peak.get());
            interrupt.after(steps_[s].n_cells);
        }
    }

  private:
    static void check_starts(std::span<const Index> start, std::size_t end, const char* name) {
        if (start.empty() || start[0] != 0 || start.back() != Index(end) || !std::ranges::is_sorted(start))
            throw std::invalid_argument(std::string(name) + " must rise from 0 to the number of its entries");
    }

    // Count the cells, and make sure that none is outside of the workspace.
    void check(Step& step) const {
        if (step.size.empty() || step.operands.empty()) throw std::invalid_argument("a step needs dimensions and a target");
        for (std::size_t d = 0; d < step.size.size(); ++d) {
            if (step.size[d] < 1 || step.size[d] > most_cells / step.n_cells)
                throw std::invalid_argument("a table has no cells, or too many");
            step.n_cells *= step.size[d];
            if (step.operands.back().stride[d] != 0) step.n_targets *= step.size[d];
        }
        for (const auto& operand : step.operands) {
            const Index last = reach(step, operand);
            if (operand.place < 0 || operand.place >= work_size_ || last >= work_size_ - operand.place)
                throw std::invalid_argument("a table is outside of the workspace");
        }
        if (reach(step, step.operands.back()) >= step.n_targets) throw std::invalid_argument("a target has gaps");
    }

    Index reach(const Step& step, const Operand& operand) const {
        Index last = 0;
        for (std::size_t d = 0; d < step.size.size(); ++d) {
            if (operand.stride[d] < 0 || operand.stride[d] > work_size_) throw std::invalid_argument("a stride is out of range");
            last += operand.stride[d] * (step.size[d] - 1);
            if (last > work_size_) throw std::invalid_argument("a table is outside of the workspace");
        }
        return last;
    }

    // log Σ exp: the largest sum of each target first, which keeps exponentials from overflowing.
    static void run_step(const Step& step, double* work, double* sums, double* peak) {
        const std::size_t n = step.operands.size() - 1;
        const Operand& target = step.operands[n];
        const Index line = step.size.back(), along = target.stride.back();
        std::fill_n(peak, step.n_targets, minus_infinity);
        Lines lines(step.size, step.operands);
        for (Index cell = 0; cell < step.n_cells; cell += line, lines.advance()) {
            std::fill_n(sums + cell, line, 0.0);
            for (std::size_t o = 0; o < n; ++o) {
                const double* entry = work + lines[o];
                const Index stride = step.operands[o].stride.back();
                for (Index j = 0; j < line; ++j) sums[cell + j] += entry[j * stride];
            }
            double* highest = peak + (lines[n] - target.place);
            for (Index j = 0; j < line; ++j) highest[j * along] = std::max(highest[j * along], sums[cell + j]);
        }
        double* out = work + target.place;
        if (step.n_cells == step.n_targets) {  // nothing is added up
            std::copy_n(peak, step.n_targets, out);
            return;
        }
        std::fill_n(out, step.n_targets, 0.0);
        Lines again(step.size, std::span(step.operands).last(1));
        for (Index cell = 0; cell < step.n_cells; cell += line, again.advance()) {
            const Index at = again[0] - target.place;
            for (Index j = 0; j < line; ++j) {
                const Index t = at + j * along;
                if (peak[t] > minus_infinity) out[t] += exp_below_zero(sums[cell + j] - peak[t]);
            }
        }
        for (Index t = 0; t < step.n_targets; ++t)
            out[t] = peak[t] > minus_infinity ? peak[t] + std::log(out[t]) : minus_infinity;
    }

    std::vector<Index> size_, stride_;
    Index work_size_;
    std::vector<Step> steps_;
};

}  // namespace

void bind_sum_product(nb::module_& module) {
    nb::class_<SumProduct>(module, "SumProduct")
        .def(nb::init<Vector<const Index>, Vector<const Index>, Vector<const Index>, Vector<const Index>,
                      Vector<const Index>, Index>(),
             nb::arg("shape"), nb::arg("size"), nb::arg("places"), nb::arg("place"), nb::arg("stride"),
             nb::kw_only(), nb::arg("work_size"))
        .def("run", &SumProduct::run, nb::arg("work").noconvert(), nb::arg("first"), nb::arg("last"));
}

}  // namespace ibmap
