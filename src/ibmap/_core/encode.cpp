// Whole numbers → levels, codes and bits, column by column or a table at once; bits → codes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "bind.hpp"
#include "interrupt.hpp"

#if defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ibmap {

namespace {

constexpr std::int64_t WIDE = 32;            // a column with more levels keeps its codes: bits would take more memory
constexpr std::int64_t MOST_SPAN = 1 << 17;  // of values that are coded through a table
constexpr std::int64_t BASE = 16;            // values in [-BASE, 64 - BASE) have a bit of their own in one word
constexpr std::int64_t TILE = 32;            // rows and columns that stay in the first-level cache while they are turned
constexpr std::uint8_t ABSENT = 255;

using AnyArray1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyArray2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Words = std::vector<std::uint64_t>;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

std::size_t words_for(std::size_t n_rows) { return std::max<std::size_t>(1, (n_rows + 63) / 64); }

// Calls work(T{}) for the type of an array's elements.
template <class Work>
auto with_type(nb::dlpack::dtype type, Work work) {
    if (type == nb::dtype<bool>() || type == nb::dtype<std::uint8_t>()) return work(std::uint8_t{});
    if (type == nb::dtype<std::int8_t>()) return work(std::int8_t{});
    if (type == nb::dtype<std::uint16_t>()) return work(std::uint16_t{});
    if (type == nb::dtype<std::int16_t>()) return work(std::int16_t{});
    if (type == nb::dtype<std::uint32_t>()) return work(std::uint32_t{});
    if (type == nb::dtype<std::int32_t>()) return work(std::int32_t{});
    if (type == nb::dtype<std::uint64_t>()) return work(std::uint64_t{});
    if (type == nb::dtype<std::int64_t>()) return work(std::int64_t{});
    if (type == nb::dtype<float>()) return work(float{});
    if (type == nb::dtype<double>()) return work(double{});
    throw std::invalid_argument("an array must hold whole numbers, floats or truth values");
}

template <class T>
bool is_whole(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::nearbyint(value) == value;
    return true;
}

// Smallest and largest of some values; those that are missing or NaN do not count.
template <class T>
struct Range {
    T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
    bool whole = true;

    void add(T value) {
        low = value < low ? value : low, high = value > high ? value : high;
        whole &= is_whole(value) || value != value;
    }
    bool is_empty() const { return low > high; }
    // Whether all values fit a table of moderate size.
    bool is_narrow() const {
        if constexpr (std::is_floating_point_v<T>) {
            if (!whole || low < -0x1p62 || high > 0x1p62) return false;
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
            if (high > std::uint64_t(1) << 62) return false;
        }
        return std::uint64_t(std::int64_t(high)) - std::uint64_t(std::int64_t(low)) < std::uint64_t(MOST_SPAN);
    }
};

// A word whose bit r is set where byte r of 64 has a value.
[[gnu::always_inline]] inline std::uint64_t equal_to(const std::uint8_t* bytes, std::uint8_t value) {
#ifdef __AVX512BW__
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(char(value)));
#elif defined(__AVX2__)
    const __m256i wanted = _mm256_set1_epi8(char(value));
    const auto half = [&](const std::uint8_t* from) {
        const __m256i there = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        return std::uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(there, wanted)));
    };
    return std::uint64_t(half(bytes + 32)) << 32 | half(bytes);
#else
    std::uint64_t word = 0;
    for (int r = 0; r < 64; ++r) word |= std::uint64_t(bytes[r] == value) << r;
    return word;
#endif
}

// Pack bytes of which each of the wanted ones has a row of bits; fill(first, n, bytes) writes some of them.
template <class Fill>
void pack(std::size_t n_rows, std::span<const std::uint8_t> wanted, std::uint64_t* bits, Fill fill) {
    const std::size_t n_words = words_for(n_rows);
    alignas(64) std::uint8_t bytes[64];
    for (std::size_t w = 0; w < n_words; ++w) {
        const std::size_t n = std::min<std::size_t>(64, n_rows - 64 * w);
        if (n < 64) std::fill_n(bytes, 64, ABSENT);
        fill(64 * w, n, bytes);
        for (std::size_t k = 0; k < wanted.size(); ++k) bits[k * n_words + w] = equal_to(bytes, wanted[k]);
    }
}

