#include "dag.hpp"

#include "bind.hpp"
#include "lists.hpp"

#include <nanobind/stl/tuple.h>

namespace ibmap {

namespace {

void check(const Dag& dag, std::int64_t x, std::int64_t y) {
    if (std::min(x, y) < 0 || std::max(x, y) >= dag.n) throw std::invalid_argument("there is no such variable");
}

}  // namespace

void bind_dag(nb::module_& module) {
    nb::class_<Dag>(module, "Dag")
        .def(nb::init<Table2<const bool>, Table2<const bool>, std::int64_t, double, std::int64_t>(), nb::arg("required"), nb::arg("forbidden"),
             nb::arg("max_parents"), nb::arg("tolerance"), nb::arg("most_kept"))
        .def_prop_ro("mark", &Dag::mark)
        .def("arcs", [](const Dag& dag) {
            std::vector<std::int64_t> out;
            for (int x = 0; x < dag.n; ++x)
                for (int y : dag.parents(x)) out.push_back(x), out.push_back(y);
            const std::size_t size = out.size() / 2;
            return to_numpy(std::move(out), {size, 2});
        })
        .def("ancestors", [](const Dag& dag) {
            std::vector<std::uint8_t> out;
            for (int x = 0; x < dag.n; ++x)
                for (int y = 0; y < dag.n; ++y) out.push_back(dag.is_ancestor(x, y));
            return to_numpy(std::move(out), {std::size_t(dag.n), std::size_t(dag.n)});
        })
        .def("evidence", [](const Dag& dag) {
            std::vector<double> out;
            for (int x = 0; x < dag.n; ++x)
                for (int y = 0; y < dag.n; ++y) out.push_back(dag.evidence(x, y));
            return to_numpy(std::move(out), {std::size_t(dag.n), std::size_t(dag.n)});
        })
        .def("parents", [](const Dag& dag, std::int64_t x) {
            check(dag, x, x);
            const auto& mine = dag.parents(int(x));
            return to_numpy(std::vector<std::int64_t>(mine.begin(), mine.end()));
        }, nb::arg("x"))
        .def("gain", [](const Dag& dag, std::int64_t x, std::int64_t y) {
            check(dag, x, y);
            return dag.evidence(int(x), int(y));
        }, nb::arg("x"), nb::arg("y"))
        .def("put", [](Dag& dag, Ints xs, Ints start, Vector<const std::int32_t> y, Vector<const double> t, bool keeps) {
            const std::size_t rows = xs.shape(0), size = y.shape(0);
            check_variables(xs, dag.n, "x");
            bool holds = start.shape(0) == rows + 1 && start.data()[0] == 0 && start.data()[rows] == std::int64_t(size) && t.shape(0) == size;
            for (std::size_t q = 0; holds && q < rows; ++q) holds = start.data()[q] <= start.data()[q + 1];
            for (std::size_t i = 0; holds && i < size; ++i) holds = 0 <= y.data()[i] && y.data()[i] < dag.n;
            if (!holds) throw std::invalid_argument("these are not rows");
            for (std::size_t q = 0; q < rows; ++q) {
                const auto begin = std::size_t(start.data()[q]), n_listed = std::size_t(start.data()[q + 1]) - begin;
                dag.put(int(xs.data()[q]), span_of(y).subspan(begin, n_listed), span_of(t).subspan(begin, n_listed), keeps);
            }
        }, nb::arg("xs"), nb::arg("start"), nb::arg("y"), nb::arg("t"), nb::arg("keeps") = true)
        .def("look_up", [](Dag& dag, std::int64_t x) {
            check(dag, x, x);
            return dag.look_up(int(x));
        }, nb::arg("x"))
        .def("begin", &Dag::begin)
        .def("remember", &Dag::remember)
        .def("move", [](Dag& dag, int kind, std::int64_t x, std::int64_t y) {
            check(dag, x, y);
            dag.move(kind, int(x), int(y));
        }, nb::arg("kind"), nb::arg("x"), nb::arg("y"))
        .def("can_reverse", [](const Dag& dag, std::int64_t x, std::int64_t y) {
            check(dag, x, y);
            return dag.is_arc(int(x), int(y)) && dag.can_reverse(int(x), int(y));
        }, nb::arg("x"), nb::arg("y"))
        .def("best_move", &Dag::best_move);
}

}  // namespace ibmap
