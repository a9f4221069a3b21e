// Kernels over rows and columns: reductions, softmax, normalisation.
// Long float sums are cut into blocks whose partial sums are added in double, so that their error does not grow with
// length.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise/elementwise_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr size_t kBlock = 512;

// Reduces a row to one vector with `op`, four chains at a time; `fill` is op's neutral element.
template <class Op>
HWY_INLINE V fold(const float* x, size_t n, float fill, const Op& op) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V a = k(fill), b = a, c = a, e = a;
    size_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        a = op(a, hn::LoadU(d, x + i));
        b = op(b, hn::LoadU(d, x + i + lanes));
        c = op(c, hn::LoadU(d, x + i + 2 * lanes));
        e = op(e, hn::LoadU(d, x + i + 3 * lanes));
    }
    for (; i < n; i += lanes) a = op(a, loadSome(x + i, n - i, fill));
    return op(op(a, b), op(c, e));
}
struct AddOp {
    HWY_INLINE V operator()(V a, V b) const { return hn::Add(a, b); }
};
struct MaxOp {
    HWY_INLINE V operator()(V a, V b) const { return maximum(a, b); }
};
struct MinOp {
    HWY_INLINE V operator()(V a, V b) const { return minimum(a, b); }
};
// The maximum for softmax, which any element that is NaN makes NaN without its help.
struct TopOp {
    HWY_INLINE V operator()(V a, V b) const { return hn::Max(a, b); }
};
struct MulOp {
    HWY_INLINE V operator()(V a, V b) const { return hn::Mul(a, b); }
};

HWY_INLINE float total(V v) {
    return hn::GetLane(hn::SumOfLanes(D(), v));
}

double sumDouble(const float* x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i += kBlock) sum += total(fold(x + i, std::min(kBlock, n - i), 0, AddOp()));
    return sum;
}
float sum(const float* x, size_t n) {
    return static_cast<float>(sumDouble(x, n));
}
// Highway's extremes over lanes lose NaN, and without vectors infinity.
template <class Op>
float extreme(const float* x, size_t n, const Op& op) {
    alignas(64) float lanes[kLanes];
    V result = fold(x, n, x[0], op);
    hn::Store(result, D(), lanes);
    for (size_t i = 0; i < kLanes; ++i) result = op(result, k(lanes[i]));
    return hn::GetLane(result);
}
float maxRow(const float* x, size_t n) {
    return extreme(x, n, MaxOp());
}
float minRow(const float* x, size_t n) {
    return extreme(x, n, MinOp());
}
float prod(const float* x, size_t n) {
    const D d;
    alignas(64) float lanes[kLanes];
    hn::Store(fold(x, n, 1, MulOp()), d, lanes);
    float result = 1;
    for (size_t i = 0; i < hn::Lanes(d); ++i) result *= lanes[i];
    return result;
}

template <class Op>
void into(float* acc, const float* x, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const Op op;
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, acc + i), hn::LoadU(d, x + i)), d, acc + i);
    if (i < n) storeSome(op(loadSome(acc + i, n - i, 0), loadSome(x + i, n - i, 0)), acc + i, n - i);
}

void softmax(const float* x, float* y, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    // -inf minus -inf would be NaN: with a finite maximum a row of -inf becomes zeros, which the sum below detects.
    const float top = std::max(hn::GetLane(hn::MaxOfLanes(d, fold(x, n, x[0], TopOp()))), -FLT_MAX);
    const V shift = k(top);
    double sum = 0;
    for (size_t start = 0; start < n; start += kBlock) {
        const size_t end = std::min(n, start + kBlock);
        sum += total(exponentials(x + start, y + start, end - start, shift));
    }
    const V scale = k(sum < 0.5 ? 0.0f : static_cast<float>(1.0 / sum));
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, y + i), scale), d, y + i);
    if (i < n) storeSome(hn::Mul(loadSome(y + i, n - i, 0), scale), y + i, n - i);
}

// Adds the sums of a block of rows, a column in each lane, to those of the blocks before it, and returns all rounded.
HWY_NOINLINE V addBlock(V block, double* sums) {
    alignas(64) float part[kLanes];
    hn::Store(block, D(), part);
    for (size_t i = 0; i < kLanes; ++i) {
        sums[i] += part[i];
        part[i] = static_cast<float>(sums[i]);
    }
    return hn::Load(D(), part);
}
// Returns the sums of columns of `axis` rows; add(row, sum) adds an element of each.
template <class Add>
HWY_INLINE V sumRows(size_t axis, const Add& add) {
    double sums[kLanes] = {};
    V result = hn::Zero(D());
    for (size_t r = 0; r < axis;) {
        V block = hn::Zero(D());
        for (const size_t end = std::min(axis, r + kBlock); r < end; ++r) block = add(r, block);
        result = addBlock(block, sums);
    }
    return result;
}

