// Layout conversions: the kernels of each instruction set and their threading.
#include "backends/cpu/kernels/pack.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/pack.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr int P = static_cast<int>(hn::MaxLanes(hn::ScalableTag<float>()));

using D4 = hn::FixedTag<float, 4>;
using V4 = hn::Vec<D4>;

// Transposes four rows to four columns in each block of four lanes.
template <class Tag, class Vec = hn::Vec<Tag>>
HWY_INLINE void transpose4(Tag d, Vec& a, Vec& b, Vec& c, Vec& e) {
    const hn::RepartitionToWide<Tag> dw;
    const Vec ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
    const Vec cd0 = hn::InterleaveLower(d, c, e), cd1 = hn::InterleaveUpper(d, c, e);
    a = hn::BitCast(d, hn::InterleaveLower(dw, hn::BitCast(dw, ab0), hn::BitCast(dw, cd0)));
    b = hn::BitCast(d, hn::InterleaveUpper(dw, hn::BitCast(dw, ab0), hn::BitCast(dw, cd0)));
    c = hn::BitCast(d, hn::InterleaveLower(dw, hn::BitCast(dw, ab1), hn::BitCast(dw, cd1)));
    e = hn::BitCast(d, hn::InterleaveUpper(dw, hn::BitCast(dw, ab1), hn::BitCast(dw, cd1)));
}

// Loads four floats of every fourth row, in blocks side by side.
template <class Tag>
HWY_INLINE hn::Vec<Tag> everyFourth(Tag d, const float* row, size_t stride) {
    if constexpr (hn::MaxLanes(Tag()) == 4) {
        return hn::LoadU(d, row);
    } else {
        const hn::Half<Tag> half;
        const size_t rows = hn::MaxLanes(half);
        return hn::Combine(d, everyFourth(half, row + rows * stride, stride), everyFourth(half, row, stride));
    }
}

HWY_INLINE void rowsTo(const float* src, size_t stride, int channels, size_t area, float* dst, size_t dstStride) {
    const D4 d;
    const hn::FixedTag<float, P> all;
    // The last four may overlap those before them.
    for (size_t at = 0; at < area && area >= 4; at += 4) {
        const size_t i = std::min(at, area - 4);
        if (channels == P) {
            const float* p = src + i;
            float* q = dst + i * dstStride;
            auto v0 = everyFourth(all, p, stride), v1 = everyFourth(all, p + stride, stride);
            auto v2 = everyFourth(all, p + 2 * stride, stride), v3 = everyFourth(all, p + 3 * stride, stride);
            transpose4(all, v0, v1, v2, v3);
            hn::StoreU(v0, all, q);
            hn::StoreU(v1, all, q + dstStride);
            hn::StoreU(v2, all, q + 2 * dstStride);
            hn::StoreU(v3, all, q + 3 * dstStride);
            continue;
        }
        for (int c = 0; c < P; c += 4) {
            const float* p = src + c * stride + i;
            float* q = dst + i * dstStride + c;
            V4 v0 = hn::Zero(d), v1 = v0, v2 = v0, v3 = v0;
            if (c < channels) v0 = hn::LoadU(d, p);
            if (c + 1 < channels) v1 = hn::LoadU(d, p + stride);
            if (c + 2 < channels) v2 = hn::LoadU(d, p + 2 * stride);
            if (c + 3 < channels) v3 = hn::LoadU(d, p + 3 * stride);
            transpose4(d, v0, v1, v2, v3);
            hn::StoreU(v0, d, q);
            hn::StoreU(v1, d, q + dstStride);
            hn::StoreU(v2, d, q + 2 * dstStride);
            hn::StoreU(v3, d, q + 3 * dstStride);
        }
    }
    for (size_t i = 0; i < area && area < 4; ++i) {
        for (int c = 0; c < P; ++c) dst[i * dstStride + c] = c < channels ? src[c * stride + i] : 0.0f;
    }
}

