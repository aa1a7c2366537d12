// MOA's Gibbs step: count the configurations of every blanket once, then run a chain for each individual. The slow
// twin is in tests/reference/gibbs.py, benchmarks/eda.py measures it.
//
// Every configuration of a variable's neighbours that was observed has a number; a table of slots finds it. If all that
// are possible fit, each has a slot of its own. Otherwise the values of a string are also kept packed, 64 bits to a
// word, so that a blanket of any size is a few words under a mask: their hash says where to look, and the words are
// compared with a row that has the configuration, so that no two are ever mixed up. Most of what a chain meets was
// never observed, and a sieve (a Bloom filter, one word to look at) says so at once: with 119 binary neighbours that
// made 6 million updates per second 80 million.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "bind.hpp"
#include "interrupt.hpp"
#include "neighbours.hpp"
#include "splitmix.hpp"

namespace ibmap {
namespace {

using Word = std::uint64_t;
using String = std::span<const std::int64_t>;  // a level of each variable

constexpr std::int64_t most_levels = 1 << 16;  // and fewer than 2^31 rows: the sizes of all tables fit 64 bits
constexpr Word low_half = 0xFFFFFFFF;
constexpr std::size_t slots_per_sieve_word = 16;

struct Neighbour {
    std::size_t variable;
    std::size_t stride;  // of its value in the number of a configuration, where each has a slot of its own
};

// The neighbours that stand in one word of a packed string.
struct Part {
    std::size_t word;
    Word mask;
};

// Where the tables of a variable are: in all arrays, from which place on.
struct Blanket {
    std::size_t levels = 0;
    std::size_t neighbours = 0, neighbours_end = 0;
    std::size_t parts = 0, parts_end = 0;  // none without a hash
    std::size_t slots = 0, n_slots = 0;
    std::size_t configurations = 0;   // that may be observed, and number 0, which stands for all others
    std::size_t counts = 0;           // ``levels`` for each configuration
    std::size_t sums = 0;             // one less for each: the last would be 1
    std::size_t word = 0, shift = 0;  // of the variable itself in a packed string
    bool hashed = false;
};

// What the chains draw from; see BlanketTables.sample in _core.pyi.
struct Weighting {
    std::optional<double> inverse_temperature;
    bool joint;
};

class BlanketTables {
  public:
    BlanketTables(Table2<const std::int64_t> rows, Vector<const std::int64_t> levels,
                  Vector<const std::int64_t> start, Vector<const std::int64_t> neighbours, std::size_t most_direct,
                  Word hash_factor)
        : n_(levels.shape(0)), n_rows_(rows.shape(0)), hash_factor_(hash_factor) {
        check(rows, span_of(levels));
        lay_out(span_of(levels), Neighbours(start, neighbours, n_), most_direct);
        const nb::gil_scoped_release unlocked;
        count(rows);
    }

    std::size_t n_counts() const { return counts_.size(); }

