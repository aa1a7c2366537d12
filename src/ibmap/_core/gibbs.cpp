// Gibbs sampling of pairwise models: a chain per row, 64 of them side by side, or one chain that is read again and
// again; and of the missing cells of rows, in models of levels and numbers. The slow twins are in tests/reference/worlds.py.
//
// One variable is updated in all chains at once, by vector instructions. Weights are products wherever these can
// neither overflow nor underflow, and exponentials of sums of logarithms elsewhere, which takes twice as long or more.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "bind.hpp"
#include "interrupt.hpp"
#include "neighbours.hpp"
#include "pool.hpp"
#include "splitmix.hpp"

namespace ibmap {
namespace {

using Byte = std::uint8_t;
using Doubles = std::span<const double>;
using Ints = std::span<const std::int64_t>;

constexpr std::size_t side_by_side = 64;
constexpr std::size_t few = 6;

template <std::size_t lanes, class T>
using Lanes = std::array<T, lanes>;

// The random numbers of the chains: one stream for each.
template <std::size_t lanes>
struct Streams {
    alignas(64) Lanes<lanes, std::uint64_t> counter, step;

    void start(std::uint64_t seed, std::size_t first) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Stream stream(seed, first + lane);
            counter[lane] = stream.counter;
            step[lane] = stream.step;
        }
    }

    std::uint64_t next(std::size_t lane) { return mix(counter[lane] += step[lane]); }
};

// Binary variables, log p(x) = Σ_i field_i x_i + Σ_ij coupling_ij x_i x_j + const.
class BinaryChains {
  public:
    static constexpr std::size_t lanes = side_by_side;
    const std::size_t n;

    BinaryChains(const Neighbours& around, Doubles fields, Doubles couplings, double largest_log)
        : n(fields.size()), around_(around), fields_(n), couplings_(couplings.size()), by_product_(n), states_(n) {
        if (couplings.size() != around.neighbours.size())
            throw std::invalid_argument("there must be a coupling for every neighbour");
        for (std::size_t i = 0; i < n; ++i) {
            double largest = 0.0;
            for (std::int64_t k = around_.start[i]; k < around_.start[i + 1]; ++k) largest += std::abs(couplings[k]);
            by_product_[i] = std::abs(fields[i]) + largest < largest_log;
            const auto ready = [product = by_product_[i]](double log) { return product ? std::exp(-log) : -log; };
            fields_[i] = ready(fields[i]);
            for (std::int64_t k = around_.start[i]; k < around_.start[i + 1]; ++k) couplings_[k] = ready(couplings[k]);
        }
    }

    void start(std::uint64_t seed, std::size_t first) {
        streams_.start(seed, first);
        for (std::size_t i = 0; i < n; ++i) {
            states_[i] = 0;
            for (std::size_t lane = 0; lane < lanes; ++lane) states_[i] |= (streams_.next(lane) & 1) << lane;
        }
    }

    void update(std::size_t i) {
        alignas(64) Lanes<lanes, double> odds;  // Pr(x_i = 0) / Pr(x_i = 1)
        odds.fill(fields_[i]);
        const bool product = by_product_[i];
        const double none = neutral_[product];
        for (std::int64_t k = around_.start[i]; k < around_.start[i + 1]; ++k) {
            const double coupling = couplings_[k];
            const std::uint64_t other = states_[around_.neighbours[k]];
            if (product)
                for (std::size_t lane = 0; lane < lanes; ++lane) odds[lane] *= (other >> lane) & 1 ? coupling : none;
            else
                for (std::size_t lane = 0; lane < lanes; ++lane) odds[lane] += (other >> lane) & 1 ? coupling : none;
        }
        if (!product)
            for (double& value : odds) value = std::exp(value);
        std::uint64_t state = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const bool one = uniform(streams_.next(lane)) * (1.0 + odds[lane]) < 1.0;
            state |= std::uint64_t{one} << lane;
        }
        states_[i] = state;
    }

    Byte state(std::size_t i, std::size_t lane) const { return (states_[i] >> lane) & 1; }

  private:
    Neighbours around_;
    std::vector<double> fields_, couplings_;  // what the odds of 0 are multiplied by; or logarithms
    std::vector<Byte> by_product_;
    const std::array<double, 2> neutral_{0.0, 1.0};  // of sums and products; a literal becomes a branch, not a vector
    std::vector<std::uint64_t> states_;              // of a variable: a bit for each chain
    Streams<lanes> streams_;
};

