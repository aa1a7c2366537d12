// Rows of numbers that start on cache lines, so that loops over a row are whole vectors.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace ibmap {

#ifdef __AVX512F__
inline constexpr int VECTOR = 64;  // bytes; compilers send vectors wider than the processor's through the stack
#else
inline constexpr int VECTOR = 32;
#endif
inline constexpr int LANES = VECTOR / 8;

using Doubles = double __attribute__((vector_size(VECTOR), aligned(8), may_alias));

inline Doubles& lanes(double* p) { return *reinterpret_cast<Doubles*>(p); }
inline const Doubles& lanes(const double* p) { return *reinterpret_cast<const Doubles*>(p); }

inline constexpr std::size_t padded(std::size_t n, std::size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

template <class T>
struct CacheLines {  // an allocator
    using value_type = T;
    CacheLines() = default;
    template <class U>
    CacheLines(const CacheLines<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64})); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
    template <class U>
    bool operator==(const CacheLines<U>&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheLines<T>>;

template <class T>
class Matrix {
  public:
    static constexpr std::size_t LINE = 64 / sizeof(T);

    Matrix() = default;
    Matrix(std::size_t rows, std::size_t columns, T fill = {}) { resize(rows, columns, fill); }
    void resize(std::size_t rows, std::size_t columns, T fill = {}) {
        reserve(rows, columns);
        std::fill_n(values_.begin(), rows * stride_, fill);
    }
    void reserve(std::size_t rows, std::size_t columns) {  // what was there before means nothing any more
        rows_ = rows, columns_ = columns, stride_ = padded(columns, LINE);
        if (values_.size() < rows * stride_) values_.resize(rows * stride_);
    }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::size_t stride() const { return stride_; }
    T* operator[](std::size_t row) { return values_.data() + row * stride_; }
    const T* operator[](std::size_t row) const { return values_.data() + row * stride_; }

  private:
    std::size_t rows_ = 0, columns_ = 0, stride_ = 0;
    AlignedVector<T> values_;
};

}  // namespace ibmap