    nb::ndarray<nb::numpy, bool> hashed() const {
        auto* flags = new bool[n_];
        nb::capsule owner(flags, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
        std::ranges::transform(blankets_, flags, &Blanket::hashed);
        return nb::ndarray<nb::numpy, bool>(flags, {n_}, owner);
    }

    nb::ndarray<nb::numpy, double> probabilities(std::size_t i, Vector<const std::int64_t> state,
                                                 std::optional<double> inverse_temperature, bool joint) const {
        if (i >= n_ || state.shape(0) != n_)
            throw std::invalid_argument("i must be a variable, and state must have a value for each of them");
        check_values(span_of(state));
        std::vector<Word> packed(words_);
        pack(span_of(state), packed.data());
        const Blanket& blanket = blankets_[i];
        const std::size_t number = number_of(blanket, span_of(state).data(), packed.data());
        std::vector<double> sums(blanket.levels - 1), p(blanket.levels);
        accumulate(blanket, number, {inverse_temperature, joint}, sums.data());
        for (std::size_t level = 0; level < blanket.levels; ++level)
            p[level] = (level < sums.size() ? sums[level] : 1.0) - (level > 0 ? sums[level - 1] : 0.0);
        return to_numpy(std::move(p));
    }

    void sample(std::uint64_t seed, std::size_t steps, Table2<std::int64_t> rows,
                std::optional<double> inverse_temperature, bool joint) const {
        if (rows.shape(1) != n_) throw std::invalid_argument("rows must have a column for every variable");
        const nb::gil_scoped_release unlocked;
        Interrupt interrupt;
        const std::vector<double> sums = cumulative({inverse_temperature, joint});
        std::vector<Word> packed(words_);
        for (std::size_t row = 0; row < rows.shape(0); ++row)
            run_chain(Stream(seed, row), steps, sums, rows.data() + row * n_, packed.data(), interrupt);
    }

  private:
    // What comes from Python

    void check(const Table2<const std::int64_t>& rows, std::span<const std::int64_t> levels) {
        if (rows.shape(1) != n_ || n_rows_ >= std::size_t{1} << 31)
            throw std::invalid_argument("rows must have a column for every variable, and be fewer than 2^31");
        if (std::ranges::any_of(levels, [](std::int64_t some) { return some < 1 || some > most_levels; }))
            throw std::invalid_argument("a variable must have 1 to 2^16 levels");
        for (const std::int64_t some : levels) blankets_.emplace_back().levels = static_cast<std::size_t>(some);
        for (std::size_t row = 0; row < n_rows_; ++row) check_values({rows.data() + row * n_, n_});
    }

    void check_values(String string) const {
        for (std::size_t i = 0; i < n_; ++i)
            if (string[i] < 0 || string[i] >= static_cast<std::int64_t>(blankets_[i].levels))
                throw std::invalid_argument("a value is not a level of its variable");
    }

    // Layout

    void lay_out(std::span<const std::int64_t> levels, const Neighbours& neighbours, std::size_t most_direct) {
        // All variables have as many bits as the one with most levels needs, and none is split between words.
        const auto most = std::max<Word>(2, n_ == 0 ? 0 : std::ranges::max(levels));
        const auto width = static_cast<std::size_t>(std::bit_width(most - 1)), per_word = 64 / width;
        words_ = n_ / per_word + 1;
        for (std::size_t i = 0; i < n_; ++i) {
            blankets_[i].word = i / per_word;
            blankets_[i].shift = i % per_word * width;
        }
        const std::size_t hash_slots = std::max<std::size_t>(16, 2 * std::bit_ceil(n_rows_ + 1));  // at most half full
        std::size_t slots = 0, counts = 0, sums = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            Blanket& blanket = blankets_[i];
            const auto around = neighbours.of(i);
            blanket.neighbours = neighbours_.size();
            const std::size_t possible = number_configurations(around, std::min(hash_slots, most_direct));
            blanket.neighbours_end = neighbours_.size();
            blanket.hashed = possible == 0;
            blanket.parts = parts_.size();
            if (blanket.hashed) mask(around, width);
            blanket.parts_end = parts_.size();
            const std::size_t wanted = blanket.hashed ? hash_slots : possible;
            blanket.n_slots = (wanted + slots_per_sieve_word - 1) / slots_per_sieve_word * slots_per_sieve_word;
            blanket.configurations = (blanket.hashed ? n_rows_ : std::min(possible, n_rows_)) + 1;
            blanket.slots = slots;
            blanket.counts = counts;
            blanket.sums = sums;
            slots += blanket.n_slots;
            counts += blanket.configurations * blanket.levels;
            sums += blanket.configurations * (blanket.levels - 1);
        }
        slots_.resize(slots);
        sieve_.resize(slots / slots_per_sieve_word);
        counts_.resize(counts);
        n_sums_ = sums;
    }

    // Add neighbours with their strides, and return how many configurations are possible; 0: more than ``most``.
    std::size_t number_configurations(std::span<const std::int64_t> around, std::size_t most) {
        std::size_t possible = 1;
        for (const std::int64_t j : around) {
            if (possible > most) return 0;
            neighbours_.push_back({static_cast<std::size_t>(j), possible});
            possible *= blankets_[j].levels;
        }
        return possible > most ? 0 : possible;
    }

    // Add the words in which a variable has neighbours.
    void mask(std::span<const std::int64_t> around, std::size_t width) {
        std::vector<Word> masks(words_);
        for (const std::int64_t j : around)
            masks[blankets_[j].word] |= ((Word{1} << width) - 1) << blankets_[j].shift;
        for (std::size_t word = 0; word < words_; ++word)
            if (masks[word] != 0) parts_.push_back({word, masks[word]});
    }

    // Configurations

