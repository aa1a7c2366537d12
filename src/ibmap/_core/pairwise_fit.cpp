// The penalised pseudo-likelihood of a pairwise model: its maximum, and how sure the data are of the effects there.
//
// Given its neighbours y, variable x has the log weights field_x(a) + Σ_y T_xy(a, level of y). The pseudo-likelihood is
// Σ_x Σ_slices Σ_a count log p(a | slice), less ½ of the precisions times the squares of all parameters; a slice is a
// configuration of the neighbours that was seen. Parameters are one flat array: the fields, then the tables of the
// edges. Fields and tables are centred, so that no level is the reference.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "arrays.hpp"
#include "bind.hpp"
#include "interrupt.hpp"
#include "lbfgs.hpp"
#include "numbers.hpp"

namespace ibmap {

namespace {

using Index = std::int64_t;
using Floats = std::vector<double>;
constexpr Index most_parameters = Index{1} << 40;
// Up to so many levels a pass per level is faster than a look-up per slice: 4 times for 2 levels, 1.8 for 3; half as fast
// for 8 (values of win95pts, and of random tables, AVX-512).
constexpr Index few_levels = 4;

double dot(const double* a, const double* b, Index n) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

// out[k] += by_level[code[k]]; by_level[0] is 0
void add_by_level(double* out, const std::int32_t* code, Index n, std::span<const double> by_level) {
    if (Index(by_level.size()) > few_levels) {
        for (Index k = 0; k < n; ++k) out[k] += by_level[code[k]];
        return;
    }
    for (std::int32_t level = 1; level < std::int32_t(by_level.size()); ++level) {
        const double add = by_level[level];
        for (Index k = 0; k < n; ++k) out[k] += code[k] == level ? add : 0.0;
    }
}

// sums[level] = Σ values[k] over the k with that code; ``all`` is the sum of all values
void sum_by_level(const double* values, const std::int32_t* code, Index n, double all, std::span<double> sums) {
    std::ranges::fill(sums, 0.0);
    if (Index(sums.size()) > few_levels) {
        for (Index k = 0; k < n; ++k) sums[code[k]] += values[k];
        return;
    }
    for (std::int32_t level = 1; level < std::int32_t(sums.size()); ++level) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index k = 0; k < n; ++k) sum += code[k] == level ? values[k] : 0.0;
        sums[level] = sum;
        all -= sum;
    }
    sums[0] = all;
}

// A neighbour of x: the table of the edge, the strides of both ends in it, and the neighbour's level in every slice.
struct Member {
    Index y, edge, table, own, other, levels;
    const std::int32_t* code;
};

// A variable and what was counted of it.
struct Blanket {
    Index levels, field, n_slices = 0;
    std::vector<Member> members;
    const double* counts = nullptr;  // levels × slices
    const double* sizes = nullptr;   // rows of each slice

    Index at_once() const { return std::max<Index>(16, 8192 / levels); }  // slices whose numbers stay in the cache
};

// Contrasts of the levels of a variable that are uncorrelated under the shares m of the levels: each level against the
// mean of those before it, g_a = e_a - (m_a / M_a) Σ_{c < a} e_c with M_a = Σ_{c < a} m_c. Their mean under m is 0.
struct Contrasts {
    Floats share, ratio, variance, square;  // ratio: m_a / M_a; variance under m; square of the centred contrast

    explicit Contrasts(Floats shares) : share(std::move(shares)), ratio(size()), variance(size()), square(size()) {
        double before = share[0];
        for (Index a = 1; a < size(); before += share[a], ++a) {
            ratio[a] = share[a] / before;
            variance[a] = share[a] * (1.0 + ratio[a]);
            const double sum = 1.0 - double(a) * ratio[a];
            square[a] = 1.0 + double(a) * ratio[a] * ratio[a] - sum * sum / double(size());
        }
    }

    Index size() const { return Index(share.size()); }

