// The features that the compiler assumed for one build (IBMAP_BUILD): bit i for the i-th of them. Only a constant: code
// of this file could be such that the processor that asks cannot run it.
#include "features.hpp"

#define TEXT_OF(tokens) #tokens
#define TEXT(tokens) TEXT_OF(tokens)
#define JOIN_TO(left, right) left##right
#define JOIN(left, right) JOIN_TO(left, right)

namespace {
struct Count {
    int i = 0;
    std::uint64_t needs = 0;
    // A macro that is not defined is its own text.
    constexpr Count& add(const char* text) {
        needs |= std::uint64_t{text[0] != '_'} << i++;
        return *this;
    }
};
#define FEATURE(name, macro, ...) .add(TEXT(macro))
constexpr std::uint64_t needs = Count {}
IBMAP_FEATURES(FEATURE).needs;
}  // namespace

extern const std::uint64_t JOIN(ibmap_needs_, IBMAP_BUILD);
const std::uint64_t JOIN(ibmap_needs_, IBMAP_BUILD) = needs;
