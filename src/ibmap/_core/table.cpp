#include "table.hpp"

#include "bind.hpp"
#include "counter.hpp"

#include <nanobind/stl/optional.h>

#include <map>

namespace ibmap {

namespace {

constexpr int WIDE = 32;               // levels of a variable up to which it is bits
constexpr std::size_t FILE_BLOCK = 256;  // variables that a file has side by side

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

}  // namespace

Table::Table(std::int64_t rows, Vector<const std::int64_t> n_levels, Table2<const std::uint64_t> level_bits, Vector<const std::int64_t> level_sizes,
             Table2<const std::int32_t> wide_codes, std::optional<Table2<const std::uint64_t>> columns)
    : n_rows(rows), n(int(n_levels.shape(0))), n_words(level_bits.shape(1)), level_bits_(level_bits), level_sizes_(level_sizes), wide_codes_(wide_codes),
      columns_(columns), places_(std::size_t(n)), counters_(std::make_unique<Spare<Counter>>()) {
    require(rows >= 0 && n_words == std::max<std::size_t>(1, (rows + 63) / 64), "words do not fit the rows");
    std::int64_t narrow = 0, wide = 0;
    for (int v = 0; v < n; ++v) {
        const std::int64_t r = n_levels.data()[v];
        require(r >= 0 && r < (std::int64_t(1) << 31), "levels out of range");
        levels.push_back(int(r));
        first_.push_back(r <= WIDE ? narrow : -1), wide_.push_back(r <= WIDE ? -1 : wide);
        r <= WIDE ? narrow += r : wide += 1;
    }
    require(level_bits.shape(0) == std::size_t(narrow) && level_sizes.shape(0) == std::size_t(narrow), "bits do not fit the levels");
    require(wide_codes.shape(0) == std::size_t(wide) && (!wide || wide_codes.shape(1) == std::size_t(rows)), "codes do not fit the rows");
    std::map<int, std::vector<int>> regular, others;  // by levels, or each wide variable alone
    for (int v = 0; v < n; ++v) {
        std::int64_t known = 0;
        if (is_wide(v)) {
            for (std::int64_t i = 0; i < rows; ++i) {
                require(codes(v)[i] >= -1 && codes(v)[i] < levels[v], "a code is out of range");
                known += codes(v)[i] >= 0;
            }
        } else {
            for (int level = 0; level < levels[v]; ++level) {
                require(0 <= size(v, level) && size(v, level) <= rows, "sizes of levels do not fit the rows");
                known += size(v, level);
            }
        }
        complete.push_back(known == rows);
        if (levels[v] < 2 || levels[v] > MOST_LEVELS) continue;
        complete[v] && !is_wide(v) ? regular[levels[v]].push_back(v) : others[is_wide(v) ? -v - 1 : levels[v]].push_back(v);
    }
    std::size_t column = 0;
    for (const auto& [r, variables] : regular) {
        if (!columns) {
            add_blocks(variables, 1, nullptr, 0);
            continue;
        }
        for (std::size_t begin = 0; begin < variables.size(); begin += FILE_BLOCK) {
            const auto some = std::span(variables).subspan(begin, std::min(FILE_BLOCK, variables.size() - begin));
            const std::size_t stride = padded(some.size(), 8), end = column + std::size_t(r - 1) * stride;
            require(end <= columns->shape(1), "columns do not fit the variables");
            add_blocks(some, 1, columns->data() + column, stride);
            column = end;
        }
    }
    require(!columns || (columns->shape(0) == n_words && columns->shape(1) == column), "columns do not fit the rows");
    for (const auto& [key, variables] : others) add_blocks(variables, 0, nullptr, 0);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        bytes_.push_back(std::make_unique<Bytes>());
        for (std::size_t i = 0; i < blocks[b].variables.size(); ++i) places_[blocks[b].variables[i]] = {int(b), int(i)};
    }
}

Table::~Table() = default;