void rowsToBlock(const float* src, size_t stride, int channels, size_t area, float* dst) {
    rowsTo(src, stride, channels, area, dst, P);
}

void rowsToPanel(const float* src, size_t stride, int channels, size_t area, float* dst, size_t dstStride) {
    rowsTo(src, stride, channels, area, dst, dstStride);
}

void blockToRows(const float* src, int channels, size_t area, float* dst, size_t stride) {
    const D4 d;
    for (size_t at = 0; at < area && area >= 4; at += 4) {
        const size_t i = std::min(at, area - 4);
        for (int c = 0; c < channels; c += 4) {
            const float* q = src + i * P + c;
            float* p = dst + c * stride + i;
            V4 v0 = hn::LoadU(d, q), v1 = hn::LoadU(d, q + P), v2 = hn::LoadU(d, q + 2 * P);
            V4 v3 = hn::LoadU(d, q + 3 * P);
            transpose4(d, v0, v1, v2, v3);
            hn::StoreU(v0, d, p);
            if (c + 1 < channels) hn::StoreU(v1, d, p + stride);
            if (c + 2 < channels) hn::StoreU(v2, d, p + 2 * stride);
            if (c + 3 < channels) hn::StoreU(v3, d, p + 3 * stride);
        }
    }
    for (size_t i = 0; i < area && area < 4; ++i) {
        for (int c = 0; c < channels; ++c) dst[c * stride + i] = src[i * P + c];
    }
}

// Transposes four columns of up to four rows. Fewer rows are stored as four where the rows behind are written later.
HWY_INLINE void transposeQuad(const float* p, size_t stride, size_t rows, float* q, size_t dstStride) {
    const D4 d;
    V4 v0 = hn::LoadU(d, p), v1 = hn::Zero(d), v2 = v1, v3 = v1;
    if (rows > 1) v1 = hn::LoadU(d, p + stride);
    if (rows > 2) v2 = hn::LoadU(d, p + 2 * stride);
    if (rows > 3) v3 = hn::LoadU(d, p + 3 * stride);
    transpose4(d, v0, v1, v2, v3);
    hn::StoreU(v0, d, q);
    hn::StoreU(v1, d, q + dstStride);
    hn::StoreU(v2, d, q + 2 * dstStride);
    hn::StoreU(v3, d, q + 3 * dstStride);
}

void transposeByElement(const float* src, size_t stride, size_t rows, size_t columns, float* dst, size_t dstStride) {
    for (size_t i = 0; i < columns; ++i)
        for (size_t c = 0; c < rows; ++c) dst[i * dstStride + c] = src[c * stride + i];
}

// Transposes columns of one to three rows, which are contiguous in dst.
void transposeNarrow(const float* src, size_t stride, size_t rows, size_t columns, float* dst) {
    size_t i = 0;
    for (; i + 8 <= columns; i += 4) transposeQuad(src + i, stride, rows, dst + i * rows, rows);
    transposeByElement(src + i, stride, rows, columns - i, dst + i * rows, rows);
}

// Transposes rows of two or three columns, which are contiguous in src.
template <int COLUMNS>
void transposeShort(const float* src, size_t rows, float* dst, size_t dstStride) {
    const D4 d;
    size_t c = 0;
    for (; c + 8 <= rows; c += 4) {
        const float* p = src + c * COLUMNS;
        V4 v0 = hn::LoadU(d, p), v1 = hn::LoadU(d, p + COLUMNS), v2 = hn::LoadU(d, p + 2 * COLUMNS),
           v3 = hn::LoadU(d, p + 3 * COLUMNS);
        transpose4(d, v0, v1, v2, v3);
        hn::StoreU(v0, d, dst + c);
        hn::StoreU(v1, d, dst + dstStride + c);
        if constexpr (COLUMNS > 2) hn::StoreU(v2, d, dst + 2 * dstStride + c);
    }
    transposeByElement(src + c * COLUMNS, COLUMNS, rows - c, COLUMNS, dst + c, dstStride);
}

