// Bits of many words counted at once.
#pragma once
#include "matrix.hpp"

#if defined(__AVX512VPOPCNTDQ__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ibmap {

using Words = std::uint64_t __attribute__((vector_size(VECTOR), aligned(8), may_alias));
using HalfInts = std::int32_t __attribute__((vector_size(VECTOR / 2), aligned(4), may_alias));

[[gnu::always_inline]] inline Words ones_in(Words w) {
#ifdef __AVX512VPOPCNTDQ__
    return (Words)_mm512_popcnt_epi64((__m512i)w);
#elif defined(__AVX2__)  // nibbles by a table, bytes added up
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15), v = (__m256i)w;
    const __m256i ones = _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
                                         _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)));
    return (Words)_mm256_sad_epu8(ones, _mm256_setzero_si256());
#else
    w = w - ((w >> 1) & 0x5555555555555555u);
    w = (w & 0x3333333333333333u) + ((w >> 2) & 0x3333333333333333u);
    w = (w + (w >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    w = w + (w >> 8);
    w = w + (w >> 16);
    return (w + (w >> 32)) & 0x7Fu;
#endif
}

}  // namespace ibmap