// Variables of as many levels, cut so that the counts of a block stay in the cache; columns are those of the first one, if they are there.
void Table::add_blocks(std::span<const int> variables, int first_level, const std::uint64_t* columns, std::size_t level_stride) {
    const int r = levels[variables[0]];
    const std::size_t at_once = std::max<std::size_t>(8, BLOCK_COLUMNS / std::size_t(r - first_level) / 8 * 8);
    for (std::size_t begin = 0; begin < variables.size(); begin += at_once) {
        const auto some = variables.subspan(begin, std::min(at_once, variables.size() - begin));
        Block block{r, first_level, {some.begin(), some.end()}, padded(some.size(), 8)};
        if (columns) {
            block.bits = columns + begin, block.word_stride = columns_->shape(1), block.level_stride = level_stride;
        } else if (!is_wide(some[0])) {
            turn(block);
        }
        blocks.push_back(std::move(block));
    }
}

// The bits of a block word by word; columns beyond the last variable repeat it.
void Table::turn(Block& block) {
    const std::size_t width = block.width();
    auto& out = own_bits_.emplace_back(n_words * width);
    for (std::size_t c = 0; c < width; c += 8) {  // a line of the cache
        const std::uint64_t* from[8];
        for (std::size_t j = 0; j < 8; ++j)
            from[j] = bits(block.variables[std::min(c % block.stride + j, block.variables.size() - 1)], block.first_level + int(c / block.stride));
        for (std::size_t w = 0; w < n_words; ++w)
            for (std::size_t j = 0; j < 8; ++j) out[w * width + c + j] = from[j][w];
    }
    block.bits = out.data(), block.word_stride = width, block.level_stride = block.stride;
}

int Table::level_of(int variable, std::int64_t row) const {
    if (is_wide(variable)) return codes(variable)[row];
    for (int level = 0; level < levels[variable]; ++level)
        if (bits(variable, level)[row / 64] >> row % 64 & 1) return level;
    return -1;
}

void Table::unpack(int variable, std::uint8_t* out) const {
    if (is_wide(variable)) {
        const std::int32_t* from = codes(variable);
        for (std::int64_t i = 0; i < n_rows; ++i) out[i] = from[i] < 0 ? 255 : std::uint8_t(from[i]);
        return;
    }
    std::fill_n(out, n_rows, complete[variable] ? 0 : 255);
    for (int level = complete[variable] ? 1 : 0; level < levels[variable]; ++level) {
        const std::uint64_t* words = bits(variable, level);
        for (std::size_t w = 0; w < n_words; ++w) {
            std::uint8_t* to = out + 64 * w;
            for (std::uint64_t word = words[w]; word; word &= word - 1) to[std::countr_zero(word)] = std::uint8_t(level);
        }
    }
}

const Matrix<std::uint8_t>* Table::as_bytes(std::size_t index) const {
    const Block& block = blocks[index];
    if (n_rows > MOST_AS_BYTES || !block.bits) return nullptr;
    Bytes& made = *bytes_[index];
    std::call_once(made.once, [&] {
        made.values.resize(n_rows, block.width());
        for (int l = 0; l < block.n_levels(); ++l)
            for (std::size_t i = 0; i < block.variables.size(); ++i) {
                const std::uint64_t* words = bits(block.variables[i], block.first_level + l);
                const std::size_t column = l * block.stride + i;
                for (std::size_t w = 0; w < n_words; ++w)
                    for (std::uint64_t word = words[w]; word; word &= word - 1) made.values[64 * w + std::countr_zero(word)][column] = 1;
            }
    });
    return &made.values;
}

void bind_table(nb::module_& module) {
    nb::class_<Table> table(module, "Table");
    table.def(nb::init<std::int64_t, Vector<const std::int64_t>, Table2<const std::uint64_t>, Vector<const std::int64_t>, Table2<const std::int32_t>,
                       std::optional<Table2<const std::uint64_t>>>(),
              nb::arg("n_rows"), nb::arg("levels"), nb::arg("level_bits"), nb::arg("level_sizes"), nb::arg("wide_codes"), nb::arg("columns") = nb::none());
    bind_counts(module, table);
}

}  // namespace ibmap