    // From the coordinates u of all contrasts (the one of level 0 is not looked at) to levels: Σ_a u_a g_a, in place.
    void expand(double* u, Index stride) const {
        double later = 0.0;
        for (Index a = size() - 1; a > 0; --a) {
            const double own = u[a * stride];
            u[a * stride] = own - later;
            later += own * ratio[a];
        }
        u[0] = -later;
    }

    // The transpose of that: from levels to Σ_c g_a(c) v_c for all contrasts, and 0 for level 0, in place.
    void contract(double* v, Index stride) const {
        double before = v[0];
        v[0] = 0.0;
        for (Index a = 1; a < size(); ++a) {
            const double own = v[a * stride];
            v[a * stride] = own - ratio[a] * before;
            before += own;
        }
    }
};

void centre(std::span<double> values) {
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    for (double& value : values) value -= mean;
}

class PseudoLikelihood {
  public:
    PseudoLikelihood(Vector<const Index> levels, Table2<const Index> pairs, Vector<const Index> slice_start,
                     Vector<const Index> keys, Vector<const Index> counts, double field_precision, double table_precision)
        : field_precision_(field_precision), table_precision_(table_precision) {
        if (!(field_precision > 0) || !(table_precision > 0)) throw std::invalid_argument("precisions must be positive");
        lay_out(span_of(levels), pairs);
        read(span_of(slice_start), span_of(keys), span_of(counts));
        find_contrasts();
    }
    PseudoLikelihood(const PseudoLikelihood&) = delete;  // blankets are views of codes_ and counts_

    nb::tuple value(Vector<const double> theta) const {
        check(theta);
        const std::span<const double> at = span_of(theta);
        Floats gradient(size_);
        double found = 0.0;
        {
            const nb::gil_scoped_release unlocked;
            Interrupt interrupt;
            found = value(at.data(), gradient.data(), interrupt);
        }
        return nb::make_tuple(found, to_numpy(std::move(gradient)));
    }

    nb::tuple maximum(double close, Index max_iter) const {
        lbfgs::Found found;
        Floats theta(size_), gradient(size_);
        {
            const nb::gil_scoped_release unlocked;
            Interrupt interrupt;
            auto height = [&](const Floats& u, Floats& along) {
                parameters(u, theta.data());
                const double there = value(theta.data(), gradient.data(), interrupt);
                pull_back(gradient.data(), along);
                return there;
            };
            found = lbfgs::climb(height, independent(), close, max_iter);
            parameters(found.place, theta.data());
        }
        return nb::make_tuple(to_numpy(std::move(theta)), found.n_steps, found.slope);
    }

    nb::tuple covariances(Vector<const double> theta, Index most) const {
        check(theta);
        const std::span<const double> at = span_of(theta);
        std::vector<Index> start{0};
        Floats found;
        {
            const nb::gil_scoped_release unlocked;
            Interrupt interrupt;
            for (const Blanket& blanket : blankets_) add_covariances(blanket, at.data(), most, start, found, interrupt);
        }
        return nb::make_tuple(to_numpy(std::move(start)), to_numpy(std::move(found)));
    }

  private:
    struct Edge {
        Index x, y, table;
    };

    // Say where the parameters are: the fields, then the tables of the edges, the levels of the first end going down.
    void lay_out(std::span<const Index> levels, const Table2<const Index>& pairs) {
        if (pairs.shape(1) != 2) throw std::invalid_argument("pairs must have two columns");
        const Index n = Index(levels.size());
        blankets_.resize(n);
        for (Index x = 0; x < n; ++x) {
            if (levels[x] < 1 || levels[x] > std::numeric_limits<std::int32_t>::max())
                throw std::invalid_argument("every variable must have levels");
            blankets_[x].levels = levels[x];
            blankets_[x].field = size_;
            grow(levels[x]);
        }
        n_fields_ = size_;
        for (std::size_t e = 0; e < pairs.shape(0); ++e) {
            const Index x = pairs(e, 0), y = pairs(e, 1);
            if (x < 0 || y <= x || y >= n) throw std::invalid_argument("pairs must be variables i < j");
            blankets_[x].members.push_back({y, Index(e), size_, levels[y], 1, levels[y], nullptr});
            blankets_[y].members.push_back({x, Index(e), size_, 1, levels[y], levels[x], nullptr});
            edges_.push_back({x, y, size_});
            grow(levels[x] * levels[y]);
        }
        for (auto& blanket : blankets_) std::ranges::sort(blanket.members, {}, &Member::y);
    }

