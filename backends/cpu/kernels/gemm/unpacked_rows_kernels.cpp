// Products of a few rows by an unpacked matrix: some vectors of columns at a time, from the first row of the matrix to
// the last.
#include "backends/cpu/kernels/gemm/unpacked_rows.h"

#include <algorithm>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm/unpacked_rows_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);
// The number of vectors at a time: enough sums that none waits for its last addition, but no more than the registers
// hold.
#if HWY_TARGET == HWY_EMU128
constexpr int kWide[UnpackedRowsArgs::kMaxRows + 1] = {0, 2, 1, 1, 1};
#else
constexpr int kWide[UnpackedRowsArgs::kMaxRows + 1] = {0, 8, 4, P == 16 ? 4 : 2, P == 16 ? 4 : 2};
#endif
constexpr int kRowsAhead = 12;  // of the matrix

// Computes R rows and NB vectors of columns from `column` on; the last vector has `lanes` lanes.
template <int R, int NB>
HWY_NOINLINE void multiplyColumns(const UnpackedRowsArgs& t, int column, size_t lanes) {
    const D d;
    V acc[R][NB];
    const auto take = [&](const float* from, V(&to)[NB]) HWY_ATTR {
        HWY_UNROLL(8)
        for (int n = 0; n + 1 < NB; ++n) to[n] = hn::LoadU(d, from + n * P);
        to[NB - 1] = loadSome(from + (NB - 1) * P, lanes, 0);
    };
    V first[NB];
    if (t.bias) {
        take(t.bias + column, first);
    } else {
        HWY_UNROLL(8)
        for (int n = 0; n < NB; ++n) first[n] = hn::Zero(d);
    }
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(8)
        for (int n = 0; n < NB; ++n) acc[r][n] = first[n];
    }
    const float* b = t.b + column;
    for (int k = 0; k < t.terms; ++k, b += t.bRow) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        if (t.far) {
            const float* const ahead = b + std::min(kRowsAhead, t.terms - 1 - k) * t.bRow;
            HWY_UNROLL(8)
            for (int n = 0; n < NB; ++n) __builtin_prefetch(ahead + n * P);
        }
#endif
        V row[NB];
        take(b, row);
        HWY_UNROLL(4)
        for (int r = 0; r < R; ++r) {
            const V x = hn::Set(d, t.a[r * t.aRow + k]);
            HWY_UNROLL(8)
            for (int n = 0; n < NB; ++n) acc[r][n] = hn::MulAdd(x, row[n], acc[r][n]);
        }
    }
    HWY_UNROLL(4)
    for (int r = 0; r < R; ++r) {
        float* to = t.c + r * t.cRow + column;
        HWY_UNROLL(8)
        for (int n = 0; n + 1 < NB; ++n) hn::StoreU(acc[r][n], d, to + n * P);
        storeSome(acc[r][NB - 1], to + (NB - 1) * P, lanes);
    }
}

// Computes the columns from `column` on, at most NB vectors.
template <int R, int NB>
void multiplyLast(const UnpackedRowsArgs& t, int column) {
    const int left = t.columns - column;
    if constexpr (NB > 1)
        if (left <= (NB - 1) * P) return multiplyLast<R, NB - 1>(t, column);
    multiplyColumns<R, NB>(t, column, static_cast<size_t>(left - (NB - 1) * P));
}

template <int R>
void multiplyRows(const UnpackedRowsArgs& t) {
    constexpr int NB = kWide[R];
    int column = 0;
    for (; column + NB * P < t.columns; column += NB * P) multiplyColumns<R, NB>(t, column, kLanes);
    multiplyLast<R, NB>(t, column);
}

void unpackedRowsF32(const UnpackedRowsArgs& t) {
    switch (t.rows) {
        case 1:
            multiplyRows<1>(t);
            break;
        case 2:
            multiplyRows<2>(t);
            break;
        case 3:
            multiplyRows<3>(t);
            break;
        default:
            multiplyRows<4>(t);
            break;
    }
}

}  // namespace

UnpackedRows unpackedRowsTable() {
    return &unpackedRowsF32;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
UnpackedRows unpackedRows(Isa isa) {
    MNNC_SELECT(isa, unpackedRowsTable)
}
}  // namespace mnnc
#endif