    void pack(String string, Word* packed) const {
        if (parts_.empty()) return;
        std::fill_n(packed, words_, Word{0});
        for (std::size_t i = 0; i < n_; ++i)
            packed[blankets_[i].word] |= static_cast<Word>(string[i]) << blankets_[i].shift;
    }

    std::size_t direct_slot(const Blanket& blanket, const std::int64_t* string) const {
        std::size_t slot = blanket.slots;
        for (std::size_t k = blanket.neighbours; k < blanket.neighbours_end; ++k)
            slot += neighbours_[k].stride * static_cast<std::size_t>(string[neighbours_[k].variable]);
        return slot;
    }

    // Its low, middle and high bits are used apart: for the slot, for the word of the sieve, and for the bits there.
    Word hash(const Blanket& blanket, const Word* packed) const {
        Word key = 0;
        for (std::size_t k = blanket.parts; k < blanket.parts_end; ++k) {
            key = (key ^ (packed[parts_[k].word] & parts_[k].mask)) * hash_factor_;
            key ^= key >> 32;
        }
        return key;
    }

    std::size_t sieve_word(const Blanket& blanket, Word key) const {
        const std::size_t n_words = blanket.n_slots / slots_per_sieve_word;
        return blanket.slots / slots_per_sieve_word + ((key >> 24) & (n_words - 1));
    }

    static Word sieve_bits(Word key) {
        return Word{1} << (key >> 58) | Word{1} << ((key >> 52) & 63) | Word{1} << ((key >> 46) & 63);
    }

    // The slot of the values around a variable, or the free one where they would stand. The number in a slot is that of
    // the first row with the configuration, from 1.
    std::size_t probe(const Blanket& blanket, Word key, const Word* packed) const {
        for (std::size_t at = key;; ++at) {
            const std::size_t slot = blanket.slots + (at & (blanket.n_slots - 1));
            if (slots_[slot] == 0) return slot;
            const Word* row = &packed_rows_[(slots_[slot] - 1) * words_];
            Word different = 0;
            for (std::size_t k = blanket.parts; k < blanket.parts_end; ++k)
                different |= (packed[parts_[k].word] ^ row[parts_[k].word]) & parts_[k].mask;
            if (different == 0) return slot;
        }
    }

    // The number of the configuration around a variable; 0: it was not observed.
    std::size_t number_of(const Blanket& blanket, const std::int64_t* string, const Word* packed) const {
        if (!blanket.hashed) return slots_[direct_slot(blanket, string)];
        const Word key = hash(blanket, packed), bits = sieve_bits(key);
        if ((sieve_[sieve_word(blanket, key)] & bits) != bits) return 0;
        return slots_[probe(blanket, key, packed)];
    }

    void count(const Table2<const std::int64_t>& rows) {
        if (!parts_.empty()) packed_rows_.resize(n_rows_ * words_);
        std::vector<std::uint32_t> found(n_);  // configurations with a slot of their own
        for (std::size_t row = 0; row < n_rows_; ++row) {
            const std::int64_t* string = rows.data() + row * n_;
            Word* packed = packed_rows_.data() + (parts_.empty() ? 0 : row * words_);
            pack({string, n_}, packed);
            for (std::size_t i = 0; i < n_; ++i) {
                const Blanket& blanket = blankets_[i];
                std::size_t slot;
                if (blanket.hashed) {
                    const Word key = hash(blanket, packed);
                    slot = probe(blanket, key, packed);
                    if (slots_[slot] == 0) {
                        slots_[slot] = static_cast<std::uint32_t>(row + 1);
                        sieve_[sieve_word(blanket, key)] |= sieve_bits(key);
                    }
                } else {
                    slot = direct_slot(blanket, string);
                    if (slots_[slot] == 0) slots_[slot] = ++found[i];
                }
                ++counts_[blanket.counts + slots_[slot] * blanket.levels + static_cast<std::size_t>(string[i])];
            }
        }
    }

    // Probabilities