// The levels of a column, ascending, and its rows: bits of every level, or codes if there are many.
struct Encoded {
    std::vector<std::int64_t> levels;
    Words bits;
    std::vector<std::int32_t> codes;
    std::int64_t n_known = 0;
};

template <class T>
std::optional<Encoded> encode(std::span<const T> values, const bool* missing) {
    Range<T> range;
    if (missing) {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!missing[i]) range.add(values[i]);
    } else {
        for (const T value : values) range.add(value);
    }
    Encoded out;
    if (range.is_empty()) return out;
    if (!range.is_narrow()) return std::nullopt;
    const auto low = std::int64_t(range.low), span = std::int64_t(range.high) - low + 1;
    const auto is_known = [&](std::size_t i) { return !(missing && missing[i]) && values[i] == values[i]; };
    std::vector<std::int64_t> present;  // which values occur, above the lowest
    std::vector<std::uint8_t> seen(span > WIDE ? span : 0);
    if (span > WIDE) {
        for (std::size_t i = 0; i < values.size(); ++i)
            if (is_known(i)) seen[std::int64_t(values[i]) - low] = 1;
    }
    for (std::int64_t v = 0; v < span; ++v)
        if (span <= WIDE || seen[v]) present.push_back(v);
    std::vector<std::int32_t> code(span >= ABSENT || std::int64_t(present.size()) > WIDE ? span : 0, -1);  // where values are no bytes
    for (std::size_t k = 0; k < present.size() && !code.empty(); ++k) code[present[k]] = std::int32_t(k);
    if (std::int64_t(present.size()) > WIDE) {
        for (const std::int64_t v : present) out.levels.push_back(low + v);
        out.codes.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            out.codes[i] = is_known(i) ? code[std::int64_t(values[i]) - low] : -1;
            out.n_known += out.codes[i] >= 0;
        }
        return out;
    }
    std::vector<std::uint8_t> wanted(present.begin(), present.end());
    if (!code.empty()) std::iota(wanted.begin(), wanted.end(), std::uint8_t(0));
    const std::size_t n_words = words_for(values.size());
    out.bits.resize(wanted.size() * n_words);
    pack(values.size(), wanted, out.bits.data(), [&](std::size_t first, std::size_t n, std::uint8_t* bytes) {
        const T* from = values.data() + first;
        if (!code.empty()) {
            for (std::size_t r = 0; r < n; ++r) bytes[r] = is_known(first + r) ? std::uint8_t(code[std::int64_t(from[r]) - low]) : ABSENT;
            return;
        }
        if constexpr (std::is_floating_point_v<T>) {
            for (std::size_t r = 0; r < n; ++r) bytes[r] = from[r] == from[r] ? std::uint8_t(std::int64_t(from[r] - range.low)) : ABSENT;
        } else {
            for (std::size_t r = 0; r < n; ++r) bytes[r] = std::uint8_t(from[r] - range.low);
        }
        if (missing)
            for (std::size_t r = 0; r < n; ++r)
                if (missing[first + r]) bytes[r] = ABSENT;
    });
    std::size_t kept = 0;  // levels that no row has leave no bits behind
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        std::int64_t count = 0;
        for (std::size_t w = 0; w < n_words; ++w) count += std::popcount(out.bits[k * n_words + w]);
        if (!count) continue;
        if (kept < k) std::copy_n(out.bits.begin() + std::ptrdiff_t(k * n_words), n_words, out.bits.begin() + std::ptrdiff_t(kept * n_words));
        out.levels.push_back(low + present[k]), out.n_known += count, ++kept;
    }
    out.bits.resize(kept * n_words);
    return out;
}

nb::object encode_column(AnyArray1 values, std::optional<Vector<const bool>> missing) {
    require(!missing || missing->shape(0) == values.shape(0), "one flag for every value");
    std::optional<Encoded> found;
    {
        nb::gil_scoped_release unlocked;
        found = with_type(values.dtype(), [&]<class T>(T) {
            return encode<T>({static_cast<const T*>(values.data()), values.shape(0)}, missing ? missing->data() : nullptr);
        });
    }
    if (!found) return nb::none();
    const std::size_t n_levels = found->levels.size();
    nb::object rows = found->codes.empty()
                          ? nb::cast(to_numpy(std::move(found->bits), {n_levels, words_for(values.shape(0))}))
                          : nb::cast(to_numpy(std::move(found->codes)));
    return nb::make_tuple(to_numpy(std::move(found->levels)), rows, found->n_known);
}