// Variables of any number of levels up to 256, log p(x) = Σ_i field_i(x_i) + Σ_ij table_ij(x_i, x_j) + const.
// The table of neighbour j of variable i has a row for each level of j, with a weight for each level of i.
struct TableModel {
    Neighbours around;
    std::vector<std::size_t> levels, field_start, table_start;
    std::vector<double> fields, tables;  // weights, the largest of each table 1; or logarithms
    std::vector<Byte> by_product;

    TableModel(const Neighbours& around_, Ints levels_, Doubles fields_, Doubles tables_, double largest_log)
        : around(around_), levels(levels_.begin(), levels_.end()), fields(fields_.begin(), fields_.end()),
          tables(tables_.begin(), tables_.end()) {
        if (std::ranges::any_of(levels_, [](std::int64_t some) { return some < 1 || some > 256; }))
            throw std::invalid_argument("a variable must have 1 to 256 levels");
        std::size_t n_fields = 0, n_tables = 0;
        for (std::size_t i = 0; i < levels.size(); ++i) {
            field_start.push_back(n_fields);
            n_fields += levels[i];
            for (std::int64_t k = around.start[i]; k < around.start[i + 1]; ++k) {
                table_start.push_back(n_tables);
                n_tables += levels[i] * levels[around.neighbours[k]];
            }
        }
        if (n_fields != fields.size() || n_tables != tables.size())
            throw std::invalid_argument("fields and tables must have a number for every level, and every pair of them");
        for (std::size_t i = 0; i < levels.size(); ++i) make_weights(i, largest_log);
    }

  private:
    std::span<double> table(std::size_t i, std::int64_t k) {
        return std::span(tables).subspan(table_start[k], levels[i] * levels[around.neighbours[k]]);
    }

    void make_weights(std::size_t i, double largest_log) {
        std::vector<std::span<double>> factors{std::span(fields).subspan(field_start[i], levels[i])};
        for (std::int64_t k = around.start[i]; k < around.start[i + 1]; ++k) factors.push_back(table(i, k));
        double spread = 0.0;  // no product of weights is below e^-spread
        for (const auto factor : factors) {
            const double largest = std::ranges::max(factor);
            for (double& log : factor) log -= largest;
            spread -= std::ranges::min(factor);
        }
        by_product.push_back(spread < largest_log);
        if (!by_product[i]) return;
        for (const auto factor : factors)
            for (double& value : factor) value = std::exp(value);
    }
};

template <std::size_t lanes_>
class TableChains {
  public:
    static constexpr std::size_t lanes = lanes_;
    const std::size_t n;

    explicit TableChains(const TableModel& model)
        : n(model.levels.size()), model_(model), states_(n * lanes),
          weights_(n == 0 ? 0 : std::ranges::max(model.levels)) {}

    void start(std::uint64_t seed, std::size_t first) {
        streams_.start(seed, first);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                states_[i * lanes + lane] =
                    static_cast<Byte>(uniform(streams_.next(lane)) * static_cast<double>(model_.levels[i]));
    }

    void update(std::size_t i) {
        const std::size_t n_levels = model_.levels[i];
        const bool product = model_.by_product[i];
        const double* field = &model_.fields[model_.field_start[i]];
        for (std::size_t level = 0; level < n_levels; ++level)
            for (std::size_t lane = 0; lane < lanes; ++lane) weights_[level][lane] = field[level];
        for (std::int64_t k = model_.around.start[i]; k < model_.around.start[i + 1]; ++k)
            multiply(&model_.tables[model_.table_start[k]], n_levels, model_.around.neighbours[k], product);
        if (!product) take_exponentials(n_levels);
        draw(i, n_levels);
    }

    Byte state(std::size_t i, std::size_t lane) const { return states_[i * lanes + lane]; }

  private:
    // Multiply by the weights that neighbour j asks for, or add logarithms.
    void multiply(const double* table, std::size_t n_levels, std::size_t j, bool product) {
        const Byte* other = &states_[j * lanes];
        // Pointers: from indices the compiler makes gathers, which are 1.2 times slower (Zen 4).
        Lanes<lanes, const double*> row;
        for (std::size_t lane = 0; lane < lanes; ++lane) row[lane] = table + n_levels * other[lane];
        for (std::size_t level = 0; level < n_levels; ++level) {
            auto& weight = weights_[level];
            if (product)
#pragma GCC unroll 8
                for (std::size_t lane = 0; lane < lanes; ++lane) weight[lane] *= row[lane][level];
            else
#pragma GCC unroll 8
                for (std::size_t lane = 0; lane < lanes; ++lane) weight[lane] += row[lane][level];
        }
    }

