// A convolution of any kind as a test case: kernels against a naive reference in double, for every
// instruction set this CPU has.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/conv/conv.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"
#include "float_util.h"
#include "model/weight_codes.h"
#include "scalar_bf16.h"

namespace mnnc::test {

struct Aligned {
    explicit Aligned(size_t bytes) : storage(bytes / 4 + 32, std::numeric_limits<float>::quiet_NaN()) {
        auto p = reinterpret_cast<uintptr_t>(storage.data());
        data = reinterpret_cast<float*>((p + 63) / 64 * 64);
        end = data + bytes / 4;
    }
    // Returns whether the bytes behind the end are unchanged.
    bool guardIntact() const {
        for (const float* p = end; p < storage.data() + storage.size(); ++p)
            if (!std::isnan(*p)) return false;
        return true;
    }
    Floats storage;
    float* data;
    float* end;
};

inline Floats reference(const ConvShape& s, int groups, bool transposed, const Floats& src, const Floats& w,
                        const float* bias, const float* residual, float lo, float hi, Act act) {
    const int icg = s.ic / groups, ocg = s.oc / groups;
    std::vector<double> sum(size_t(s.batch) * s.oc * s.oh * s.ow, 0.0);
    for (int n = 0; n < s.batch; ++n) {
        for (int o = 0; o < s.oc; ++o) {
            const int g = o / ocg;
            for (int c = 0; c < icg; ++c) {
                const float* in = src.data() + (size_t(n) * s.ic + g * icg + c) * s.ih * s.iw;
                double* out = sum.data() + (size_t(n) * s.oc + o) * s.oh * s.ow;
                const float* k =
                    w.data() +
                    (transposed ? (size_t(g * icg + c) * ocg + o % ocg) : (size_t(o) * icg + c)) * s.kh * s.kw;
                for (int ky = 0; ky < s.kh; ++ky) {
                    for (int kx = 0; kx < s.kw; ++kx) {
                        const double kv = k[ky * s.kw + kx];
                        if (!transposed) {
                            for (int y = 0; y < s.oh; ++y) {
                                const int iy = y * s.strideH + ky * s.dilateH - s.padTop;
                                if (iy < 0 || iy >= s.ih) continue;
                                for (int x = 0; x < s.ow; ++x) {
                                    const int ix = x * s.strideW + kx * s.dilateW - s.padLeft;
                                    if (ix >= 0 && ix < s.iw) out[y * s.ow + x] += kv * in[iy * s.iw + ix];
                                }
                            }
                        } else {
                            for (int y = 0; y < s.ih; ++y) {
                                const int oy = y * s.strideH + ky * s.dilateH - s.padTop;
                                if (oy < 0 || oy >= s.oh) continue;
                                for (int x = 0; x < s.iw; ++x) {
                                    const int ox = x * s.strideW + kx * s.dilateW - s.padLeft;
                                    if (ox >= 0 && ox < s.ow) out[oy * s.ow + ox] += kv * in[y * s.iw + x];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    Floats result(sum.size());
    const size_t area = size_t(s.oh) * s.ow;
    for (size_t i = 0; i < sum.size(); ++i) {
        double v = sum[i] + (bias ? bias[i / area % s.oc] : 0) + (residual ? residual[i] : 0);
        v = activate(v, act);
        result[i] = static_cast<float>(std::min<double>(std::max<double>(v, lo), hi));
    }
    return result;
}

// Packs NCHW with NaN in the unused lanes.
inline Aligned packNan(const Kernels& k, const Floats& src, int batch, int channels, size_t area) {
    InlinePool inlinePool;
    Aligned out(packedFloats(k.lanes, batch, channels, area) * 4);
    nchwToPacked(k, src.data(), out.data, batch, channels, area, inlinePool);
    const int P = k.lanes, blocks = (channels + P - 1) / P;
    for (int n = 0; n < batch; ++n) {
        for (int c = channels; c < blocks * P; ++c) {
            for (size_t i = 0; i < area; ++i) {
                out.data[((size_t(n) * blocks + c / P) * area + i) * P + c % P] =
                    std::numeric_limits<float>::quiet_NaN();
            }
        }
    }
    return out;
}

struct Case {
    ConvShape s;
    ConvOptions o;
    bool bias = true, residual = false;
    float lo = -std::numeric_limits<float>::infinity(), hi = std::numeric_limits<float>::infinity();
    Act act = Act::None;
    double tolerance = 2e-6;
    bool positive = false;            // the input
    bool w8a16 = false;               // quantised weights are multiplied without expanding them
    const CpuCosts* costs = nullptr;  // in place of this CPU's
};

// Codes with scales and offsets, and the floats that they represent.
struct Quantised {
    QuantizedWeights codes;
    Floats floats;
};
inline Quantised quantised(const ConvShape& s, const WeightQuantization& form) {
    Quantised w;
    const size_t perOutput = size_t(s.ic) * s.kh * s.kw, length = perOutput / form.blocks;
    std::mt19937 rng(7);
    const int limit = form.bits == 4 ? 8 : 128;
    w.codes.blocksPerOutput = form.blocks;
    w.codes.q.resize(perOutput * s.oc);
    for (int8_t& q : w.codes.q) q = static_cast<int8_t>(static_cast<int>(rng() % (2 * limit)) - limit);
    w.codes.scale = randomFloats(size_t(s.oc) * form.blocks, 8, 0.5f / limit);
    const Floats min = randomFloats(size_t(s.oc) * form.blocks, 9, form.minima ? 0.1f : 0.0f);
    if (form.minima) w.codes.min = min;
    for (size_t i = 0; i < w.codes.q.size(); ++i)
        w.floats.push_back(w.codes.q[i] * w.codes.scale[i / length] + min[i / length]);
    return w;
}

inline void packCodes(const QuantizedWeightPacker& packer, const QuantizedWeights& w, int outputs, void* packed,
                      ThreadPool& pool) {
    HeldQuantizedWeights weights({w.q, w.scale, w.min}, outputs);
    packer.packQuantized(weights, packed, pool);
}

// `only`: the implementation to check, on the instruction sets where it accepts; otherwise the chosen one is checked.
// Counts the instruction sets.
inline void checkOn(const Case& c, const ConvImplementation* only, int& checked) {
    const ConvShape& s = c.s;
    const size_t inArea = size_t(s.ih) * s.iw, outArea = size_t(s.oh) * s.ow;
    Floats src = randomFloats(s.batch * s.ic * inArea, 1);
    if (c.positive)
        for (float& x : src) x = std::abs(x);
    const Quantised codes = c.o.quantization.bits ? quantised(s, c.o.quantization) : Quantised{};
    const Floats w =
        c.o.quantization.bits ? codes.floats : randomFloats(size_t(s.oc) * (s.ic / c.o.groups) * s.kh * s.kw, 2, 0.5f);
    const Floats bias = randomFloats(s.oc, 3);
    const Floats residual = randomFloats(s.batch * s.oc * outArea, 4);
    // Products of bf16 are exact in fp32: they are as exact as the others once their operands are rounded.
    const bool bf16 = c.o.bf16;
    const Floats expected =
        reference(s, c.o.groups, c.o.transposed, bf16 ? roundedToBf16(src) : src, bf16 ? roundedToBf16(w) : w,
                  c.bias ? bias.data() : nullptr, c.residual ? residual.data() : nullptr, c.lo, c.hi, c.act);
    double largest = 1e-3;
    for (float x : expected) largest = std::max(largest, std::abs(double(x)));
    const int maxThreads = c.w8a16 ? 3 : 2;
    InlinePool one;
    for (const std::string& isa : availableIsas()) {
        Kernels k = kernelsWithBf16(isa);
        if (c.w8a16 && !k.w8a16) continue;
        if (!c.w8a16) k.w8a16 = nullptr;
        if (c.costs) k.costs = c.costs;
        const Kernels own = k;
        W8A16Kernels panels;
        const bool matrix = c.w8a16 && k.w8a16->matrix && k.w8a16->matrix();
        if (matrix) {
            panels = *k.w8a16;
            panels.matrix = nullptr;
        }
        Floats first;
        // Behind the numbers of threads comes one thread without a matrix unit.
        for (int run = 1; run <= maxThreads + matrix; ++run) {
            const int threads = run <= maxThreads ? run : 1;
            k = own;
            if (run > maxThreads) k.w8a16 = &panels;
            ConvOptions options = c.o;
            options.threads = threads;
            if (only && !only->accepts(k, s, options)) continue;
            const auto plan = only ? only->make(k, s, options) : makeConvPlan(k, s, options);
            checked += run == 1;
            SCOPED_TRACE(isa + " " + plan->algorithm() + " " + std::to_string(threads) +
                         format(" ic %d %dx%d oc %d %dx%d k %dx%d s %d d %d p %d g %d", s.ic, s.ih, s.iw, s.oc, s.oh,
                                s.ow, s.kh, s.kw, s.strideH, s.dilateH, s.padTop, c.o.groups));
            ASSERT_EQ(plan->algorithm().find(".bf16") != std::string::npos, bf16);
            ASSERT_EQ(plan->algorithm().find(".int16") != std::string::npos, c.w8a16);
            ASSERT_EQ(plan->quantizedPacker() != nullptr, c.o.quantization.bits != 0);
            ASSERT_EQ(plan->floatPacker() == nullptr, c.o.quantization.bits != 0);
            ForkJoinPool pool(threads);
            RunLease lease(pool);
            Aligned packedSrc = packNan(k, src, s.batch, s.ic, inArea);
            Aligned packed(plan->packedWeightBytes());
            if (const QuantizedWeightPacker* packer = plan->quantizedPacker())
                packCodes(*packer, codes.codes, s.oc, packed.data, lease.pool());
            else
                plan->packWeights(w.data(), packed.data, lease.pool());
            const bool rows = options.dstRowMajor;
            const size_t dstBytes = (rows ? expected.size() : packedFloats(k.lanes, s.batch, s.oc, outArea)) * 4;
            Aligned dst(dstBytes);
            Aligned packedResidual = packNan(k, residual, s.batch, s.oc, outArea);
            const auto unpacked = [&] {
                Floats out(expected.size());
                if (rows)
                    std::memcpy(out.data(), dst.data, dstBytes);
                else
                    packedToNchw(k, dst.data, out.data(), s.batch, s.oc, outArea, one);
                return out;
            };
            PostOps post;
            post.lo = c.lo;
            post.hi = c.hi;
            post.act = c.act;
            const Floats padded = paddedBias(c.bias ? bias.data() : nullptr, s.oc);
            post.bias = padded.data();
            if (c.residual) post.residual = rows ? residual.data() : packedResidual.data;
            Aligned scratch(plan->scratchBytes(threads));
            plan->run(options.srcNchw ? src.data() : packedSrc.data, packed.data, dst.data, post, scratch.data,
                      lease.pool());
            ASSERT_TRUE(scratch.guardIntact() && packed.guardIntact() && dst.guardIntact());
            const Floats result = unpacked();
            for (size_t i = 0; i < result.size(); ++i) {
                ASSERT_NEAR(result[i], expected[i], c.tolerance * largest) << "at " << i;
            }
            if (outArea == 1) {  // plans may read their weights from the end
                std::memset(dst.data, 0xff, dstBytes);
                plan->runBackwards(options.srcNchw ? src.data() : packedSrc.data, packed.data, dst.data, post,
                                   scratch.data, lease.pool());
                const Floats turned = unpacked();
                ASSERT_TRUE(dst.guardIntact());
                ASSERT_EQ(0, std::memcmp(turned.data(), result.data(), result.size() * 4))
                    << "a run backwards changes the result";
            }
            if (run == 1) {
                first = result;
            } else {
                ASSERT_EQ(0, std::memcmp(first.data(), result.data(), result.size() * 4))
                    << (run > maxThreads ? "a matrix unit changes the result" : "threads change the result");
            }
        }
    }
}

inline void check(const Case& c) {
    int checked = 0;
    checkOn(c, nullptr, checked);
}
inline int check(const Case& c, const ConvImplementation* only) {
    int checked = 0;
    checkOn(c, only, checked);
    return checked;
}

inline ConvShape shape(int ic, int ih, int iw, int oc, int k, int stride = 1, int dilate = 1, int pad = 0,
                       int batch = 1) {
    ConvShape s;
    s.batch = batch;
    s.ic = ic;
    s.ih = ih;
    s.iw = iw;
    s.oc = oc;
    s.kh = s.kw = k;
    s.strideH = s.strideW = stride;
    s.dilateH = s.dilateW = dilate;
    s.padTop = s.padLeft = pad;
    s.oh = (ih + 2 * pad - (k - 1) * dilate - 1) / stride + 1;
    s.ow = (iw + 2 * pad - (k - 1) * dilate - 1) / stride + 1;
    return s;
}

inline std::string algorithmOf(const ConvShape& s, const ConvOptions& o) {
    return makeConvPlan(selectKernels(), s, o)->algorithm();
}

// Checks a Winograd form whose weights are codes, and with memory Low taps, on several numbers of threads.
inline void checkTapsAndCodes(const ConvShape& s, ConvOptions o, const std::string& name, double tolerance) {
    for (const int bits : {8, 4}) {
        Case c{s, o};
        c.o.quantization = {bits, 3};
        c.tolerance = tolerance;
        check(c);
    }
    o.lowMemory = true;
    for (const int threads : {1, 2, 3, 16}) {
        Case c{s, o};
        c.o.threads = threads;
        EXPECT_EQ(algorithmOf(s, c.o), name + ".taps");
        c.tolerance = tolerance;
        check(c);
    }
}

// Returns the same shape with a kernel of one row, and no padding above.
inline ConvShape oneRowKernel(ConvShape s) {
    s.kh = 1;
    s.padTop = 0;
    s.oh = (s.ih - 1) / s.strideH + 1;
    return s;
}

// Returns the shape of a series in time: a map of one column.
inline ConvShape series(int channels, int length, int k, int stride, int dilate, int pad, int batch = 1) {
    ConvShape s = shape(channels, length, 1, channels, 1, 1, 1, 0, batch);
    s.kh = k;
    s.strideH = stride;
    s.dilateH = dilate;
    s.padTop = pad;
    s.oh = (length + 2 * pad - (k - 1) * dilate - 1) / stride + 1;
    return s;
}

inline ConvShape transposedShape(int ic, int ih, int iw, int oc, int k, int stride, int dilate, int pad, int extra = 0,
                                 int batch = 1) {
    ConvShape s = shape(ic, ih, iw, oc, 1, 1, 1, 0, batch);
    s.kh = s.kw = k;
    s.strideH = s.strideW = stride;
    s.dilateH = s.dilateW = dilate;
    s.padTop = s.padLeft = pad;
    s.oh = (ih - 1) * stride + (k - 1) * dilate + 1 - 2 * pad + extra;
    s.ow = (iw - 1) * stride + (k - 1) * dilate + 1 - 2 * pad + extra;
    return s;
}

inline ConvOptions options(int groups, bool transposed = false, bool nchw = false,
                           ConvAlgorithm a = ConvAlgorithm::Auto) {
    ConvOptions o;
    o.groups = groups;
    o.transposed = transposed;
    o.srcNchw = nchw;
    o.algorithm = a;
    return o;
}

}  // namespace mnnc::test