// A table with strides, row by row or column by column.
template <class T>
struct Cells {
    const T* data;
    std::int64_t n_rows, n_columns, row_stride, column_stride;

    const T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row_stride + j * column_stride]; }

    // Calls work(value, column) for every cell, in the order in which they stand.
    template <class Work>
    void each(Work work) const {
        Interrupt interrupt;
        if (column_stride == 1) {
            for (std::int64_t i = 0; i < n_rows; ++i, interrupt.after(n_columns)) {
                const T* row = data + i * row_stride;
                const std::int64_t n = n_columns;
#pragma GCC ivdep
                for (std::int64_t j = 0; j < n; ++j) work(row[j], j);
            }
        } else {
            for (std::int64_t j = 0; j < n_columns; ++j, interrupt.after(n_rows))
                for (std::int64_t i = 0; i < n_rows; ++i) work((*this)(i, j), j);
        }
    }
};

// Which values the columns of a table hold: flags of column j begin at start[j] and stand for low[j] and so on.
struct Present {
    std::vector<std::int64_t> low, start;
    std::vector<std::uint8_t> flags;
};

// Values around 0, found in one pass that needs no bounds.
template <class T>
bool find_small(const Cells<T>& cells, Present& out) {
    Words seen(cells.n_columns, 0);
    std::uint64_t* word = seen.data();
    std::uint64_t outside = 0;
    cells.each([&](T value, std::int64_t j) {
        std::uint64_t bit = 64;
        if constexpr (std::is_floating_point_v<T>) {
            const T near = value >= T(-BASE) && value < T(64 - BASE) ? value : T(64);
            bit = std::uint64_t(std::int64_t(near) + BASE) | std::uint64_t(T(std::int64_t(near)) != near) << 6;
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
            bit = std::min<std::uint64_t>(value, 64) + BASE;
        } else {
            bit = std::uint64_t(std::int64_t(value)) + BASE;
        }
        outside |= bit & ~std::uint64_t(63);
        word[j] |= std::uint64_t(1) << (bit & 63);
    });
    if (outside) return false;
    out.low.assign(cells.n_columns, -BASE), out.flags.resize(64 * cells.n_columns);
    for (std::int64_t j = 0; j < cells.n_columns; ++j) {
        out.start.push_back(64 * j);
        for (int bit = 0; bit < 64; ++bit) out.flags[64 * j + bit] = seen[j] >> bit & 1;
    }
    return true;
}

template <class T>
bool find_narrow(const Cells<T>& cells, Present& out) {
    std::vector<T> lowest(cells.n_columns, std::numeric_limits<T>::max()), highest(cells.n_columns, std::numeric_limits<T>::lowest());
    T *low = lowest.data(), *high = highest.data();
    bool whole = true;
    cells.each([&](T value, std::int64_t j) {
        low[j] = value < low[j] ? value : low[j], high[j] = value > high[j] ? value : high[j];
        whole &= is_whole(value);
    });
    std::int64_t total = 0;
    for (std::int64_t j = 0; j < cells.n_columns; ++j) {
        if (!Range<T>{low[j], high[j], whole}.is_narrow()) return false;
        out.low.push_back(std::int64_t(low[j])), out.start.push_back(total);
        total += std::int64_t(high[j]) - std::int64_t(low[j]) + 1;
    }
    if (total > std::max<std::int64_t>(1 << 20, cells.n_rows * cells.n_columns)) return false;
    out.flags.resize(total);
    std::vector<std::int64_t> offset(cells.n_columns);
    for (std::int64_t j = 0; j < cells.n_columns; ++j) offset[j] = out.start[j] - out.low[j];
    std::uint8_t* flags = out.flags.data();
    const std::int64_t* at = offset.data();
    cells.each([=](T value, std::int64_t j) { flags[at[j] + std::int64_t(value)] = 1; });
    return true;
}