    // Turn logarithms into weights, the largest of every lane 1.
    void take_exponentials(std::size_t n_levels) {
        Lanes<lanes, double> largest = weights_[0];
        for (std::size_t level = 1; level < n_levels; ++level)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                largest[lane] = std::max(largest[lane], weights_[level][lane]);
        for (std::size_t level = 0; level < n_levels; ++level)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                weights_[level][lane] = std::exp(weights_[level][lane] - largest[lane]);
    }

    // The new state is the level in whose share of all weights a uniform number falls.
    void draw(std::size_t i, std::size_t n_levels) {
        for (std::size_t level = 1; level < n_levels; ++level)
            for (std::size_t lane = 0; lane < lanes; ++lane) weights_[level][lane] += weights_[level - 1][lane];
        alignas(64) Lanes<lanes, double> mark;
        for (std::size_t lane = 0; lane < lanes; ++lane)
            mark[lane] = uniform(streams_.next(lane)) * weights_[n_levels - 1][lane];
        alignas(64) Lanes<lanes, Byte> drawn{};
        for (std::size_t level = 0; level + 1 < n_levels; ++level)
            for (std::size_t lane = 0; lane < lanes; ++lane) drawn[lane] += weights_[level][lane] <= mark[lane];
        std::ranges::copy(drawn, &states_[i * lanes]);
    }

    const TableModel& model_;
    std::vector<Byte> states_;  // variables × lanes
    std::vector<Lanes<lanes, double>> weights_;
    Streams<lanes> streams_;
};

template <class Chains>
void sweep(Chains& chains, std::size_t times, Interrupt& interrupt) {
    for (std::size_t done = 0; done < times; ++done)
        for (std::size_t i = 0; i < chains.n; ++i) {
            chains.update(i);
            interrupt.after(Chains::lanes);
        }
}

// Fill every row with the end of a chain of its own.
template <class Chains>
void fill_with_ends(Chains chains, std::uint64_t seed, std::size_t sweeps, const Table2<Byte>& rows) {
    const nb::gil_scoped_release unlocked;
    Interrupt interrupt;
    for (std::size_t first = 0; first < rows.shape(0); first += Chains::lanes) {
        chains.start(seed, first);
        sweep(chains, sweeps, interrupt);
        for (std::size_t lane = 0; lane < std::min(Chains::lanes, rows.shape(0) - first); ++lane)
            for (std::size_t i = 0; i < chains.n; ++i)
                rows.data()[(first + lane) * chains.n + i] = chains.state(i, lane);
    }
}

// Fill the rows with states of one chain, ``thin`` sweeps before each.
void fill_from_one(TableChains<1> chain, std::uint64_t seed, std::size_t sweeps, std::size_t thin,
                   const Table2<Byte>& rows) {
    const nb::gil_scoped_release unlocked;
    Interrupt interrupt;
    chain.start(seed, 0);
    sweep(chain, sweeps, interrupt);
    for (std::size_t row = 0; row < rows.shape(0); ++row) {
        sweep(chain, thin, interrupt);
        for (std::size_t i = 0; i < chain.n; ++i) rows.data()[row * chain.n + i] = chain.state(i, 0);
    }
}

