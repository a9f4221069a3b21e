// Converts elements in chunks: first to 64 bits, which hold every value of every type, then to the target type.
#include "c_api/host_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/float_mode.h"
#include "base/half.h"
#include "mnn_c.h"

namespace mnnc {

namespace {

constexpr size_t kChunk = 256;

struct Half {
    uint16_t bits;
};
struct BFloat16 {
    uint16_t bits;
};
struct Bool {
    uint8_t byte;
};

template <typename T>
constexpr bool kIsFraction = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The wide types: double for fractions, int64_t for integers.
template <typename T>
auto widen(T value) {
    if constexpr (std::is_same_v<T, Half>)
        return static_cast<double>(halfToFloat(value.bits));
    else if constexpr (std::is_same_v<T, BFloat16>)
        return static_cast<double>(bfloat16ToFloat(value.bits));
    else if constexpr (std::is_same_v<T, Bool>)
        return int64_t{value.byte != 0};
    else if constexpr (std::is_floating_point_v<T>)
        return static_cast<double>(value);
    else
        return static_cast<int64_t>(value);
}

template <typename T, typename Wide>
T narrow(Wide value) {
    if constexpr (std::is_same_v<T, Half>)
        return {floatToHalf(static_cast<float>(value))};
    else if constexpr (std::is_same_v<T, BFloat16>)
        return {floatToBfloat16(static_cast<float>(value))};
    else if constexpr (std::is_same_v<T, Bool>)
        return {static_cast<uint8_t>(value != 0)};
    else
        return static_cast<T>(value);
}

template <typename T, typename Wide>
bool fits(Wide value) {
    if constexpr (std::is_same_v<T, Bool> || std::is_same_v<T, double>) {
        return true;
    } else if constexpr (kIsFraction<T>) {
        if constexpr (std::is_same_v<Wide, double>)
            if (!std::isfinite(value)) return true;
        return std::isfinite(widen(narrow<T>(value)));
    } else if constexpr (std::is_same_v<Wide, double>) {
        // The limits as doubles: the upper limit of int64_t rounds up to 2^63, which does not fit.
        constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
        constexpr double kAbove =
            std::is_same_v<T, int64_t> ? 0x1p63 : static_cast<double>(std::numeric_limits<T>::max()) + 1;
        return value >= kLow && value < kAbove && value == std::trunc(value);
    } else {
        return value >= int64_t{std::numeric_limits<T>::min()} && value <= int64_t{std::numeric_limits<T>::max()};
    }
}

// Calls `use` with a value of the C++ type of MNN_TYPE_*.
template <typename Use>
void withType(int32_t type, const Use& use) {
    switch (type) {
        case MNN_TYPE_FLOAT32:
            return use(float{});
        case MNN_TYPE_DOUBLE:
            return use(double{});
        case MNN_TYPE_INT32:
            return use(int32_t{});
        case MNN_TYPE_UINT8:
            return use(uint8_t{});
        case MNN_TYPE_INT16:
            return use(int16_t{});
        case MNN_TYPE_INT8:
            return use(int8_t{});
        case MNN_TYPE_INT64:
            return use(int64_t{});
        case MNN_TYPE_BOOL:
            return use(Bool{});
        case MNN_TYPE_BFLOAT16:
            return use(BFloat16{});
        case MNN_TYPE_UINT16:
            return use(uint16_t{});
        case MNN_TYPE_FLOAT16:
            return use(Half{});
        default:
            fail(Status::InvalidValue, "type is %d, which is none of MNN_TYPE_*", type);
    }
}

// A chunk of values in the wide types.
struct Chunk {
    bool fraction = false;
    double fractions[kChunk];
    int64_t integers[kChunk];

    void load(const void* from, int32_t type, size_t begin, size_t count) {
        withType(type, [&]<typename T>(T) {
            fraction = kIsFraction<T>;
            const auto* source = static_cast<const char*>(from) + begin * sizeof(T);
            for (size_t i = 0; i < count; ++i) {
                T value;
                std::memcpy(&value, source + i * sizeof(T), sizeof(T));
                if constexpr (kIsFraction<T>)
                    fractions[i] = widen(value);
                else
                    integers[i] = widen(value);
            }
        });
    }
    // The index of the first value that does not fit; count: all fit.
    size_t misfit(int32_t type, size_t count) const {
        size_t found = count;
        withType(type, [&]<typename T>(T) {
            const auto* end = fractions + count;
            if (fraction)
                found = static_cast<size_t>(std::find_if_not(fractions, end, fits<T, double>) - fractions);
            else
                found = static_cast<size_t>(std::find_if_not(integers, integers + count, fits<T, int64_t>) - integers);
        });
        return found;
    }
    void store(void* to, int32_t type, size_t begin, size_t count) const {
        withType(type, [&]<typename T>(T) {
            auto* target = static_cast<char*>(to) + begin * sizeof(T);
            for (size_t i = 0; i < count; ++i) {
                const T value = fraction ? narrow<T>(fractions[i]) : narrow<T>(integers[i]);
                std::memcpy(target + i * sizeof(T), &value, sizeof(T));
            }
        });
    }
};

}  // namespace

const char* hostTypeName(int32_t type) noexcept {
    switch (type) {
        case MNN_TYPE_FLOAT32:
            return "float32";
        case MNN_TYPE_DOUBLE:
            return "double";
        case MNN_TYPE_INT32:
            return "int32";
        case MNN_TYPE_UINT8:
            return "uint8";
        case MNN_TYPE_INT16:
            return "int16";
        case MNN_TYPE_INT8:
            return "int8";
        case MNN_TYPE_INT64:
            return "int64";
        case MNN_TYPE_BOOL:
            return "bool";
        case MNN_TYPE_BFLOAT16:
            return "bfloat16";
        case MNN_TYPE_UINT16:
            return "uint16";
        case MNN_TYPE_FLOAT16:
            return "float16";
        default:
            return nullptr;
    }
}

size_t hostElementBytes(int32_t type) {
    size_t bytes = 0;
    withType(type, [&]<typename T>(T) { bytes = sizeof(T); });
    return bytes;
}

void convertElements(const void* from, int32_t fromType, void* to, int32_t toType, size_t count, const char* name) {
    if (fromType == toType) {
        std::memmove(to, from, count * hostElementBytes(toType));
        return;
    }
    // The caller's thread may round in another direction, or take subnormal numbers for zeros.
    const ScopedFloatMode mode(FloatMode::computing(true));
    Chunk chunk;
    for (size_t begin = 0; begin < count; begin += kChunk) {
        const size_t part = std::min(kChunk, count - begin);
        chunk.load(from, fromType, begin, part);
        const size_t bad = chunk.misfit(toType, part);
        if (bad < part)
            fail(Status::InputDataError, "tensor '%s': element %zu is %.17g, which %s cannot hold", name, begin + bad,
                 chunk.fraction ? chunk.fractions[bad] : static_cast<double>(chunk.integers[bad]),
                 hostTypeName(toType));
    }
    for (size_t begin = 0; begin < count; begin += kChunk) {
        const size_t part = std::min(kChunk, count - begin);
        chunk.load(from, fromType, begin, part);
        chunk.store(to, toType, begin, part);
    }
}

}  // namespace mnnc