    void grow(Index more) {
        if (more > most_parameters - size_) throw std::invalid_argument("there are too many parameters");
        size_ += more;
    }

    // Turn slices round, so that loops over them are over neighbouring numbers.
    void read(std::span<const Index> slice_start, std::span<const Index> keys, std::span<const Index> counts) {
        if (slice_start.size() != blankets_.size() + 1 || slice_start[0] != 0 || !std::ranges::is_sorted(slice_start))
            throw std::invalid_argument("slice_start must rise from 0, with an entry for every variable and the end");
        Index n_keys = 0, n_counts = 0;
        for (std::size_t x = 0; x < blankets_.size(); ++x) {
            Blanket& blanket = blankets_[x];
            blanket.n_slices = slice_start[x + 1] - slice_start[x];
            const auto most = std::max<Index>({blanket.levels, Index(blanket.members.size()), 1});
            if (blanket.n_slices > most_parameters / most) throw std::invalid_argument("there are too many slices");
            n_keys += blanket.n_slices * Index(blanket.members.size());
            n_counts += blanket.n_slices * blanket.levels;
        }
        if (n_keys != Index(keys.size()) || n_counts != Index(counts.size()))
            throw std::invalid_argument("keys and counts do not fit the slices");
        codes_.resize(n_keys);
        counts_.resize(n_counts);
        sizes_.resize(slice_start.back());
        Index key = 0, count = 0;
        for (std::size_t x = 0; x < blankets_.size(); ++x) {
            Blanket& blanket = blankets_[x];
            const Index n = blanket.n_slices, n_members = Index(blanket.members.size());
            for (Index j = 0; j < n_members; ++j) {
                blanket.members[j].code = codes_.data() + key + j * n;
                for (Index k = 0; k < n; ++k) {
                    const Index level = keys[key + k * n_members + j];
                    if (level < 0 || level >= blanket.members[j].levels) throw std::invalid_argument("a key is no level");
                    codes_[key + j * n + k] = std::int32_t(level);
                }
            }
            double* sizes = sizes_.data() + slice_start[x];
            for (Index a = 0; a < blanket.levels; ++a)
                for (Index k = 0; k < n; ++k) {
                    const Index rows = counts[count + k * blanket.levels + a];
                    if (rows < 0) throw std::invalid_argument("a count is negative");
                    counts_[count + a * n + k] = double(rows);
                    sizes[k] += double(rows);
                }
            blanket.counts = counts_.data() + count;
            blanket.sizes = sizes;
            key += n * n_members;
            count += n * blanket.levels;
        }
    }

    // Where all variables are independent, the curvature along contrasts g_a of fields, and along products g_a g_b of
    // tables, is diagonal, but for the penalty. Coordinates are scaled by it, so that rare levels do not slow down a
    // search by gradients.
    void find_contrasts() {
        Floats rows;
        for (const Blanket& blanket : blankets_) {
            Floats share(blanket.levels);
            for (Index a = 0; a < blanket.levels; ++a) {
                const double* seen = blanket.counts + a * blanket.n_slices;
                share[a] = std::accumulate(seen, seen + blanket.n_slices, 0.5);
            }
            const double sum = std::accumulate(share.begin(), share.end(), 0.0);
            for (double& one : share) one /= sum;
            rows.push_back(sum);
            const auto& own = contrasts_.emplace_back(std::move(share));
            for (Index a = 1; a < own.size(); ++a)
                add_coordinate(blanket.field + a, sum * own.variance[a] + field_precision_ * own.square[a]);
        }
        for (const auto& [x, y, table] : edges_) {
            const auto &of_x = contrasts_[x], &of_y = contrasts_[y];
            for (Index a = 1; a < of_x.size(); ++a)
                for (Index b = 1; b < of_y.size(); ++b)
                    add_coordinate(table + a * of_y.size() + b,
                                   (rows[x] + rows[y]) * of_x.variance[a] * of_y.variance[b] +
                                       table_precision_ * of_x.square[a] * of_y.square[b]);
        }
    }