// Levels and numbers: log p(x) = Σ_i field_i(x_i) + Σ_factors + const, less ½ precision_j z_j² of every number z_j. A factor of
// variable i has a row for each configuration of the levels of some others, with an entry for each level of i, or one if i
// is a number; and is multiplied by the numbers among these others.
class CellModel {
  public:
    CellModel(Ints levels, Doubles fields, Doubles precisions, Ints factor_start, Ints place, Ints scope_start, Ints scope,
              Ints strides, Doubles tables)
        : n(levels.size()), levels_(levels), precisions_(precisions), factor_start_(factor_start), place_(place),
          scope_start_(scope_start), scope_(scope), strides_(strides), tables_(tables), fields_(fields) {
        const auto starts = [](Ints start, std::size_t size, std::size_t end) {
            return start.size() == size + 1 && start.front() == 0 && start.back() == std::int64_t(end) &&
                   std::ranges::is_sorted(start);
        };
        if (precisions.size() != n || !starts(factor_start, n, place.size()) ||
            !starts(scope_start, place.size(), scope.size()) || strides.size() != scope.size())
            throw std::invalid_argument("factors and scopes must be one list after another");
        std::size_t n_fields = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (levels[i] < 0 || (levels[i] == 0 && !(precisions[i] > 0.0)))
                throw std::invalid_argument("a variable has levels, or is a number with a precision above 0");
            field_start_.push_back(n_fields);
            n_fields += width(i);
            widest = std::max(widest, width(i));
            for (std::int64_t f = factor_start[i]; f < factor_start[i + 1]; ++f) check_factor(i, f);
        }
        if (n_fields != fields.size()) throw std::invalid_argument("there must be a field for every level and number");
    }

    const std::size_t n;
    std::size_t widest = 1;

    bool is_number(std::size_t i) const { return levels_[i] == 0; }
    bool holds(std::size_t i, double value) const {
        return is_number(i) ? std::isfinite(value) : value >= 0.0 && value < double(levels_[i]) && value == std::floor(value);
    }

    double draw(std::size_t i, const double* row, Stream& stream, double* logs) const {
        const std::size_t n_entries = width(i);
        std::copy_n(fields_.data() + field_start_[i], n_entries, logs);
        for (std::int64_t f = factor_start_[i]; f < factor_start_[i + 1]; ++f) {
            std::int64_t at = place_[f];
            double times = 1.0;
            for (std::int64_t s = scope_start_[f]; s < scope_start_[f + 1]; ++s) {
                const double value = row[scope_[s]];
                if (is_number(scope_[s])) times *= value;
                else at += std::int64_t(value) * strides_[s];
            }
            for (std::size_t level = 0; level < n_entries; ++level) logs[level] += times * tables_[at + level];
        }
        if (is_number(i)) {
            const double size = std::sqrt(-2.0 * std::log(1.0 - uniform(stream.next())));
            const double normal = size * std::cos(2.0 * std::numbers::pi * uniform(stream.next()));
            return (logs[0] + std::sqrt(precisions_[i]) * normal) / precisions_[i];
        }
        const double largest = *std::max_element(logs, logs + n_entries);
        double sum = 0.0;
        for (std::size_t level = 0; level < n_entries; ++level) logs[level] = sum += std::exp(logs[level] - largest);
        const double mark = uniform(stream.next()) * sum;
        return double(std::count_if(logs, logs + n_entries - 1, [&](double below) { return below <= mark; }));
    }

  private:
    std::size_t width(std::size_t i) const { return is_number(i) ? 1 : std::size_t(levels_[i]); }

    void check_factor(std::size_t i, std::int64_t f) const {
        std::int64_t last = place_[f];
        bool fits = last >= 0;
        for (std::int64_t s = scope_start_[f]; s < scope_start_[f + 1] && fits; ++s) {
            fits = scope_[s] >= 0 && scope_[s] < std::int64_t(n) && scope_[s] != std::int64_t(i) && strides_[s] >= 0 &&
                   strides_[s] <= std::int64_t(tables_.size());
            if (fits && !is_number(scope_[s])) last += (levels_[scope_[s]] - 1) * strides_[s];
        }
        if (!fits || last + std::int64_t(width(i)) > std::int64_t(tables_.size()))
            throw std::invalid_argument("a factor reaches beyond the variables or the tables");
    }

    const Ints levels_;
    const Doubles precisions_;
    const Ints factor_start_, place_, scope_start_, scope_, strides_;
    const Doubles tables_, fields_;
    std::vector<std::size_t> field_start_;
};

