// Reduces integers along an axis. Sums and products wrap.
#include "backends/cpu/ops/reduction_integers.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/ops/split.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

template <typename From>
int32_t column(const From* x, int64_t length, int64_t stride, Reduce operation, int64_t count) {
    int32_t best = x[0];
    uint32_t sum = 0, product = 1;  // arithmetic wraps
    bool any = false, all = true;
    for (int64_t r = 0; r < length; ++r) {
        const int32_t v = x[r * stride];
        const auto bits = static_cast<uint32_t>(v);
        switch (operation) {
            case Reduce::AbsSum:
                sum += v < 0 ? 0u - bits : bits;
                break;
            case Reduce::SquareSum:
                sum += bits * bits;
                break;
            case Reduce::Max:
                best = std::max(best, v);
                break;
            case Reduce::Min:
                best = std::min(best, v);
                break;
            case Reduce::Prod:
                product *= bits;
                break;
            case Reduce::Any:
                any = any || v != 0;
                break;
            case Reduce::All:
                all = all && v != 0;
                break;
            default:
                sum += bits;
                break;
        }
    }
    switch (operation) {
        case Reduce::Max:
        case Reduce::Min:
            return best;
        case Reduce::Prod:
            return static_cast<int32_t>(product);
        case Reduce::Any:
            return any;
        case Reduce::All:
            return all;
        case Reduce::Mean:
            return static_cast<int32_t>(static_cast<int32_t>(sum) / count);
        default:
            return static_cast<int32_t>(sum);
    }
}

template <typename T>
T emptyInteger(Reduce operation) {
    switch (operation) {
        case Reduce::Max:
            return std::numeric_limits<T>::lowest();
        case Reduce::Min:
            return std::numeric_limits<T>::max();
        case Reduce::Prod:
        case Reduce::All:
            return 1;
        default:
            return 0;
    }
}

}  // namespace

void reduceIntegers(ThreadPool& pool, const ReductionStep& step, TypedData<const void*> from, TypedData<void*> to,
                    Reduce operation, int64_t count) {
    const auto run = [&](auto source, auto target) {
        const auto* const x = static_cast<const decltype(source)*>(from.elements);
        auto* const y = static_cast<decltype(target)*>(to.elements);
        forRows(pool, step.outer * step.inner, step.length, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t outer = i / step.inner, inner = i % step.inner;
                y[i] = static_cast<decltype(target)>(
                    column(x + outer * step.length * step.inner + inner, step.length, step.inner, operation, count));
            }
        });
    };
    withInteger(from.type, [&](auto source) { withInteger(to.type, [&](auto target) { run(source, target); }); });
}

void fillReducedIntegers(TypedData<void*> output, int64_t elements, Reduce operation) {
    withInteger(output.type, [&](auto sample) {
        using T = decltype(sample);
        std::fill_n(static_cast<T*>(output.elements), elements, emptyInteger<T>(operation));
    });
}

}  // namespace mnnc::cpu
