// Vector kernels of the gates of recurrent layers.
#include "backends/cpu/kernels/sequence/recurrent.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sequence/recurrent.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// Calls step(position, values in it) for the vectors of a row; the last one may be partial.
template <class F>
HWY_INLINE void vectors(size_t n, const F& step) {
    const size_t lanes = hn::Lanes(D());
    for (size_t i = 0; i < n; i += lanes) step(i, n - i < lanes ? n - i : lanes);
}

void rnn(const float* x, float* h, size_t n) {
    vectors(n, [&](size_t i, size_t m) { storeSome(vtanh(loadSome(x + i, m, 0)), h + i, m); });
}

void lstm(const LstmSums& s, const float* c0, float* c, float* h, size_t n) {
    vectors(n, [&](size_t at, size_t m) {
        const V i = vsigmoid(loadSome(s.i + at, m, 0)), f = vsigmoid(loadSome(s.f + at, m, 0));
        const V o = vsigmoid(loadSome(s.o + at, m, 0)), g = vtanh(loadSome(s.g + at, m, 0));
        const V state = hn::MulAdd(f, loadSome(c0 + at, m, 0), hn::Mul(i, g));
        storeSome(state, c + at, m);
        storeSome(hn::Mul(o, vtanh(state)), h + at, m);
    });
}

void gruReset(const float* r, const float* h, float* y, size_t n) {
    vectors(n, [&](size_t i, size_t m) {
        storeSome(hn::Mul(vsigmoid(loadSome(r + i, m, 0)), loadSome(h + i, m, 0)), y + i, m);
    });
}

// Returns z h + (1 - z) candidate.
HWY_INLINE V mixed(V z, V h, V candidate) {
    return hn::MulAdd(z, h, hn::Mul(hn::Sub(k(1), z), candidate));
}

void gru(const float* z, const float* x, const float* h, float* y, size_t n) {
    vectors(n, [&](size_t i, size_t m) {
        const V candidate = vtanh(loadSome(x + i, m, 0));
        storeSome(mixed(vsigmoid(loadSome(z + i, m, 0)), loadSome(h + i, m, 0), candidate), y + i, m);
    });
}

void gruResetAfter(const GruSums& x, const GruSums& own, const float* h, float* y, size_t n) {
    vectors(n, [&](size_t i, size_t m) {
        const auto sum = [&](const float* a, const float* b)
                             HWY_ATTR { return hn::Add(loadSome(a + i, m, 0), loadSome(b + i, m, 0)); };
        const V z = vsigmoid(sum(x.z, own.z)), r = vsigmoid(sum(x.r, own.r));
        const V candidate = vtanh(hn::MulAdd(r, loadSome(own.h + i, m, 0), loadSome(x.h + i, m, 0)));
        storeSome(mixed(z, loadSome(h + i, m, 0), candidate), y + i, m);
    });
}

void lstmBlock(const LstmBlockRow& row, size_t n) {
    const V forget = k(row.forgetBias), clip = k(row.clip);
    const bool peephole = row.peephole[0] != nullptr;
    vectors(n, [&](size_t at, size_t m) {
        const V before = loadSome(row.state + at, m, 0);
        V i = loadSome(row.sums[0] + at, m, 0), f = hn::Add(loadSome(row.sums[2] + at, m, 0), forget);
        V o = loadSome(row.sums[3] + at, m, 0);
        if (peephole) {
            i = hn::MulAdd(before, loadSome(row.peephole[0] + at, m, 0), i);
            f = hn::MulAdd(before, loadSome(row.peephole[1] + at, m, 0), f);
        }
        i = vsigmoid(i);
        f = vsigmoid(f);
        const V ci = vtanh(loadSome(row.sums[1] + at, m, 0));
        V state = hn::MulAdd(ci, i, hn::Mul(before, f));
        if (row.clip > 0) state = limit::Min(clip, limit::Max(hn::Neg(clip), state));
        if (peephole) o = hn::MulAdd(state, loadSome(row.peephole[2] + at, m, 0), o);
        o = vsigmoid(o);
        const V co = vtanh(state);
        const V results[] = {i, state, f, o, ci, co, hn::Mul(co, o)};
        for (int r = 0; r < 7; ++r)
            if (row.out[r]) storeSome(results[r], row.out[r] + at, m);
    });
}

}  // namespace

const RecurrentKernels& recurrentTable() {
    static constexpr RecurrentKernels table = {rnn, lstm, gruReset, gru, gruResetAfter, lstmBlock};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const RecurrentKernels& recurrentKernels(Isa isa) {
    MNNC_SELECT(isa, recurrentTable)
}
}  // namespace mnnc
#endif