// Draw the cells that are absent, sweep after sweep; every row has a stream of its own.
void sample_cells(Vector<const std::int64_t> levels, Vector<const double> fields, Vector<const double> precisions,
                  Vector<const std::int64_t> factor_start, Vector<const std::int64_t> place,
                  Vector<const std::int64_t> scope_start, Vector<const std::int64_t> scope,
                  Vector<const std::int64_t> strides, Vector<const double> tables, Table2<double> rows,
                  Table2<const bool> absent, std::uint64_t seed, std::size_t sweeps, int n_threads) {
    const CellModel model(span_of(levels), span_of(fields), span_of(precisions), span_of(factor_start), span_of(place),
                          span_of(scope_start), span_of(scope), span_of(strides), span_of(tables));
    const std::size_t n = model.n, n_rows = rows.shape(0);
    if (rows.shape(1) != n || absent.shape(0) != n_rows || absent.shape(1) != n)
        throw std::invalid_argument("rows and absent must have a column for every variable");
    for (std::size_t k = 0; k < n_rows * n; ++k)
        if (!model.holds(k % n, rows.data()[k])) throw std::invalid_argument("a cell is neither a level nor a finite number");
    constexpr std::size_t AT_ONCE = 64;
    const nb::gil_scoped_release unlocked;
    spread(n_threads, std::int64_t((n_rows + AT_ONCE - 1) / AT_ONCE), [&](int, std::int64_t task) {
        std::vector<double> logs(model.widest);
        std::vector<std::size_t> gaps;
        for (std::size_t r = std::size_t(task) * AT_ONCE; r < std::min(n_rows, std::size_t(task + 1) * AT_ONCE); ++r) {
            double* row = rows.data() + r * n;
            gaps.clear();
            for (std::size_t i = 0; i < n; ++i)
                if (absent.data()[r * n + i]) gaps.push_back(i);
            Stream stream(seed, r);
            for (std::size_t done = 0; done < sweeps; ++done)
                for (const std::size_t i : gaps) row[i] = model.draw(i, row, stream, logs.data());
        }
    });
}

void check_width(const Table2<Byte>& rows, std::size_t n) {
    if (rows.shape(1) != n) throw std::invalid_argument("rows must have a column for every variable");
}

void sample_binary(Vector<const double> fields, Vector<const std::int64_t> start,
                   Vector<const std::int64_t> neighbours, Vector<const double> couplings, std::uint64_t seed,
                   std::size_t sweeps, Table2<Byte> rows, double largest_log) {
    const std::size_t n = fields.shape(0);
    check_width(rows, n);
    const Neighbours around(start, neighbours, n);
    fill_with_ends(BinaryChains(around, span_of(fields), span_of(couplings), largest_log), seed, sweeps, rows);
}

void sample_tables(Vector<const std::int64_t> levels, Vector<const double> fields, Vector<const std::int64_t> start,
                   Vector<const std::int64_t> neighbours, Vector<const double> tables, std::uint64_t seed,
                   std::size_t sweeps, std::size_t thin, Table2<Byte> rows, double largest_log) {
    const std::size_t n = levels.shape(0);
    check_width(rows, n);
    const Neighbours around(start, neighbours, n);
    const TableModel model(around, span_of(levels), span_of(fields), span_of(tables), largest_log);
    if (thin == 0)
        fill_with_ends(TableChains<side_by_side>(model), seed, sweeps, rows);
    else
        fill_from_one(TableChains<1>(model), seed, sweeps, thin, rows);
}

}  // namespace

void bind_gibbs(nb::module_& module) {
    module.def("sample_cells", &sample_cells, nb::arg("levels"), nb::arg("fields"), nb::arg("precisions"),
               nb::arg("factor_start"), nb::arg("place"), nb::arg("scope_start"), nb::arg("scope"), nb::arg("strides"),
               nb::arg("tables"), nb::kw_only(), nb::arg("rows").noconvert(), nb::arg("absent").noconvert(),
               nb::arg("seed"), nb::arg("sweeps"), nb::arg("n_threads") = 1);
    constexpr double largest_log = 700.0;  // e^700 and e^-700 are ordinary numbers
    module.def("sample_binary", &sample_binary, nb::arg("fields"), nb::arg("start"), nb::arg("neighbours"),
               nb::arg("couplings"), nb::kw_only(), nb::arg("seed"), nb::arg("sweeps"), nb::arg("rows").noconvert(),
               nb::arg("largest_log") = largest_log);
    module.def("sample_tables", &sample_tables, nb::arg("levels"), nb::arg("fields"), nb::arg("start"),
               nb::arg("neighbours"), nb::arg("tables"), nb::kw_only(), nb::arg("seed"), nb::arg("sweeps"),
               nb::arg("thin"), nb::arg("rows").noconvert(), nb::arg("largest_log") = largest_log);
}

}  // namespace ibmap
