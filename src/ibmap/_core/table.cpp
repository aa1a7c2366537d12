#include "table.hpp"

#include "bind.hpp"

#include <map>

namespace ibmap {

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

}  // namespace

Table::Table(std::int64_t rows, Vector<const std::int64_t> n_levels, Vector<const bool> is_complete, Table2<const std::uint64_t> level_bits,
             Table2<const std::uint64_t> columns, Vector<const std::int64_t> order, Table2<const std::int64_t> ordered_blocks,
             Table2<const std::int32_t> wide_codes)
    : n_rows(rows), n(int(n_levels.shape(0))), n_words(level_bits.shape(1)), level_bits_(level_bits), columns_(columns), wide_codes_(wide_codes) {
    constexpr int WIDE = 32;
    require(rows >= 0 && n_words == std::max<std::size_t>(1, (rows + 63) / 64), "words do not fit the rows");
    require(is_complete.shape(0) == std::size_t(n), "one flag for every variable");
    require(columns.shape(0) == n_words, "columns do not fit the rows");
    std::int64_t narrow = 0, wide = 0;
    for (int v = 0; v < n; ++v) {
        const std::int64_t r = n_levels.data()[v];
        require(r >= 0 && r < (std::int64_t(1) << 31), "levels out of range");
        levels.push_back(int(r));
        complete.push_back(is_complete.data()[v]);
        first_.push_back(r <= WIDE ? narrow : -1), wide_.push_back(r <= WIDE ? -1 : wide);
        r <= WIDE ? narrow += r : wide += 1;
    }
    require(level_bits.shape(0) == std::size_t(narrow), "bits do not fit the levels");
    require(wide_codes.shape(0) == std::size_t(wide) && (!wide || wide_codes.shape(1) == std::size_t(rows)), "codes do not fit the rows");
    for (std::size_t b = 0; b < ordered_blocks.shape(0); ++b) {
        const std::int64_t* block = ordered_blocks.data() + 5 * b;  // levels, first and last position, first column, stride
        require(ordered_blocks.shape(1) == 5 && 0 <= block[1] && block[1] < block[2] && std::size_t(block[2]) <= order.shape(0), "a block is out of order");
        require(block[3] >= 0 && block[4] >= block[2] - block[1] && block[4] % 8 == 0 && block[0] >= 0 &&
                    block[3] + std::max<std::int64_t>(block[0] - 1, 0) * block[4] <= std::int64_t(columns.shape(1)),
                "a block is beyond the columns");
        std::vector<int> variables;
        for (std::int64_t i = block[1]; i < block[2]; ++i) {
            const std::int64_t v = order.data()[i];
            require(0 <= v && v < n && levels[v] == block[0] && first_[v] >= 0 && complete[v], "a variable is in the wrong block");
            variables.push_back(int(v));
        }
        if (block[0] > 1) add_blocks(std::move(variables), std::size_t(block[3]), std::size_t(block[4]));
    }
    add_incomplete();
    for (std::size_t b = 0; b < blocks.size(); ++b) bytes_.push_back(std::make_unique<Bytes>());
}

// Complete variables of as many levels, cut so that the counts of a block stay in the cache.
void Table::add_blocks(std::vector<int> variables, std::size_t column, std::size_t stride) {
    const int r = levels[variables[0]];
    const std::size_t at_once = std::max<std::size_t>(8, BLOCK_COLUMNS / (r - 1) / 8 * 8);
    for (std::size_t begin = 0; begin < variables.size(); begin += at_once) {
        const std::size_t end = std::min(variables.size(), begin + at_once);
        Block block{r, 1, {variables.begin() + long(begin), variables.begin() + long(end)}, padded(end - begin, 8)};
        block.bits = columns_.data() + column + begin, block.word_stride = columns_.shape(1), block.level_stride = stride;
        blocks.push_back(std::move(block));
    }
}

// Variables with missing values or very many levels: every level is counted.
void Table::add_incomplete() {
    std::map<int, std::vector<int>> by_levels;
    for (int v = 0; v < n; ++v)
        if (levels[v] > 1 && levels[v] <= MOST_LEVELS && (is_wide(v) || !complete[v])) by_levels[is_wide(v) ? -v - 1 : levels[v]].push_back(v);
    for (auto& [key, variables] : by_levels) {
        const int r = levels[variables[0]];
        const std::size_t at_once = std::max<std::size_t>(8, BLOCK_COLUMNS / r / 8 * 8);
        for (std::size_t begin = 0; begin < variables.size(); begin += at_once) {
            const std::size_t end = std::min(variables.size(), begin + at_once);
            Block block{r, 0, {variables.begin() + long(begin), variables.begin() + long(end)}, padded(end - begin, 8)};
            if (key > 0) {
                auto& bits = own_bits_.emplace_back(n_words * block.width(), 0);
                for (int level = 0; level < r; ++level)
                    for (std::size_t i = 0; i < block.variables.size(); ++i)
                        for (std::size_t w = 0; w < n_words; ++w)
                            bits[w * block.width() + level * block.stride + i] = this->bits(block.variables[i], level)[w];
                block.bits = bits.data(), block.word_stride = block.width(), block.level_stride = block.stride;
            }
            blocks.push_back(std::move(block));
        }
    }
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
    nb::class_<Table>(module, "Table")
        .def(nb::init<std::int64_t, Vector<const std::int64_t>, Vector<const bool>, Table2<const std::uint64_t>, Table2<const std::uint64_t>,
                      Vector<const std::int64_t>, Table2<const std::int64_t>, Table2<const std::int32_t>>(),
             nb::arg("n_rows"), nb::arg("levels"), nb::arg("complete"), nb::arg("level_bits"), nb::arg("columns"), nb::arg("order"),
             nb::arg("blocks"), nb::arg("wide_codes"));
}

}  // namespace ibmap
