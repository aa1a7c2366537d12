// exp, log and log-gamma as plain arithmetic, so that loops over them become vectors; codings of levels.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ibmap {

inline constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10;
inline constexpr double ROUND = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves the rounded integer in the low bits

[[gnu::always_inline]] inline double exp_below_zero(double t) {  // e^t, t <= 0; 0 below -708
    const double low = t < -708.0 ? -708.0 : t;
    const double rounded = low * 1.4426950408889634 + ROUND, k = rounded - ROUND;
    const double r = (low - k * LN2_HIGH) - k * LN2_LOW;
    double p = 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const auto exponent = std::bit_cast<std::uint64_t>(rounded) << 52;
    const double scaled = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + exponent);
    return t >= -708.0 ? scaled : 0.0;
}

[[gnu::always_inline]] inline double log_and(double u, double lost) {  // log(u) + lost, u positive and normal
    const auto bits = std::bit_cast<std::int64_t>(u);
    const std::int64_t k = (bits - 0x3FE6A09E667F3BCD) >> 52;
    const double f = std::bit_cast<double>(static_cast<std::uint64_t>(bits) - (static_cast<std::uint64_t>(k) << 52)) - 1.0;
    const double exponent = std::bit_cast<double>(k + 0x4338000000000000) - ROUND;
    const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double p = 1.531383769920937332e-01 + z * 1.479819860511658591e-01;
    p = 1.818357216161805012e-01 + z * p;
    p = 2.222219843214978396e-01 + z * p;
    p = 2.857142874366239149e-01 + z * p;
    p = 3.999999999940941908e-01 + z * p;
    p = 6.666666666666735130e-01 + z * p;
    return exponent * LN2_HIGH - ((half - (s * (half + z * p) + (exponent * LN2_LOW + lost))) - f);
}

[[gnu::always_inline]] inline double log_of(double u) { return log_and(u, 0.0); }

[[gnu::always_inline]] inline double softplus(double t) {  // log(1 + e^t)
    const double m = exp_below_zero(t < 0 ? t : -t), u = 1.0 + m;
    return (t > 0.0 ? t : 0.0) + log_and(u, m - (u - 1.0));
}

// log Γ(a + n) - log Γ(a), n = 0 ... most: a sum of logs, with what rounding loses.
inline std::vector<double> rising_table(double a, std::int64_t most) {
    std::vector<double> out(most + 1);
    double total = 0.0, lost = 0.0;
    for (std::int64_t n = 0; n <= most; ++n) {
        out[n] = total + lost;
        const double term = std::log(a + double(n)), longer = total + term;
        lost += std::abs(total) >= std::abs(term) ? (total - longer) + term : (term - longer) + total;
        total = longer;
    }
    return out;
}

// How levels enter a design, level by level: orthonormal contrasts (Helmert's: a level against the mean of those
// before it), or one column of equally spaced scores with the same spread.
struct Coding {
    int levels = 0, columns = 0;
    std::vector<double> entry;  // (level, column)

    double operator()(int level, int column) const { return entry[level * columns + column]; }
};

inline Coding contrasts(int levels) {
    Coding coding{levels, levels - 1, std::vector<double>(levels * std::max(levels - 1, 0), 0.0)};
    for (int column = 0; column + 1 < levels; ++column) {
        const double scale = 1.0 / std::sqrt((column + 1.0) * (column + 2.0));
        for (int level = 0; level <= column; ++level) coding.entry[level * (levels - 1) + column] = -scale;
        coding.entry[(column + 1) * (levels - 1) + column] = (column + 1.0) * scale;
    }
    return coding;
}

inline Coding indicators(int levels) {
    Coding coding{levels, levels, std::vector<double>(std::size_t(levels) * levels, 0.0)};
    for (int level = 0; level < levels; ++level) coding.entry[level * levels + level] = 1.0;
    return coding;
}

inline Coding scores(int levels) {
    Coding coding{levels, 1, std::vector<double>(levels)};
    for (int level = 0; level < levels; ++level)
        coding.entry[level] = (level - 0.5 * (levels - 1)) * std::sqrt(12.0 / (levels * (levels + 1.0)));
    return coding;
}

}  // namespace ibmap
