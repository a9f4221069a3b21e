// Products of a few rows with keys and values that are kept from run to run. Reading these bounds the speed.
#include <type_traits>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/sequence/attention.h"
#include "base/half.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sequence/kept_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

// GCC 12 warns about undefined operands of its own intrinsics (GCC PR 105593).
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int kMaxRows = 4;
// Vectors of results that are added up in registers for each row.
constexpr int kMaxVectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;

struct KeptFloats {
    const float* data;
    const float* row(size_t j, size_t depth) const { return data + j * depth; }
    static HWY_INLINE V load(const float* x) { return hn::LoadU(D(), x); }
    static HWY_INLINE V loadFirst(const float* x, size_t count) { return loadSome(x, count, 0); }
};

// Instruction sets that do not convert halves read floats alone: kernels with conversions number by number would be two
// thirds of this file's code.
constexpr bool kReadsHalves = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON;

HWY_NOINLINE V firstHalves(const uint16_t* x, size_t count) {
    alignas(64) float buffer[kLanes] = {};
    for (size_t i = 0; i < count; ++i) buffer[i] = halfToFloat(x[i]);
    return hn::Load(D(), buffer);
}

struct KeptHalves {
    const uint16_t* data;
    const uint16_t* row(size_t j, size_t depth) const { return data + j * depth; }
    static HWY_INLINE V load(const uint16_t* x) {
#if HWY_TARGET == HWY_AVX3
        return V{_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x)))};
#elif HWY_TARGET == HWY_AVX2
        return V{_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)))};
#elif HWY_TARGET == HWY_NEON
        return V{vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x)))};
#else
        return firstHalves(x, kLanes);
#endif
    }
    static HWY_INLINE V loadFirst(const uint16_t* x, size_t count) {
        return firstHalves(x, count);
    }
};

// The number of rows from the present one to the one that is prefetched: the processor's own prefetching stops at the
// end of a page of memory.
constexpr size_t kAhead = 12;
template <typename T>
HWY_INLINE void prefetchRow(const T* row, size_t elements) {
    const auto* bytes = reinterpret_cast<const char*>(row);
    for (size_t i = 0; i < elements * sizeof(T); i += 64) __builtin_prefetch(bytes + i);
}

template <int R, typename Kept>
HWY_INLINE void scoreRows(const float* q, size_t qStep, const Kept& keys, size_t depth, size_t count, float* s,
                          size_t step) {
    const D d;
    const size_t lanes = hn::Lanes(d), whole = depth / lanes * lanes;
    for (size_t j = 0; j < count; ++j) {
        const auto* key = keys.row(j, depth);
        prefetchRow(keys.row(j + kAhead, depth), depth);
        V sum[R];
        for (int r = 0; r < R; ++r) sum[r] = hn::Zero(d);
        for (size_t i = 0; i < whole; i += lanes) {
            const V x = Kept::load(key + i);
            for (int r = 0; r < R; ++r) sum[r] = hn::MulAdd(hn::LoadU(d, q + r * qStep + i), x, sum[r]);
        }
        if (whole < depth) {
            const V x = Kept::loadFirst(key + whole, depth - whole);
            for (int r = 0; r < R; ++r)
                sum[r] = hn::MulAdd(loadSome(q + r * qStep + whole, depth - whole, 0), x, sum[r]);
        }
        for (int r = 0; r < R; ++r) s[r * step + j] = hn::GetLane(hn::SumOfLanes(d, sum[r]));
    }
}

