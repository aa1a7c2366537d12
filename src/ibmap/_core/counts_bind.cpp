// Tables of counts for Python: counted, added up over partitions of the rows, and their margins.
#include "bind.hpp"
#include "chains.hpp"
#include "merge.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace ibmap {

namespace {

using Ints2 = Table2<const std::int64_t>;

// Fields of a list, each a row of an array.
template <class T, class... Fields>
nb::object as_rows(const Grown<T>& list, Fields... fields) {
    const std::size_t n = list.size();
    auto* values = new std::int64_t[sizeof...(fields) * n];
    const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
    std::int64_t* row = values;
    auto copy = [&](auto field) {
        for (const T& each : list.all()) *row++ = each.*field;
    };
    (copy(fields), ...);
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t>(values, {sizeof...(fields), n}, owner));
}

nb::object cells_of(const Answer& answer) { return as_rows(answer.cells, &Cell::slice, &Cell::x, &Cell::y, &Cell::rows); }

nb::tuple as_tuple(Answer& answer, std::vector<std::int64_t> of_slices) {
    return nb::make_tuple(to_numpy(std::move(answer.start)), cells_of(answer), to_numpy(std::move(answer.slice_start)), to_numpy(std::move(of_slices)),
                          to_numpy(std::move(answer.set_start)), as_rows(answer.sets, &Set::slice, &Set::x, &Set::rows));
}

// Call work(counter) with a workspace of the table, without the interpreter's lock; it comes back.
template <class Work>
std::unique_ptr<Counter> with_counter(const Table& table, Work work) {
    nb::gil_scoped_release unlocked;
    auto counter = table.counters().take([&] { return std::make_unique<Counter>(table); });
    work(*counter);
    return counter;
}

nb::tuple count(const Table& table, Ints x, Ints y_start, Ints y, Ints given_start, Ints given) {
    const Questions asked{x, {y_start, y}, {given_start, given}};
    asked.check(table.n);
    auto counter = with_counter(table, [&](Counter& counter) { counter.count(asked); });
    nb::tuple out = as_tuple(counter->answer, std::move(counter->answer.some_row));
    table.counters().give(std::move(counter));
    return out;
}

nb::object information(const Table& table, Ints x, Ints y_start, Ints y) {
    const std::vector<std::int64_t> none(x.shape(0) + 1, 0);
    const Questions asked{x, {y_start, y}, {Ints(none.data(), {none.size()}), Ints(none.data(), {0})}};
    asked.check(table.n);
    std::vector<double> out(y.shape(0));
    table.counters().give(with_counter(table, [&](Counter& counter) { counter.information(asked, out); }));
    return nb::cast(to_numpy(std::move(out)));
}

nb::object keys(const Table& table, Ints given_start, Ints given, Ints slice_start, Ints some_row) {
    const Lists lists{given_start, given}, rows{slice_start, some_row};
    const std::size_t n = given_start.shape(0) ? given_start.shape(0) - 1 : 0;
    lists.check(n, table.n, "given variables"), rows.check(n, table.n_rows, "rows");
    std::vector<std::int64_t> out;
    for (std::size_t q = 0; q < n; ++q)
        for (std::int64_t row : rows[q])
            for (std::int64_t v : lists[q]) out.push_back(table.level_of(int(v), row));
    return nb::cast(to_numpy(std::move(out)));
}

// slice_start, keys, set_start, sets, start, cells
using Part = std::tuple<Ints, Ints, Ints, Ints2, Ints, Ints2>;

nb::tuple merge(Ints levels, Ints x, Ints y_start, Ints y, Ints given_start, Ints given, const std::vector<Part>& parts) {
    std::vector<int> sizes;
    for (std::int64_t r : span_of(levels)) {
        if (r < 0 || r >= std::int64_t(1) << 31) throw std::invalid_argument("levels out of range");
        sizes.push_back(int(r));
    }
    std::vector<Cells> cells;
    for (const auto& [slice_start, keys, set_start, sets, start, list] : parts)
        cells.push_back({x, y, y_start, given, given_start, slice_start, keys, set_start, sets, start, list}), cells.back().check_lists(sizes);
    if (cells.empty()) throw std::invalid_argument("a sum has at least one part");
    static Spare<Answer> spare;
    auto answer = spare.take([] { return std::make_unique<Answer>(); });
    std::vector<std::int64_t> of_slices;
    {
        nb::gil_scoped_release unlocked;
        answer->clear();
        Merger(cells, sizes).merge(*answer, of_slices);
    }
    nb::tuple out = as_tuple(*answer, std::move(of_slices));
    spare.give(std::move(answer));
    return out;
}