// Transposes rows in groups of a vector; the last group, and the last four rows or columns, may overlap those before
// them.
void transpose(const float* src, size_t stride, size_t rows, size_t columns, float* dst, size_t dstStride) {
    if (rows < 4 && rows == dstStride) return transposeNarrow(src, stride, rows, columns, dst);
    if (columns == 2 && stride == 2) return transposeShort<2>(src, rows, dst, dstStride);
    if (columns == 3 && stride == 3) return transposeShort<3>(src, rows, dst, dstStride);
    if (rows < 4 || columns < 4) return transposeByElement(src, stride, rows, columns, dst, dstStride);
    for (size_t at = 0; at < rows && rows >= P; at += P) {
        const size_t row = std::min(at, rows - P);
        rowsTo(src + row * stride, stride, P, columns, dst + row, dstStride);
    }
    if (rows >= P) return;
    for (size_t at = 0; at < columns; at += 4)
        for (size_t row = 0; row < rows; row += 4) {
            const size_t i = std::min(at, columns - 4), c = std::min(row, rows - 4);
            transposeQuad(src + c * stride + i, stride, 4, dst + i * dstStride + c, dstStride);
        }
}

template <int COUNT>
void mix(const LaneSource* sources, size_t area, float* dst) {
    const hn::ScalableTag<float> d;
    const hn::RebindToSigned<decltype(d)> di;
    using Indices = decltype(hn::SetTableIndices(d, sources[0].lane));
    using Mask = hn::Mask<decltype(d)>;
    const auto indicesOf = [&](int k) {
        HWY_ALIGN int32_t lanes[P];
        for (int i = 0; i < P; ++i) lanes[i] = std::max<int32_t>(0, sources[k].lane[i]);
        return hn::SetTableIndices(d, lanes);
    };
    const auto maskOf = [&](int k) {
        return hn::RebindMask(d, hn::Gt(hn::LoadU(di, sources[k].lane), hn::Set(di, -1)));
    };
    const auto mixed = [&](size_t i, int k, auto rest, Indices indices, Mask mask) {
        return hn::IfThenElse(mask, hn::TableLookupLanes(hn::LoadU(d, sources[k].block + i * P), indices), rest);
    };
    const Indices i0 = indicesOf(0), i1 = indicesOf(COUNT > 1 ? 1 : 0), i2 = indicesOf(COUNT > 2 ? 2 : 0),
                  i3 = indicesOf(COUNT > 3 ? 3 : 0);
    const Mask m0 = maskOf(0), m1 = maskOf(COUNT > 1 ? 1 : 0), m2 = maskOf(COUNT > 2 ? 2 : 0),
               m3 = maskOf(COUNT > 3 ? 3 : 0);
    for (size_t i = 0; i < area; ++i) {
        auto v = mixed(i, 0, hn::Zero(d), i0, m0);
        if constexpr (COUNT > 1) v = mixed(i, 1, v, i1, m1);
        if constexpr (COUNT > 2) v = mixed(i, 2, v, i2, m2);
        if constexpr (COUNT > 3) v = mixed(i, 3, v, i3, m3);
        hn::StoreU(v, d, dst + i * P);
    }
}

void mixLanes(const LaneSource* sources, int count, size_t area, float* dst) {
    if (count == 1)
        mix<1>(sources, area, dst);
    else if (count == 2)
        mix<2>(sources, area, dst);
    else if (count == 3)
        mix<3>(sources, area, dst);
    else
        mix<4>(sources, area, dst);
}

}  // namespace