// N vectors of each row from column `c` on; `last`: lanes of the last vector.
template <int R, int N, typename Kept>
HWY_INLINE void weighColumns(const float* p, size_t pStep, const Kept& values, size_t depth, size_t count, size_t c,
                             size_t last, bool adds, float* y, size_t step) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V sum[R][N];
    for (int r = 0; r < R; ++r)
        for (int n = 0; n < N; ++n)
            sum[r][n] = adds ? loadSome(y + r * step + c + n * lanes, n == N - 1 ? last : lanes, 0) : hn::Zero(d);
    const auto addRow = [&](size_t j, const auto& load) HWY_ATTR {
        const auto* value = values.row(j, depth) + c;
        prefetchRow(values.row(j + kAhead, depth) + c, N * lanes);
        V x[N];
        for (int n = 0; n < N; ++n) x[n] = load(value + n * lanes, n);
        for (int r = 0; r < R; ++r) {
            const V weight = k(p[r * pStep + j]);
            for (int n = 0; n < N; ++n) sum[r][n] = hn::MulAdd(weight, x[n], sum[r][n]);
        }
    };
    if (last == lanes) {
        for (size_t j = 0; j < count; ++j) addRow(j, [](const auto* x, int) HWY_ATTR { return Kept::load(x); });
    } else {
        for (size_t j = 0; j < count; ++j)
            addRow(j, [last](const auto* x, int n)
                          HWY_ATTR { return n == N - 1 ? Kept::loadFirst(x, last) : Kept::load(x); });
    }
    for (int r = 0; r < R; ++r)
        for (int n = 0; n < N; ++n) storeSome(sum[r][n], y + r * step + c + n * lanes, n == N - 1 ? last : lanes);
}

template <int R, typename Kept>
HWY_INLINE void weighRows(const float* p, size_t pStep, const Kept& values, size_t depth, size_t count, bool adds,
                          float* y, size_t step) {
    const size_t lanes = hn::Lanes(D()), widest = kMaxVectors * lanes;
    size_t c = 0;
    for (; c + widest <= depth; c += widest)
        weighColumns<R, kMaxVectors>(p, pStep, values, depth, count, c, lanes, adds, y, step);
    for (; c < depth; c += lanes)
        weighColumns<R, 1>(p, pStep, values, depth, count, c, depth - c < lanes ? depth - c : lanes, adds, y, step);
}

// Calls apply for the type of the rows.
template <typename Apply>
HWY_INLINE void withRows(const KeptRows& rows, const Apply& apply) {
    if constexpr (kReadsHalves)
        if (rows.halves) return apply(KeptHalves{static_cast<const uint16_t*>(rows.data)});
    apply(KeptFloats{static_cast<const float*>(rows.data)});
}

// Calls apply(first, count as a constant) for rows in groups of up to four.
template <typename Apply>
HWY_INLINE void byFours(int rows, const Apply& apply) {
    int r = 0;
    for (; r + kMaxRows <= rows; r += kMaxRows) apply(r, std::integral_constant<int, kMaxRows>());
    switch (rows - r) {
        case 1:
            return apply(r, std::integral_constant<int, 1>());
        case 2:
            return apply(r, std::integral_constant<int, 2>());
        case 3:
            return apply(r, std::integral_constant<int, 3>());
        default:
            return;
    }
}

void scores(const ScoreRows& q, const KeptRows& keys, float* s, size_t step) {
    withRows(keys, [&](const auto& kept) HWY_ATTR {
        byFours(q.rows, [&](int r, auto count) HWY_ATTR {
            scoreRows<decltype(count)::value>(q.data + r * q.step, q.step, kept, keys.depth, keys.count, s + r * step,
                                              step);
        });
    });
}

void weigh(const ScoreRows& p, const KeptRows& values, bool adds, float* y, size_t step) {
    withRows(values, [&](const auto& kept) HWY_ATTR {
        byFours(p.rows, [&](int r, auto count) HWY_ATTR {
            weighRows<decltype(count)::value>(p.data + r * p.step, p.step, kept, values.depth, values.count, adds,
                                              y + r * step, step);
        });
    });
}

void expandHalves(const uint16_t* from, size_t count, float* to) {
    const size_t lanes = hn::Lanes(D());
    size_t i = 0;
    if constexpr (!kReadsHalves)
        for (; i < count; ++i) to[i] = halfToFloat(from[i]);
    for (; i + lanes <= count; i += lanes) hn::StoreU(KeptHalves::load(from + i), D(), to + i);
    if (i < count) storeSome(KeptHalves::loadFirst(from + i, count - i), to + i, count - i);
}

}  // namespace

const KeptKernels& keptTable() {
    static constexpr KeptKernels table = {scores, weigh, kReadsHalves, expandHalves};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const KeptKernels& keptKernels(Isa isa) {
    MNNC_SELECT(isa, keptTable)
}
}  // namespace mnnc
#endif
