// Random numbers: a counter, scrambled (splitmix64).
#pragma once
#include <bit>
#include <cstdint>

namespace ibmap {

inline std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

// A stream has a counter and a step of its own: the streams of a seed do not overlap.
struct Stream {
    std::uint64_t counter, step;

    Stream(std::uint64_t seed, std::uint64_t number)
        : counter(mix(seed + 2 * number)), step(mix(seed + 2 * number + 1) | 1) {}

    std::uint64_t next() { return mix(counter += step); }
};

// A number from 0 to 1, 1 excluded: the high 53 bits times 2^-53.
// AVX2 cannot convert integers of 64 bits. Their halves, written into the mantissas of 2^84 and 2^52, add up exactly.
inline double uniform(std::uint64_t bits) {
    const double high = std::bit_cast<double>(0x4530000000000000 | (bits >> 43));
    const double low = std::bit_cast<double>(0x4330000000000000 | ((bits >> 11) & 0xFFFFFFFF));
    return ((high - (0x1p84 + 0x1p52)) + low) * 0x1p-53;
}

}  // namespace ibmap