    // Fill the probabilities of the levels but the last in a configuration, summed over the levels. They are counts, or
    // e^(count / (rows · T)); what was not observed is uniform.
    void accumulate(const Blanket& blanket, std::size_t number, const Weighting& weighting, double* into) const {
        const std::size_t n_levels = blanket.levels;
        const std::span counted(&counts_[blanket.counts + number * n_levels], n_levels);
        std::uint64_t total = 0;
        for (const std::uint32_t some : counted) total += some;
        if (total == 0) {
            for (std::size_t level = 0; level + 1 < n_levels; ++level)
                into[level] = (static_cast<double>(level) + 1.0) / static_cast<double>(n_levels);
            return;
        }
        const auto rows = static_cast<double>(weighting.joint ? n_rows_ : total);
        const double largest = std::ranges::max(counted) / rows;
        double running = 0.0;
        for (std::size_t level = 0; level < n_levels; ++level) {
            const double some = counted[level];
            running += weighting.inverse_temperature
                           ? std::exp((some / rows - largest) * *weighting.inverse_temperature)
                           : some;
            if (level + 1 < n_levels) into[level] = running;
        }
        for (std::size_t level = 0; level + 1 < n_levels; ++level) into[level] /= running;
    }

    std::vector<double> cumulative(const Weighting& weighting) const {
        std::vector<double> sums(n_sums_);
        for (const Blanket& blanket : blankets_)
            for (std::size_t number = 0; number < blanket.configurations; ++number)
                accumulate(blanket, number, weighting, sums.data() + blanket.sums + number * (blanket.levels - 1));
        return sums;
    }

    // A chain of single-site updates at random sites, from a uniform random string. A random number of 64 bits serves
    // an update: its high half is the site, its low half the level.
    void run_chain(Stream stream, std::size_t steps, std::span<const double> sums, std::int64_t* string, Word* packed,
                   Interrupt& interrupt) const {
        for (std::size_t i = 0; i < n_; ++i)
            string[i] = static_cast<std::int64_t>(((stream.next() >> 32) * blankets_[i].levels) >> 32);
        if (n_ == 0) return;
        pack({string, n_}, packed);
        const bool packs = !parts_.empty();
        for (std::size_t step = 0; step < steps; ++step) {
            const Word bits = stream.next();
            const std::size_t i = ((bits >> 32) * n_) >> 32;
            const double uniform = static_cast<double>(bits & low_half) * 0x1p-32;
            const Blanket& blanket = blankets_[i];
            const std::size_t last = blanket.levels - 1;
            const double* sum = sums.data() + blanket.sums + number_of(blanket, string, packed) * last;
            // Two levels need no loop: setting it up would take a tenth of the update.
            std::int64_t level = last > 0 && sum[0] <= uniform;
            for (std::size_t k = 1; k < last; ++k) level += sum[k] <= uniform;
            if (packs) packed[blanket.word] ^= static_cast<Word>(string[i] ^ level) << blanket.shift;
            string[i] = level;
            interrupt.after(1);
        }
    }

    std::size_t n_, n_rows_, words_ = 0, n_sums_ = 0;
    Word hash_factor_;
    std::vector<Blanket> blankets_;
    std::vector<Neighbour> neighbours_;
    std::vector<Part> parts_;
    std::vector<std::uint32_t> slots_;  // numbers of configurations, from 1; 0: not observed
    std::vector<Word> sieve_;           // a word for every 16 slots
    std::vector<Word> packed_rows_;     // rows × words, if a hash needs them
    std::vector<std::uint32_t> counts_;
};

}  // namespace

void bind_moa(nb::module_& module) {
    constexpr std::size_t most_direct = 1 << 14;         // with more slots than that, a hash is faster
    constexpr Word hash_factor = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
    nb::class_<BlanketTables>(module, "BlanketTables")
        .def(nb::init<Table2<const std::int64_t>, Vector<const std::int64_t>, Vector<const std::int64_t>,
                      Vector<const std::int64_t>, std::size_t, Word>(),
             nb::arg("rows"), nb::arg("levels"), nb::arg("start"), nb::arg("neighbours"), nb::kw_only(),
             nb::arg("most_direct") = most_direct, nb::arg("hash_factor") = hash_factor)
        .def_prop_ro("n_counts", &BlanketTables::n_counts)
        .def_prop_ro("hashed", &BlanketTables::hashed, nb::rv_policy::automatic)
        .def("probabilities", &BlanketTables::probabilities, nb::arg("i"), nb::arg("state"),
             nb::arg("inverse_temperature").none(), nb::arg("joint"))
        .def("sample", &BlanketTables::sample, nb::kw_only(), nb::arg("seed"), nb::arg("steps"),
             nb::arg("rows").noconvert(), nb::arg("inverse_temperature").none(), nb::arg("joint"));
}

}  // namespace ibmap