template <class Code, class T>
nb::object write_codes(const char* name, const Cells<T>& cells, const Present& present, std::vector<std::int64_t> first, std::vector<std::int64_t> values) {
    const nb::object array = nb::module_::import_("numpy").attr("empty")(nb::make_tuple(cells.n_columns, cells.n_rows), name);
    Code* out = nb::cast<nb::ndarray<Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(array).data();  // in NumPy's large pages
    {
        nb::gil_scoped_release unlocked;
        std::vector<Code> code(present.flags.size());
        for (std::int64_t j = 0; j < cells.n_columns; ++j) {
            const std::int64_t end = j + 1 < cells.n_columns ? present.start[j + 1] : std::int64_t(code.size());
            Code next = 0;
            for (std::int64_t k = present.start[j]; k < end; ++k) {
                code[k] = next;
                if (present.flags[k]) ++next;
            }
        }
        Interrupt interrupt;
        for (std::int64_t top = 0; top < cells.n_rows; top += TILE)
            for (std::int64_t left = 0; left < cells.n_columns; left += TILE, interrupt.after(TILE * TILE)) {
                const std::int64_t bottom = std::min(top + TILE, cells.n_rows);
                for (std::int64_t j = left; j < std::min(left + TILE, cells.n_columns); ++j) {
                    const Code* mine = code.data() + present.start[j];
                    const T* source = &cells(top, j);
                    Code* target = out + j * cells.n_rows + top;
                    const std::int64_t n = bottom - top, stride = cells.row_stride, low = present.low[j];
                    for (std::int64_t i = 0; i < n; ++i) target[i] = mine[std::int64_t(source[i * stride]) - low];
                }
            }
    }
    return nb::make_tuple(array, to_numpy(std::move(first)), to_numpy(std::move(values)));
}

nb::object encode_matrix(AnyArray2 matrix) {
    return with_type(matrix.dtype(), [&]<class T>(T) -> nb::object {
        const Cells<T> cells{static_cast<const T*>(matrix.data()), std::int64_t(matrix.shape(0)), std::int64_t(matrix.shape(1)),
                             matrix.stride(0), matrix.stride(1)};
        Present present;
        std::vector<std::int64_t> first{0}, values;
        std::int64_t most = 0;
        {
            nb::gil_scoped_release unlocked;
            if (!cells.n_rows || !cells.n_columns) return nb::object();
            if (!find_small(cells, present) && !find_narrow(cells, present)) return nb::object();
            for (std::int64_t j = 0; j < cells.n_columns; ++j) {
                const std::int64_t end = j + 1 < cells.n_columns ? present.start[j + 1] : std::int64_t(present.flags.size());
                for (std::int64_t k = present.start[j]; k < end; ++k)
                    if (present.flags[k]) values.push_back(present.low[j] + k - present.start[j]);
                most = std::max(most, std::int64_t(values.size()) - first.back());
                first.push_back(std::int64_t(values.size()));
            }
        }
        if (most <= 127) return write_codes<std::int8_t>("int8", cells, present, std::move(first), std::move(values));
        if (most <= 32767) return write_codes<std::int16_t>("int16", cells, present, std::move(first), std::move(values));
        return write_codes<std::int32_t>("int32", cells, present, std::move(first), std::move(values));
    });
}

nb::object pack_codes(AnyArray2 codes, Vector<const std::int64_t> levels) {
    const std::size_t n = codes.shape(0), n_rows = codes.shape(1), n_words = words_for(n_rows);
    require(levels.shape(0) == n, "a number of levels for every variable");
    require(codes.dtype().code == std::uint8_t(nb::dlpack::dtype_code::Int), "codes must be signed integers");
    std::size_t n_bits = 0;
    for (std::size_t v = 0; v < n; ++v) {
        require(levels.data()[v] >= 0 && levels.data()[v] < ABSENT, "levels out of range");
        n_bits += levels.data()[v];
    }
    require(n == 0 || n_rows <= 1 || codes.stride(1) == 1, "the codes of a variable must stand together");
    Words bits(n_bits * n_words);
    {
        nb::gil_scoped_release unlocked;
        with_type(codes.dtype(), [&]<class T>(T) {
            Interrupt interrupt;
            std::uint8_t wanted[ABSENT];
            for (int k = 0; k < ABSENT; ++k) wanted[k] = std::uint8_t(k);
            std::uint64_t* out = bits.data();
            for (std::size_t v = 0; v < n; ++v, interrupt.after(n_rows)) {
                const T* row = static_cast<const T*>(codes.data()) + std::int64_t(v) * codes.stride(0);
                const std::size_t n_levels = levels.data()[v];
                pack(n_rows, {wanted, n_levels}, out, [&](std::size_t first, std::size_t m, std::uint8_t* bytes) {
                    for (std::size_t r = 0; r < m; ++r) {
                        const auto code = std::int64_t(row[first + r]);
                        bytes[r] = code >= 0 && code < ABSENT ? std::uint8_t(code) : ABSENT;
                    }
                });
                out += n_levels * n_words;
            }
        });
    }
    return nb::cast(to_numpy(std::move(bits), {n_bits, n_words}));
}