    // A coordinate is kept, while it is turned into parameters, where the parameter of the same levels will be.
    void add_coordinate(Index place, double curvature) {
        place_.push_back(place);
        scale_.push_back(1.0 / std::sqrt(curvature));
    }

    void check(const Vector<const double>& theta) const {
        if (Index(theta.size()) != size_) throw std::invalid_argument("theta must have a number for every parameter");
    }

    // The log odds of levels 1, 2, ... against level 0, in slices first ... first + n.
    static void log_odds(const Blanket& blanket, const double* theta, Index first, Index n, double* odds,
                         Floats& by_level) {
        const double* field = theta + blanket.field;
        for (Index a = 1; a < blanket.levels; ++a) {
            double* own = odds + (a - 1) * n;
            double of_level_0 = field[a] - field[0];  // of all neighbours; others are seen against that
            for (const Member& member : blanket.members)
                of_level_0 += theta[member.table + a * member.own] - theta[member.table];
            std::fill_n(own, n, of_level_0);
            for (const Member& member : blanket.members) {
                const double *low = theta + member.table, *high = low + a * member.own;
                by_level.resize(member.levels);
                for (Index c = 0; c < member.levels; ++c)
                    by_level[c] = (high[c * member.other] - low[c * member.other]) - (high[0] - low[0]);
                add_by_level(own, member.code + first, n, by_level);
            }
        }
    }