// x against each given variable, given the others: the slices that agree on these are one.
nb::tuple margins(Ints given_start, Ints given, Ints slice_start, Ints keys, Ints set_start, Ints2 sets) {
    const std::size_t n = given_start.shape(0) ? given_start.shape(0) - 1 : 0, n_sets = sets.shape(1);
    const std::int64_t *slice = sets.data(), *level = slice + n_sets, *rows = level + n_sets;
    auto require = [](bool holds) {
        if (!holds) throw std::invalid_argument("the slices do not fit their questions");
    };
    require(sets.shape(0) == 3 && slice_start.shape(0) == n + 1 && set_start.shape(0) == n + 1 && given_start.shape(0) == n + 1);
    require(given_start.data()[0] == 0 && given_start.data()[n] == std::int64_t(given.shape(0)) && slice_start.data()[0] == 0);
    require(set_start.data()[0] == 0 && set_start.data()[n] == std::int64_t(n_sets));
    std::int64_t n_keys = 0;
    for (std::size_t q = 0; q < n; ++q) {
        const std::int64_t size = given_start.data()[q + 1] - given_start.data()[q], n_slices = slice_start.data()[q + 1] - slice_start.data()[q];
        require(size >= 0 && n_slices >= 0 && set_start.data()[q] <= set_start.data()[q + 1]);
        n_keys += size * n_slices;
        for (std::int64_t s = set_start.data()[q]; s < set_start.data()[q + 1]; ++s) require(0 <= slice[s] && slice[s] < n_slices);
    }
    require(n_keys == std::int64_t(keys.shape(0)));
    Answer answer;
    {
        nb::gil_scoped_release unlocked;
        Chains<std::int64_t> chains;
        std::vector<std::int64_t> first_set;
        const std::int64_t* code = keys.data();
        for (std::size_t q = 0; q < n; ++q) {
            const auto size = std::size_t(given_start.data()[q + 1] - given_start.data()[q]), n_slices = std::size_t(slice_start.data()[q + 1] - slice_start.data()[q]);
            first_set.assign(n_slices + 1, set_start.data()[q]);
            for (std::int64_t s = set_start.data()[q]; s < set_start.data()[q + 1]; ++s) first_set[std::size_t(slice[s]) + 1] = s + 1;
            for (std::size_t k = 0; k < n_slices; ++k) first_set[k + 1] = std::max(first_set[k], first_set[k + 1]);
            chains.set({code, size * n_slices}, n_slices, size);
            for (std::size_t j = 0; j < size; ++j) {
                const int n_chains = chains.without(j);
                for (int merged = 0; merged < n_chains; ++merged) {
                    const std::size_t before = answer.cells.size();
                    for (int k = chains.head[merged]; k >= 0; k = chains.after[k]) {
                        const std::int64_t begin = first_set[k], end = first_set[k + 1];
                        Cell* cell = answer.cells.room(std::size_t(end - begin));
                        for (std::int64_t s = begin; s < end; ++s) *cell++ = {merged, std::int32_t(level[s]), std::int32_t(code[k * size + j]), std::int32_t(rows[s])};
                        answer.cells.end(cell);
                    }
                    if (chains.after[chains.head[merged]] < 0) continue;  // one slice alone is sorted
                    Cell* last = answer.cells.room(0);
                    std::sort(last - (answer.cells.size() - before), last, [](const Cell& a, const Cell& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
                }
                answer.start.push_back(std::int64_t(answer.cells.size()));
            }
            code += size * n_slices;
        }
    }
    return nb::make_tuple(to_numpy(std::move(answer.start)), cells_of(answer));
}

// Whether all these are variables of a table of n.
bool are_variables(std::int64_t n, Ints x, Ints y, Ints given) {
    bool inside = true;
    for (const Ints& some : {x, y, given})
        for (std::int64_t v : span_of(some)) inside &= std::uint64_t(v) < std::uint64_t(n);
    return inside;
}

}  // namespace

void bind_counts(nb::module_& module, nb::class_<Table>& table) {
    table.def("count", &count, nb::arg("x"), nb::arg("y_start"), nb::arg("y"), nb::arg("given_start"), nb::arg("given"));
    table.def("information", &information, nb::arg("x"), nb::arg("y_start"), nb::arg("y"));
    table.def("keys", &keys, nb::arg("given_start"), nb::arg("given"), nb::arg("slice_start"), nb::arg("some_row"));
    table.def("forget", [](const Table& self) { self.counters().forget(); });
    module.def("merge", &merge, nb::arg("levels"), nb::arg("x"), nb::arg("y_start"), nb::arg("y"), nb::arg("given_start"), nb::arg("given"), nb::arg("parts"));
    module.def("margins", &margins, nb::arg("given_start"), nb::arg("given"), nb::arg("slice_start"), nb::arg("keys"), nb::arg("set_start"), nb::arg("sets"));
    module.def("are_variables", &are_variables, nb::arg("n"), nb::arg("x"), nb::arg("y"), nb::arg("given"));
}

}  // namespace ibmap
