// Arrays between Python and C++: spans of what NumPy owns come in, vectors go out without a copy.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace ibmap {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // one dimension, contiguous
template <class T>
using Table2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;  // two dimensions, row by row

template <class T>
std::span<T> span_of(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

// A NumPy array that owns a vector.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape, owner);
}

template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

}  // namespace ibmap