void softmaxColumns(const float* x, float* y, size_t axis, size_t stride, size_t columns) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    for (size_t c = 0; c < columns; c += lanes) {
        const size_t count = std::min(lanes, columns - c);
        V top = k(-FLT_MAX);
        for (size_t r = 0; r < axis; ++r) top = hn::Max(top, loadSome(x + r * stride + c, count, 0));
        const V sum = sumRows(axis, [&](size_t r, V before) HWY_ATTR {
            const V e = expUpTo88(hn::Sub(loadSome(x + r * stride + c, count, 0), top));
            storeSome(e, y + r * stride + c, count);
            return hn::Add(before, e);
        });
        const V scale = hn::IfThenZeroElse(hn::Lt(sum, k(0.5f)), hn::Div(k(1), sum));
        for (size_t r = 0; r < axis; ++r)
            storeSome(hn::Mul(loadSome(y + r * stride + c, count, 0), scale), y + r * stride + c, count);
    }
}

HWY_INLINE V squares(const float* x, size_t n, V mean) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V a = hn::Zero(d), b = a;
    size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        const V u = hn::Sub(hn::LoadU(d, x + i), mean);
        const V v = hn::Sub(hn::LoadU(d, x + i + lanes), mean);
        a = hn::MulAdd(u, u, a);
        b = hn::MulAdd(v, v, b);
    }
    for (; i < n; i += lanes) {
        // Lanes behind the row are filled with the mean and add nothing.
        const V u = hn::Sub(loadSome(x + i, n - i, hn::GetLane(mean)), mean);
        a = hn::MulAdd(u, u, a);
    }
    return hn::Add(a, b);
}

void norm(const float* x, float* y, size_t n, const float* gamma, const float* beta, float eps, bool rms) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V mean = k(rms ? 0.0f : static_cast<float>(sumDouble(x, n) / static_cast<double>(n)));
    double square = 0;
    for (size_t i = 0; i < n; i += kBlock) square += total(squares(x + i, std::min(kBlock, n - i), mean));
    const V scale = k(static_cast<float>(1.0 / std::sqrt(square / static_cast<double>(n) + eps)));
    size_t i = 0;
    for (; i < n; i += lanes) {
        V v = hn::Mul(hn::Sub(loadSome(x + i, n - i, 0), mean), scale);
        if (gamma && beta) {
            v = hn::MulAdd(v, loadSome(gamma + i, n - i, 0), loadSome(beta + i, n - i, 0));
        } else if (gamma) {
            v = hn::Mul(v, loadSome(gamma + i, n - i, 0));
        } else if (beta) {
            v = hn::Add(v, loadSome(beta + i, n - i, 0));
        }
        storeSome(v, y + i, n - i);
    }
}

void normColumns(const float* x, float* y, size_t axis, size_t stride, size_t columns, const float* gamma,
                 const float* beta, float eps, bool rms) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V inverse = k(1.0f / static_cast<float>(axis));
    for (size_t c = 0; c < columns; c += lanes) {
        const size_t count = std::min(lanes, columns - c);
        const auto element = [&](size_t r) HWY_ATTR { return loadSome(x + r * stride + c, count, 0); };
        V mean = hn::Zero(d);
        if (!rms) {
            const V sum = sumRows(axis, [&](size_t r, V before) HWY_ATTR { return hn::Add(before, element(r)); });
            mean = hn::Mul(sum, inverse);
        }
        const V square = sumRows(axis, [&](size_t r, V before) HWY_ATTR {
            const V u = hn::Sub(element(r), mean);
            return hn::MulAdd(u, u, before);
        });
        const V scale = hn::Div(k(1), hn::Sqrt(hn::MulAdd(square, inverse, k(eps))));
        for (size_t r = 0; r < axis; ++r) {
            V v = hn::Mul(hn::Sub(element(r), mean), scale);
            if (gamma && beta) {
                v = hn::MulAdd(v, k(gamma[r]), k(beta[r]));
            } else if (gamma) {
                v = hn::Mul(v, k(gamma[r]));
            } else if (beta) {
                v = hn::Add(v, k(beta[r]));
            }
            storeSome(v, y + r * stride + c, count);
        }
    }
}

}  // namespace

const RowKernels& rowTable() {
    static constexpr RowKernels table = {
        sum,         maxRow,      minRow,  prod,           into<AddOp>, into<MaxOp>,
        into<MinOp>, into<MulOp>, softmax, softmaxColumns, norm,        normColumns,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const RowKernels& rowKernels(Isa isa) {
    MNNC_SELECT(isa, rowTable)
}
}  // namespace mnnc
#endif