const PackKernels& packTable() {
    static constexpr PackKernels table = {&rowsToBlock, &rowsToPanel, &blockToRows, &transpose, &mixLanes};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {

const PackKernels& packKernels(Isa isa) {
    MNNC_SELECT(isa, packTable)
}

namespace {

// The number of floats below which waking another thread costs more than the copy.
constexpr size_t kWorthThreads = 1 << 14;

template <typename Body>
void overBlocks(ThreadPool& pool, int blocks, size_t floats, Body&& body) {
    if (floats < kWorthThreads) {
        for (int i = 0; i < blocks; ++i) body(i);
        return;
    }
    parallelFor(pool, blocks, body);
}

int blocksOf(int channels, int lanes) {
    return (channels + lanes - 1) / lanes;
}

// Copies the channels of pixels begin .. end between rows of `channels` floats and blocks. Q: floats in a block, known
// to the compiler.
template <int Q>
void nhwcRange(bool toPacked, const float* nhwc, float* nhwcOut, const float* packed, float* packedOut, int channels,
               size_t area, size_t begin, size_t end) {
    const int full = channels / Q, rest = channels % Q;
    for (int b = 0; b < full; ++b) {
        for (size_t i = begin; i < end; ++i) {
            const size_t flat = i * channels + b * Q, block = (b * area + i) * Q;
            if (toPacked) {
                std::memcpy(packedOut + block, nhwc + flat, Q * sizeof(float));
            } else {
                std::memcpy(nhwcOut + flat, packed + block, Q * sizeof(float));
            }
        }
    }
    if (rest == 0) return;
    for (size_t i = begin; i < end; ++i) {
        const size_t flat = i * channels + full * Q, block = (full * area + i) * Q;
        if (toPacked) {
            for (int c = 0; c < Q; ++c) packedOut[block + c] = c < rest ? nhwc[flat + c] : 0.0f;
        } else {
            for (int c = 0; c < rest; ++c) nhwcOut[flat + c] = packed[block + c];
        }
    }
}

void nhwcConvert(bool toPacked, int lanes, const float* src, float* dst, int batch, int channels, size_t area,
                 ThreadPool& pool) {
    const size_t flatSize = size_t(channels) * area, packedSize = packedFloats(lanes, 1, channels, area);
    const int64_t pixels = static_cast<int64_t>(area);
    for (int n = 0; n < batch; ++n) {
        const float* from = src + n * (toPacked ? flatSize : packedSize);
        float* to = dst + n * (toPacked ? packedSize : flatSize);
        const auto body = [&](int64_t begin, int64_t end) {
            switch (lanes) {
                case 16:
                    return nhwcRange<16>(toPacked, from, to, from, to, channels, area, begin, end);
                case 8:
                    return nhwcRange<8>(toPacked, from, to, from, to, channels, area, begin, end);
                default:
                    return nhwcRange<4>(toPacked, from, to, from, to, channels, area, begin, end);
            }
        };
        parallelRanges(pool, pixels, flatSize < kWorthThreads ? 1 : 4 * pool.threads(), body);
    }
}

}  // namespace

void nchwToPacked(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool) {
    const int P = k.lanes, blocks = blocksOf(channels, P);
    overBlocks(pool, batch * blocks, packedFloats(P, batch, channels, area), [&](int i) {
        const int n = i / blocks, c = i % blocks * P;
        k.pack->rowsToBlock(src + (size_t(n) * channels + c) * area, area, std::min(P, channels - c), area,
                            dst + size_t(i) * area * P);
    });
}

void packedToNchw(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool) {
    const int P = k.lanes, blocks = blocksOf(channels, P);
    overBlocks(pool, batch * blocks, packedFloats(P, batch, channels, area), [&](int i) {
        const int n = i / blocks, c = i % blocks * P;
        k.pack->blockToRows(src + size_t(i) * area * P, std::min(P, channels - c), area,
                            dst + (size_t(n) * channels + c) * area, area);
    });
}

void nhwcToPacked(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool) {
    nhwcConvert(true, k.lanes, src, dst, batch, channels, area, pool);
}

void packedToNhwc(const Kernels& k, const float* src, float* dst, int batch, int channels, size_t area,
                  ThreadPool& pool) {
    nhwcConvert(false, k.lanes, src, dst, batch, channels, area, pool);
}

}  // namespace mnnc
#endif
