// Instruction sets that a compiler may use on its own accord: what it calls them, and where cpuid has them.
// A feature has a name for people, the macro that the compiler defines when it assumes it, and leaf, subleaf, register
// (0 to 3: eax, ebx, ecx, edx), bit, and what the operating system must save: 0 nothing, 1 the registers of AVX, 2 of AVX-512.
#pragma once
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define IBMAP_FEATURES(FEATURE)                              \
    FEATURE("sse3", __SSE3__, 1, 0, 2, 0, 0)                 \
    FEATURE("ssse3", __SSSE3__, 1, 0, 2, 9, 0)               \
    FEATURE("fma", __FMA__, 1, 0, 2, 12, 1)                  \
    FEATURE("cx16", __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16, 1, 0, 2, 13, 0) \
    FEATURE("sse4.1", __SSE4_1__, 1, 0, 2, 19, 0)            \
    FEATURE("sse4.2", __SSE4_2__, 1, 0, 2, 20, 0)            \
    FEATURE("movbe", __MOVBE__, 1, 0, 2, 22, 0)              \
    FEATURE("popcnt", __POPCNT__, 1, 0, 2, 23, 0)            \
    FEATURE("avx", __AVX__, 1, 0, 2, 28, 1)                  \
    FEATURE("f16c", __F16C__, 1, 0, 2, 29, 1)                \
    FEATURE("bmi", __BMI__, 7, 0, 1, 3, 0)                   \
    FEATURE("avx2", __AVX2__, 7, 0, 1, 5, 1)                 \
    FEATURE("bmi2", __BMI2__, 7, 0, 1, 8, 0)                 \
    FEATURE("avx512f", __AVX512F__, 7, 0, 1, 16, 2)          \
    FEATURE("avx512dq", __AVX512DQ__, 7, 0, 1, 17, 2)        \
    FEATURE("adx", __ADX__, 7, 0, 1, 19, 0)                  \
    FEATURE("avx512ifma", __AVX512IFMA__, 7, 0, 1, 21, 2)    \
    FEATURE("avx512cd", __AVX512CD__, 7, 0, 1, 28, 2)        \
    FEATURE("avx512bw", __AVX512BW__, 7, 0, 1, 30, 2)        \
    FEATURE("avx512vl", __AVX512VL__, 7, 0, 1, 31, 2)        \
    FEATURE("avx512vbmi", __AVX512VBMI__, 7, 0, 2, 1, 2)     \
    FEATURE("avx512vbmi2", __AVX512VBMI2__, 7, 0, 2, 6, 2)   \
    FEATURE("gfni", __GFNI__, 7, 0, 2, 8, 0)                 \
    FEATURE("avx512vnni", __AVX512VNNI__, 7, 0, 2, 11, 2)    \
    FEATURE("avx512bitalg", __AVX512BITALG__, 7, 0, 2, 12, 2) \
    FEATURE("avx512vpopcntdq", __AVX512VPOPCNTDQ__, 7, 0, 2, 14, 2) \
    FEATURE("avx512fp16", __AVX512FP16__, 7, 0, 3, 23, 2)    \
    FEATURE("avxvnni", __AVXVNNI__, 7, 1, 0, 4, 1)           \
    FEATURE("avx512bf16", __AVX512BF16__, 7, 1, 0, 5, 2)     \
    FEATURE("avxifma", __AVXIFMA__, 7, 1, 0, 23, 1)          \
    FEATURE("apx", __APX_F__, 7, 1, 3, 21, 2)                \
    FEATURE("lahf", __LAHF_SAHF__, 0x80000001, 0, 2, 0, 0)   \
    FEATURE("lzcnt", __LZCNT__, 0x80000001, 0, 2, 5, 0)
#else
#define IBMAP_FEATURES(FEATURE)  // other processors: not asked, so compile for the baseline what is to be copied
#endif