    // From log odds to the shares of levels 1, 2, ...; return Σ_k rows_k log Σ_a e^odds, of which level 0 is one.
    static double to_shares(Index levels, const double* rows, Index n, double* odds, double* peak, double* total) {
        std::fill_n(peak, n, 0.0);
        for (Index a = 1; a < levels; ++a)
            for (Index k = 0; k < n; ++k) peak[k] = std::max(peak[k], odds[(a - 1) * n + k]);
        for (Index k = 0; k < n; ++k) total[k] = exp_below_zero(-peak[k]);
        for (Index a = 1; a < levels; ++a)
            for (Index k = 0; k < n; ++k) {
                odds[(a - 1) * n + k] = exp_below_zero(odds[(a - 1) * n + k] - peak[k]);
                total[k] += odds[(a - 1) * n + k];
            }
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index k = 0; k < n; ++k) {
            sum += rows[k] * (peak[k] + log_of(total[k]));
            total[k] = 1.0 / total[k];
        }
        for (Index a = 1; a < levels; ++a)
            for (Index k = 0; k < n; ++k) odds[(a - 1) * n + k] *= total[k];
        return sum;
    }

    double value(const double* theta, double* gradient, Interrupt& interrupt) const {
        double found = 0.0;
        Floats odds, by_level, peak, total;
        std::fill_n(gradient, size_, 0.0);
        for (const Blanket& blanket : blankets_) {
            const Index most = blanket.at_once();
            odds.resize(most * blanket.levels);
            peak.resize(most);
            total.resize(most);
            for (Index first = 0; first < blanket.n_slices; first += most) {
                const Index n = std::min(most, blanket.n_slices - first);
                const double* rows = blanket.sizes + first;
                log_odds(blanket, theta, first, n, odds.data(), by_level);
                for (Index a = 1; a < blanket.levels; ++a)
                    found += dot(odds.data() + (a - 1) * n, blanket.counts + a * blanket.n_slices + first, n);
                found -= to_shares(blanket.levels, rows, n, odds.data(), peak.data(), total.data());
                for (Index a = 1; a < blanket.levels; ++a) {
                    double* left = odds.data() + (a - 1) * n;
                    const double* seen = blanket.counts + a * blanket.n_slices + first;
                    for (Index k = 0; k < n; ++k) left[k] = seen[k] - rows[k] * left[k];
                    add_gradient(blanket, a, first, n, left, gradient, by_level);
                }
                interrupt.after(n * blanket.levels * (1 + blanket.members.size()));
            }
        }
        for (Index i = 0; i < size_; ++i) {
            const double pull = (i < n_fields_ ? field_precision_ : table_precision_) * theta[i];
            found -= 0.5 * pull * theta[i];
            gradient[i] -= pull;
        }
        return found;
    }

    // What level a has more than is expected, level 0 has less.
    static void add_gradient(const Blanket& blanket, Index a, Index first, Index n, const double* left, double* gradient,
                             Floats& by_level) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index k = 0; k < n; ++k) sum += left[k];
        gradient[blanket.field + a] += sum;
        gradient[blanket.field] -= sum;
        for (const Member& member : blanket.members) {
            by_level.resize(member.levels);
            sum_by_level(left, member.code + first, n, sum, by_level);
            double* table = gradient + member.table;
            for (Index c = 0; c < member.levels; ++c) {
                table[a * member.own + c * member.other] += by_level[c];
                table[c * member.other] -= by_level[c];
            }
        }
    }

    // The parameters that coordinates stand for. Fields are Σ_a u_a g_a, centred; an edge adds Σ_ab Θ_ab g_a g_b, of
    // which what depends on one end alone goes to the field of that end.
    void parameters(const Floats& u, double* theta) const {
        std::fill_n(theta, size_, 0.0);
        for (std::size_t i = 0; i < u.size(); ++i) theta[place_[i]] = u[i] * scale_[i];
        for (std::size_t x = 0; x < blankets_.size(); ++x) {
            contrasts_[x].expand(theta + blankets_[x].field, 1);
            centre({theta + blankets_[x].field, std::size_t(blankets_[x].levels)});
        }
        for (const auto& [x, y, at] : edges_) {
            double *table = theta + at, *field_x = theta + blankets_[x].field, *field_y = theta + blankets_[y].field;
            const Index r_x = blankets_[x].levels, r_y = blankets_[y].levels;
            for (Index a = 1; a < r_x; ++a) contrasts_[y].expand(table + a * r_y, 1);
            for (Index b = 0; b < r_y; ++b) contrasts_[x].expand(table + b, r_y);
            const double mean = std::accumulate(table, table + r_x * r_y, 0.0) / double(r_x * r_y);
            for (Index a = 0; a < r_x; ++a) {
                const double own = std::accumulate(table + a * r_y, table + (a + 1) * r_y, 0.0) / double(r_y) - mean;
                field_x[a] += own;
                for (Index b = 0; b < r_y; ++b) table[a * r_y + b] -= own;
            }
            for (Index b = 0; b < r_y; ++b) {
                double own = 0.0;
                for (Index a = 0; a < r_x; ++a) own += table[a * r_y + b];
                own /= double(r_x);
                field_y[b] += own - mean;
                for (Index a = 0; a < r_x; ++a) table[a * r_y + b] -= own;
            }
        }
    }

    // The transpose of that: the gradient along coordinates, given the one along parameters, which is used up.
    void pull_back(double* gradient, Floats& along) const {
        for (const Blanket& blanket : blankets_) centre({gradient + blanket.field, std::size_t(blanket.levels)});
        for (const auto& [x, y, at] : edges_) {
            double* table = gradient + at;
            const double *field_x = gradient + blankets_[x].field, *field_y = gradient + blankets_[y].field;
            const Index r_x = blankets_[x].levels, r_y = blankets_[y].levels;
            for (Index a = 0; a < r_x; ++a) centre({table + a * r_y, std::size_t(r_y)});
            for (Index b = 0; b < r_y; ++b) {
                double mean = 0.0;
                for (Index a = 0; a < r_x; ++a) mean += table[a * r_y + b];
                mean /= double(r_x);
                for (Index a = 0; a < r_x; ++a)
                    table[a * r_y + b] += field_x[a] / double(r_y) + field_y[b] / double(r_x) - mean;
            }
            for (Index b = 0; b < r_y; ++b) contrasts_[x].contract(table + b, r_y);
            for (Index a = 0; a < r_x; ++a) contrasts_[y].contract(table + a * r_y, 1);
        }
        for (std::size_t x = 0; x < blankets_.size(); ++x) contrasts_[x].contract(gradient + blankets_[x].field, 1);
        for (std::size_t i = 0; i < along.size(); ++i) along[i] = gradient[place_[i]] * scale_[i];
    }

    // The coordinates at which all variables are independent, with the shares that were seen.
    Floats independent() const {
        Floats u(place_.size(), 0.0);
        std::size_t i = 0;
        for (const Contrasts& own : contrasts_) {
            double before = own.share[0] * std::log(own.share[0]);
            for (Index a = 1; a < own.size(); ++a, ++i) {
                const double here = own.share[a] * std::log(own.share[a]);
                u[i] = (here - own.ratio[a] * before) / own.variance[a] / scale_[i];
                before += here;
            }
        }
        return u;
    }

    // Given its neighbours, x is a log-linear model of its own: effects of intercept and neighbours, along orthonormal
    // contrasts of all levels. The inverse of its information has the covariances of the effects of every neighbour,
    // contrasts of x × contrasts of the neighbour. Nothing is added for models of more than ``most`` parameters.
    void add_covariances(const Blanket& blanket, const double* theta, Index most, std::vector<Index>& start, Floats& found,
                         Interrupt& interrupt) const {
        const Index q = blanket.levels - 1;
        std::vector<Index> column{1};  // of the design, where the contrasts of every neighbour begin
        for (const Member& member : blanket.members) column.push_back(column.back() + member.levels - 1);
        const Index width = column.back();
        if (q < 1 || width > most / q || blanket.members.empty()) {
            start.insert(start.end(), blanket.members.size(), Index(found.size()));
            return;
        }
        Floats matrix = information(blanket, theta, column, interrupt);
        const Index order = q * width;
        const Floats root = inverse_root(matrix, order);
        interrupt.after(order * order * order);
        for (std::size_t j = 0; j < blanket.members.size(); ++j) {
            std::vector<Index> rows;
            for (Index a = 0; a < q; ++a)
                for (Index i = column[j]; i < column[j + 1]; ++i) rows.push_back(a * width + i);
            for (const Index r : rows)
                for (const Index s : rows) {
                    const Index from = std::max(r, s);
                    found.push_back(dot(root.data() + r * order + from, root.data() + s * order + from, order - from));
                }
            start.push_back(Index(found.size()));
        }
    }

    // Σ_k rows_k cov_k(contrasts of x) ⊗ d_k d_kᵀ, and the precisions on the diagonal; d_k is the row of the design.
    Floats information(const Blanket& blanket, const double* theta, const std::vector<Index>& column,
                       Interrupt& interrupt) const {
        const Index r = blanket.levels, q = r - 1, width = column.back(), order = q * width, most = 256;
        Floats matrix(order * order), design(width * most, 1.0), odds(q * most), peak(most), total(most), by_level;
        Floats means(q * most), weight(most), weighted(most);
        const Coding own = contrasts(int(r));
        std::vector<Coding> codings;
        for (const Member& member : blanket.members) codings.push_back(contrasts(int(member.levels)));
        for (Index first = 0; first < blanket.n_slices; first += most) {
            const Index n = std::min(most, blanket.n_slices - first);
            const double* rows = blanket.sizes + first;
            log_odds(blanket, theta, first, n, odds.data(), by_level);
            to_shares(r, rows, n, odds.data(), peak.data(), total.data());
            for (std::size_t j = 0; j < blanket.members.size(); ++j)
                for (Index i = column[j]; i < column[j + 1]; ++i)
                    for (Index k = 0; k < n; ++k)
                        design[i * most + k] = codings[j](blanket.members[j].code[first + k], int(i - column[j]));
            // sums over levels 1, 2, ... of the differences to level 0: as shares add up to 1, that is 0 in its place
            auto expected = [&](auto of_level, double* out) {
                std::fill_n(out, n, of_level(0));
                for (Index c = 1; c < r; ++c) {
                    const double more = of_level(c) - of_level(0);
                    for (Index k = 0; k < n; ++k) out[k] += odds[(c - 1) * n + k] * more;
                }
            };
            for (Index a = 0; a < q; ++a)
                expected([&](Index c) { return own(int(c), int(a)); }, means.data() + a * most);
            for (Index a = 0; a < q; ++a)
                for (Index b = 0; b <= a; ++b) {
                    expected([&](Index c) { return own(int(c), int(a)) * own(int(c), int(b)); }, weight.data());
                    for (Index k = 0; k < n; ++k)
                        weight[k] = rows[k] * (weight[k] - means[a * most + k] * means[b * most + k]);
                    for (Index i = 0; i < width; ++i) {
                        for (Index k = 0; k < n; ++k) weighted[k] = weight[k] * design[i * most + k];
                        for (Index j = 0; j <= i; ++j)
                            matrix[(a * width + i) * order + b * width + j] +=
                                dot(weighted.data(), design.data() + j * most, n);
                    }
                    interrupt.after(n * width * width);
                }
        }
        for (Index a = 0; a < q; ++a)
            for (Index b = 0; b <= a; ++b)
                for (Index i = 0; i < width; ++i)
                    for (Index j = 0; j < i; ++j)  // a block of two contrasts of x is symmetric
                        matrix[(a * width + j) * order + b * width + i] = matrix[(a * width + i) * order + b * width + j];
        for (Index a = 0; a < q; ++a)
            for (Index i = 0; i < width; ++i)
                matrix[(a * width + i) * (order + 1)] += i == 0 ? field_precision_ : table_precision_;
        return matrix;
    }

    // The transpose of L⁻¹, where L Lᵀ is the matrix (Cholesky), of which the lower half is looked at.
    static Floats inverse_root(Floats& matrix, Index order) {
        for (Index i = 0; i < order; ++i) {
            double* row = matrix.data() + i * order;
            for (Index j = 0; j < i; ++j)
                row[j] = (row[j] - dot(row, matrix.data() + j * order, j)) / matrix[j * (order + 1)];
            row[i] = std::sqrt(row[i] - dot(row, row, i));
        }
        Floats root(order * order);
        for (Index c = 0; c < order; ++c) {
            double* out = root.data() + c * order;
            out[c] = 1.0 / matrix[c * (order + 1)];
            for (Index i = c + 1; i < order; ++i)
                out[i] = -dot(matrix.data() + i * order + c, out + c, i - c) / matrix[i * (order + 1)];
        }
        return root;
    }

    double field_precision_, table_precision_;
    Index size_ = 0, n_fields_ = 0;
    std::vector<Blanket> blankets_;
    std::vector<Edge> edges_;
    std::vector<Contrasts> contrasts_;
    std::vector<std::int32_t> codes_;
    std::vector<Index> place_;
    Floats counts_, sizes_, scale_;
};

}  // namespace

void bind_pairwise_fit(nb::module_& module) {
    nb::class_<PseudoLikelihood>(module, "PseudoLikelihood")
        .def(nb::init<Vector<const Index>, Table2<const Index>, Vector<const Index>, Vector<const Index>,
                      Vector<const Index>, double, double>(),
             nb::arg("levels"), nb::arg("pairs"), nb::arg("slice_start"), nb::arg("keys"), nb::arg("counts"),
             nb::kw_only(), nb::arg("field_precision"), nb::arg("table_precision"))
        .def("value", nb::overload_cast<Vector<const double>>(&PseudoLikelihood::value, nb::const_), nb::arg("theta"))
        .def("maximum", &PseudoLikelihood::maximum, nb::arg("close"), nb::arg("max_iter"))
        .def("covariances", &PseudoLikelihood::covariances, nb::arg("theta"), nb::arg("most"));
}

}  // namespace ibmap