// The codes of the rows of byte i of a word of every level, as the bytes of a word.
std::uint64_t codes_of_eight(const std::uint64_t* bits, std::size_t n_levels, std::size_t stride, int i) {
    constexpr std::uint64_t each = 0x0101010101010101, high = 0x8080808080808080, spread = 0x8040201008040201, below = 0x7F7F7F7F7F7F7F7F;
    std::uint64_t codes = 0;  // one more than they are, at first
    for (std::size_t k = 0; k < n_levels; ++k) {
        const std::uint64_t byte = bits[k * stride] >> 8 * i & 255;
        codes += (k + 1) * (((((byte * each) & spread) + below) >> 7) & each);
    }
    return ((codes | high) - each) ^ high;
}

nb::object unpack_bits(Table2<const std::uint64_t> bits, std::int64_t n_rows) {
    const std::size_t n_levels = bits.shape(0), n_words = bits.shape(1);
    require(n_levels < 127, "too many levels");
    require(n_rows >= 0 && words_for(std::size_t(n_rows)) <= n_words, "bits do not fit the rows");
    std::vector<std::int8_t> out(n_rows);
    {
        nb::gil_scoped_release unlocked;
        for (std::int64_t first = 0; first < n_rows; first += 8) {
            const std::uint64_t codes = codes_of_eight(bits.data() + first / 64, n_levels, n_words, int(first % 64 / 8));
            if (first + 8 <= n_rows && std::endian::native == std::endian::little) {
                std::memcpy(out.data() + first, &codes, 8);
                continue;
            }
            for (std::int64_t r = 0; r < std::min<std::int64_t>(8, n_rows - first); ++r) out[first + r] = std::int8_t(codes >> 8 * r & 255);
        }
    }
    return nb::cast(to_numpy(std::move(out)));
}

void place_bits(Table2<const std::uint64_t> bits, Vector<const std::int64_t> sources, Vector<const std::int64_t> targets, std::int64_t start,
                Table2<std::uint64_t> out) {
    const std::size_t n = bits.shape(1), first = std::size_t(start) / 64, room = out.shape(1);
    const int shift = int(start % 64);
    require(start >= 0 && n > 0 && first + n <= room, "bits do not fit");
    require(sources.shape(0) == targets.shape(0), "a target for every source");
    for (std::size_t k = 0; k < sources.shape(0); ++k) {
        require(sources.data()[k] >= 0 && std::size_t(sources.data()[k]) < bits.shape(0), "there is no such source");
        require(targets.data()[k] >= 0 && std::size_t(targets.data()[k]) < out.shape(0), "there is no such target");
    }
    nb::gil_scoped_release unlocked;
    for (std::size_t k = 0; k < sources.shape(0); ++k) {
        const std::uint64_t* source = bits.data() + sources.data()[k] * std::int64_t(n);
        std::uint64_t* target = out.data() + targets.data()[k] * std::int64_t(room) + first;
        if (!shift) {
            for (std::size_t w = 0; w < n; ++w) target[w] |= source[w];
            continue;
        }
        target[0] |= source[0] << shift;
        for (std::size_t w = 1; w < n; ++w) target[w] |= source[w] << shift | source[w - 1] >> (64 - shift);
        const std::uint64_t beyond = source[n - 1] >> (64 - shift);
        require(!beyond || first + n < room, "bits do not fit");
        if (beyond) target[n] |= beyond;
    }
}

}  // namespace

void bind_encode(nb::module_& module) {
    module.def("encode_column", &encode_column, nb::arg("values"), nb::arg("missing") = nb::none());
    module.def("encode_matrix", [](AnyArray2 matrix) {
        nb::object found = encode_matrix(matrix);
        return found.is_valid() ? found : nb::none();
    }, nb::arg("matrix"));
    module.def("pack_codes", &pack_codes, nb::arg("codes"), nb::arg("levels"));
    module.def("unpack_bits", &unpack_bits, nb::arg("bits"), nb::arg("n_rows"));
    module.def("place_bits", &place_bits, nb::arg("bits"), nb::arg("sources"), nb::arg("targets"), nb::arg("start"),
               nb::arg("out").noconvert());
}

}  // namespace ibmap
