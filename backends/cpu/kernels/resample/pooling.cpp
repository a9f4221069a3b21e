// Rows of max and average pooling, vectors along the channels of a block.
#include "backends/cpu/kernels/resample/pooling.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/resample/pooling.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr size_t P = HWY_LANES(float);
constexpr float kLowest = -std::numeric_limits<float>::infinity();
constexpr size_t kBlock = 1024;  // positions whose sum is rounded separately

HWY_INLINE const float* tapRow(const PoolRow& r, int z, int y) {
    return r.src + (static_cast<size_t>(z) * static_cast<size_t>(r.height) + static_cast<size_t>(y)) *
                       static_cast<size_t>(r.width) * P;
}

struct MaxStep {
    static HWY_INLINE V start() { return hn::Set(D(), kLowest); }
    static HWY_INLINE V step(V a, V b) { return hn::Max(a, b); }
};
struct SumStep {
    static HWY_INLINE V start() { return hn::Zero(D()); }
    static HWY_INLINE V step(V a, V b) { return hn::Add(a, b); }
};

// Folds n neighbouring positions, four chains at a time.
template <class Step>
HWY_INLINE V foldLong(const float* x, size_t n) {
    const D d;
    V a = Step::start(), b = a, c = a, e = a;
    size_t i = 0;
    for (; i + 4 <= n; i += 4, x += 4 * P) {
        a = Step::step(a, hn::LoadU(d, x));
        b = Step::step(b, hn::LoadU(d, x + P));
        c = Step::step(c, hn::LoadU(d, x + 2 * P));
        e = Step::step(e, hn::LoadU(d, x + 3 * P));
    }
    for (; i < n; ++i, x += P) a = Step::step(a, hn::LoadU(d, x));
    return Step::step(Step::step(a, b), Step::step(c, e));
}

template <class Step>
HWY_INLINE V foldWindow(const PoolRow& r, PoolSpan across) {
    const D d;
    V total = Step::start();
    const auto n = static_cast<size_t>(std::max(0, across.last - across.first));
    for (int z = r.depthTaps.first; z < r.depthTaps.last; ++z) {
        for (int y = r.heightTaps.first; y < r.heightTaps.last; ++y) {
            const float* x = tapRow(r, z, y) + static_cast<size_t>(across.first) * P;
            if (n <= 8) {
                for (size_t i = 0; i < n; ++i) total = Step::step(total, hn::LoadU(d, x + i * P));
                continue;
            }
            for (size_t i = 0; i < n; i += kBlock)
                total = Step::step(total, foldLong<Step>(x + i * P, std::min(kBlock, n - i)));
        }
    }
    return total;
}

constexpr int kTogether = 4;  // windows folded together, because a single one waits for each of its steps

// Returns whether the windows of outputs x to x + kTogether - 1 are narrow and equally wide.
HWY_INLINE bool alike(const PoolRow& r, int x) {
    if (x + kTogether > r.outputs) return false;
    const int n = r.widthTaps[x].last - r.widthTaps[x].first;
    if (n < 1 || n > 8) return false;
    for (int i = 1; i < kTogether; ++i)
        if (r.widthTaps[x + i].last - r.widthTaps[x + i].first != n) return false;
    return true;
}

// Folds like foldWindow, step by step in the same order.
template <class Step>
HWY_INLINE void foldTogether(const PoolRow& r, int x, V (&total)[kTogether]) {
    const D d;
    const PoolSpan* across = r.widthTaps + x;
    const int n = across[0].last - across[0].first;
    HWY_UNROLL(4)
    for (int i = 0; i < kTogether; ++i) total[i] = Step::start();
    for (int z = r.depthTaps.first; z < r.depthTaps.last; ++z) {
        for (int y = r.heightTaps.first; y < r.heightTaps.last; ++y) {
            const float* line = tapRow(r, z, y);
            const float* from[kTogether];
            HWY_UNROLL(4)
            for (int i = 0; i < kTogether; ++i) from[i] = line + static_cast<size_t>(across[i].first) * P;
            for (int k = 0; k < n; ++k) {
                HWY_UNROLL(4)
                for (int i = 0; i < kTogether; ++i)
                    total[i] = Step::step(total[i], hn::LoadU(d, from[i] + static_cast<size_t>(k) * P));
            }
        }
    }
}

void maximum(const PoolRow& r) {
    for (int x = 0; x < r.outputs;) {
        float* to = r.dst + static_cast<size_t>(x) * P;
        if (alike(r, x)) {
            V total[kTogether];
            foldTogether<MaxStep>(r, x, total);
            HWY_UNROLL(4)
            for (int i = 0; i < kTogether; ++i) hn::StoreU(total[i], D(), to + static_cast<size_t>(i) * P);
            x += kTogether;
        } else {
            hn::StoreU(foldWindow<MaxStep>(r, r.widthTaps[x]), D(), to);
            ++x;
        }
    }
}

void maximumIndex(const PoolRow& r) {
    const D d;
    const hn::RebindToSigned<D> di;
    for (int o = 0; o < r.outputs; ++o) {
        const PoolSpan across = r.widthTaps[o];
        V best = hn::Set(d, kLowest);
        auto where = hn::Set(di, r.heightTaps.first * r.width + across.first);
        for (int z = r.depthTaps.first; z < r.depthTaps.last; ++z) {
            for (int y = r.heightTaps.first; y < r.heightTaps.last; ++y) {
                const float* line = tapRow(r, z, y);
                for (int x = across.first; x < across.last; ++x) {
                    const V v = hn::LoadU(d, line + static_cast<size_t>(x) * P);
                    const auto larger = hn::Gt(v, best);
                    best = hn::IfThenElse(larger, v, best);
                    where = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, y * r.width + x), where);
                }
            }
        }
        hn::StoreU(best, d, r.dst + static_cast<size_t>(o) * P);
        hn::StoreU(where, di, r.index + static_cast<size_t>(o) * P);
    }
}

void average(const PoolRow& r) {
    const D d;
    const auto store = [&](int x, V sum) HWY_ATTR {
        const int64_t count = r.rowCount * r.widthCounts[x];
        const V v = count > 0 ? hn::Div(sum, hn::Set(d, static_cast<float>(count))) : hn::Zero(d);
        hn::StoreU(v, d, r.dst + static_cast<size_t>(x) * P);
    };
    for (int x = 0; x < r.outputs;) {
        if (alike(r, x)) {
            V total[kTogether];
            foldTogether<SumStep>(r, x, total);
            for (int i = 0; i < kTogether; ++i) store(x + i, total[i]);
            x += kTogether;
        } else {
            store(x, foldWindow<SumStep>(r, r.widthTaps[x]));
            ++x;
        }
    }
}

}  // namespace

const PoolKernels& poolTable() {
    static constexpr PoolKernels table = {static_cast<int>(P), maximum, maximumIndex, average};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const PoolKernels& poolKernels(Isa isa) {
    MNNC_SELECT(isa, poolTable)
}
}  // namespace mnnc
#endif
