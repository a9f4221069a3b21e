// Convolution kernels against a naive reference in double, for every instruction set this CPU has.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/kernels/pack.h"
#include "base/error.h"
#include "model/weights.h"

namespace mnnc {
namespace {

using Floats = std::vector<float>;

Floats randomFloats(size_t n, unsigned seed, float scale = 1.0f) {
    std::mt19937 rng(seed);
    std::uniform_real_distribution<float> dist(-scale, scale);
    Floats out(n);
    for (float& x : out) x = dist(rng);
    return out;
}

struct Aligned {
    explicit Aligned(size_t bytes) : storage(bytes / 4 + 32, std::numeric_limits<float>::quiet_NaN()) {
        auto p = reinterpret_cast<uintptr_t>(storage.data());
        data = reinterpret_cast<float*>((p + 63) / 64 * 64);
        end = data + bytes / 4;
    }
    // Whether nobody wrote past the end.
    bool whole() const {
        for (const float* p = end; p < storage.data() + storage.size(); ++p)
            if (!std::isnan(*p)) return false;
        return true;
    }
    Floats storage;
    float* data;
    float* end;
};

double activate(double x, Act act) {
    switch (act) {
        case Act::HardSwish:
            return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
        case Act::Silu:
            return x / (1 + std::exp(-x));
        case Act::Gelu:
            return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
        case Act::Sigmoid:
            return 1 / (1 + std::exp(-x));
        case Act::HardSigmoid:
            return std::min(std::max(x + 3, 0.0), 6.0) / 6;
        case Act::Tanh:
            return std::tanh(x);
        case Act::None:
            break;
    }
    return x;
}

Floats reference(const ConvShape& s, int groups, bool transposed, const Floats& src, const Floats& w,
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
                    w.data() + (transposed ? (size_t(g * icg + c) * ocg + o % ocg) : (size_t(o) * icg + c)) *
                                   s.kh * s.kw;
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

// NCHW to packed with NaN in the lanes no channel owns.
Aligned packNan(const Kernels& k, const Floats& src, int batch, int channels, size_t area) {
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

// To nearest even.
Floats roundedToBf16(Floats values) {
    for (float& x : values) {
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
        std::memcpy(&x, &bits, 4);
    }
    return values;
}

struct Case {
    ConvShape s;
    ConvOptions o;
    bool bias = true, residual = false;
    float lo = -std::numeric_limits<float>::infinity(), hi = std::numeric_limits<float>::infinity();
    Act act = Act::None;
    double tolerance = 2e-6;
    bool positive = false;      // the input
    bool codeProducts = false;  // of quantised weights: as they are, not expanded
};

// Codes with scales and offsets, and what they stand for.
struct Quantised {
    QuantizedWeights codes;
    Floats floats;
};
Quantised quantised(const ConvShape& s, const CodeForm& form) {
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

void check(const Case& c) {
    const ConvShape& s = c.s;
    const size_t inArea = size_t(s.ih) * s.iw, outArea = size_t(s.oh) * s.ow;
    Floats src = randomFloats(s.batch * s.ic * inArea, 1);
    if (c.positive)
        for (float& x : src) x = std::abs(x);
    const Quantised codes = c.o.codes.bits ? quantised(s, c.o.codes) : Quantised{};
    const Floats w = c.o.codes.bits ? codes.floats
                                    : randomFloats(size_t(s.oc) * (s.ic / c.o.groups) * s.kh * s.kw, 2, 0.5f);
    const Floats bias = randomFloats(s.oc, 3);
    const Floats residual = randomFloats(s.batch * s.oc * outArea, 4);
    // Products of bf16 are exact in fp32: as good as the others once their operands are rounded.
    const bool bf16 = c.o.bf16;
    const Floats expected =
        reference(s, c.o.groups, c.o.transposed, bf16 ? roundedToBf16(src) : src, bf16 ? roundedToBf16(w) : w,
                  c.bias ? bias.data() : nullptr, c.residual ? residual.data() : nullptr, c.lo, c.hi, c.act);
    double largest = 1e-3;
    for (float x : expected) largest = std::max(largest, std::abs(double(x)));
    const int most = c.codeProducts ? 3 : 2;
    InlinePool one;
    for (const std::string& isa : availableIsas()) {
        Kernels k = selectKernels(isa);
        if ((bf16 && !k.bf16) || (c.codeProducts && !k.codes)) continue;
        if (!c.codeProducts) k.codes = nullptr;
        Floats first;
        for (int threads = 1; threads <= most; ++threads) {
            ConvOptions options = c.o;
            options.threads = threads;
            const auto plan = makeConvPlan(k, s, options);
            SCOPED_TRACE(isa + " " + plan->algorithm() + " " + std::to_string(threads) +
                         format(" ic %d %dx%d oc %d %dx%d k %dx%d s %d d %d p %d g %d", s.ic, s.ih, s.iw,
                                s.oc, s.oh, s.ow, s.kh, s.kw, s.strideH, s.dilateH, s.padTop, c.o.groups));
            ASSERT_EQ(plan->algorithm().find(".bf16") != std::string::npos, bf16);
            ASSERT_EQ(plan->algorithm().find(".int16") != std::string::npos, c.codeProducts);
            ASSERT_EQ(plan->keepsCodes(), c.o.codes.bits != 0);
            ForkJoinPool pool(threads);
            RunLease lease(pool);
            Aligned packedSrc = packNan(k, src, s.batch, s.ic, inArea);
            Aligned packed(plan->packedWeightBytes());
            if (plan->keepsCodes())
                plan->packCodes(codes.codes, packed.data, lease.pool());
            else
                plan->packWeights(w.data(), packed.data, lease.pool());
            Aligned dst(packedFloats(k.lanes, s.batch, s.oc, outArea) * 4);
            Aligned packedResidual = packNan(k, residual, s.batch, s.oc, outArea);
            PostOps post;
            post.lo = c.lo;
            post.hi = c.hi;
            post.act = c.act;
            if (c.bias) post.bias = bias.data();
            if (c.residual) post.residual = packedResidual.data;
            Aligned scratch(plan->scratchBytes(threads));
            plan->run(options.srcNchw ? src.data() : packedSrc.data, packed.data, dst.data, post,
                      scratch.data, lease.pool());
            ASSERT_TRUE(scratch.whole() && packed.whole() && dst.whole());
            Floats result(expected.size());
            packedToNchw(k, dst.data, result.data(), s.batch, s.oc, outArea, one);
            for (size_t i = 0; i < result.size(); ++i) {
                ASSERT_NEAR(result[i], expected[i], c.tolerance * largest) << "at " << i;
            }
            if (threads == 1) {
                first = result;
            } else {
                ASSERT_EQ(0, std::memcmp(first.data(), result.data(), result.size() * 4))
                    << "threads change the result";
            }
        }
    }
}

ConvShape shape(int ic, int ih, int iw, int oc, int k, int stride = 1, int dilate = 1, int pad = 0,
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

ConvShape transposedShape(int ic, int ih, int iw, int oc, int k, int stride, int dilate, int pad,
                          int extra = 0, int batch = 1) {
    ConvShape s = shape(ic, ih, iw, oc, 1, 1, 1, 0, batch);
    s.kh = s.kw = k;
    s.strideH = s.strideW = stride;
    s.dilateH = s.dilateW = dilate;
    s.padTop = s.padLeft = pad;
    s.oh = (ih - 1) * stride + (k - 1) * dilate + 1 - 2 * pad + extra;
    s.ow = (iw - 1) * stride + (k - 1) * dilate + 1 - 2 * pad + extra;
    return s;
}

ConvOptions options(int groups, bool transposed = false, bool nchw = false,
                    ConvAlgorithm a = ConvAlgorithm::Auto) {
    ConvOptions o;
    o.groups = groups;
    o.transposed = transposed;
    o.srcNchw = nchw;
    o.algorithm = a;
    return o;
}

TEST(KernelsConv, OneByOne) {
    for (int oc : {1, 5, 16, 24, 40, 70, 160}) check({shape(37, 7, 7, oc, 1), options(1)});
    for (int ic : {1, 4, 16, 33, 64}) check({shape(ic, 5, 13, 35, 1, 1, 1, 0, 2), options(1)});
    check({shape(20, 9, 11, 33, 1, 2), options(1)});
    check({shape(40, 1, 1, 50, 1, 1, 1, 0, 3), options(1)});
    check({shape(24, 60, 61, 17, 1), options(1)});
    check({shape(19, 6, 6, 21, 1, 1, 1, 1), options(1)});
}

TEST(KernelsConv, Direct) {
    const ConvOptions direct = options(1, false, false, ConvAlgorithm::Direct);
    check({shape(17, 9, 10, 35, 3, 1, 1, 1), direct});
    check({shape(33, 9, 10, 20, 3, 2, 1, 1, 2), direct});
    check({shape(8, 12, 15, 20, 3, 1, 2, 2), direct});
    check({shape(6, 14, 14, 50, 5, 2, 1, 2), direct});
    check({shape(20, 7, 7, 20, 2, 2), direct});
    ConvShape s = shape(20, 9, 17, 34, 1);
    s.kw = 7;
    s.padLeft = 3;
    check({s, options(1)});
    ConvShape odd = shape(9, 11, 13, 18, 3, 2, 1, 0);
    odd.oh += 1;  // one more row below, as SAME padding makes
    odd.padLeft = 1;
    check({odd, options(1)});
    check({shape(30, 7, 7, 20, 7), options(1)});
}

TEST(KernelsConv, FirstLayer) {
    for (bool nchw : {false, true}) {
        check({shape(3, 33, 35, 24, 3, 2, 1, 1), options(1, false, nchw)});
        check({shape(3, 40, 41, 64, 7, 2, 1, 3, 2), options(1, false, nchw)});
        check({shape(1, 28, 28, 20, 5), options(1, false, nchw)});
        check({shape(4, 19, 18, 5, 3, 1, 2, 2), options(1, false, nchw)});
    }
    check({shape(3, 9, 9, 20, 1), options(1, false, true)});
}

TEST(KernelsConv, Winograd) {
    for (ConvAlgorithm a : {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
        for (int size : {1, 4, 7, 14, 23}) {
            Case c{shape(35, size, size + 1, 50, 3, 1, 1, 1), options(1, false, false, a)};
            c.tolerance = 1.6e-5;
            check(c);
        }
        Case c{shape(64, 40, 41, 33, 3, 1, 1, 0, 2), options(1, false, false, a)};
        c.tolerance = 1.6e-5;
        c.residual = true;
        c.lo = 0;
        check(c);
        c.act = Act::Silu;
        c.lo = -std::numeric_limits<float>::infinity();
        check(c);
    }
    Case c{shape(256, 14, 14, 128, 3, 1, 1, 1), options(1)};
    c.tolerance = 1.6e-5;
    check(c);
}

bool cpuHasBf16() {
    for (const std::string& isa : availableIsas())
        if (selectKernels(isa).bf16) return true;
    return false;
}

TEST(KernelsConv, Bf16) {
    if (!cpuHasBf16()) GTEST_SKIP() << "this CPU has no products of bf16";
    const auto half = [](bool transposed = false, ConvAlgorithm a = ConvAlgorithm::Direct) {
        ConvOptions o = options(1, transposed, false, a);
        o.bf16 = true;
        return o;
    };
    for (int oc : {1, 5, 16, 24, 40, 70, 160}) check({shape(101, 7, 7, oc, 1), half()});
    for (int ic : {97, 112, 128, 131}) check({shape(ic, 5, 13, 35, 1, 1, 1, 0, 2), half()});
    check({shape(110, 9, 11, 33, 1, 2), half()});
    check({shape(110, 1, 9, 33, 1, 2, 1, 0, 2), half()});
    check({shape(101, 1, 1, 50, 1, 1, 1, 0, 3), half()});
    check({shape(120, 60, 61, 17, 1), half()});
    check({shape(115, 6, 6, 21, 1, 1, 1, 1), half()});
    check({shape(17, 9, 10, 35, 3, 1, 1, 1), half()});
    check({shape(33, 9, 10, 20, 3, 2, 1, 1, 2), half()});
    check({shape(11, 12, 15, 20, 3, 1, 2, 2), half()});
    check({shape(6, 14, 14, 50, 5, 2, 1, 2), half()});
    check({shape(30, 7, 7, 20, 7), half()});
    check({shape(64, 60, 60, 40, 3, 1, 1, 1), half()});
    check({transposedShape(35, 7, 6, 20, 2, 2, 1, 0), half(true)});
    check({transposedShape(20, 7, 6, 35, 3, 2, 1, 1, 1, 2), half(true)});
    check({transposedShape(15, 7, 6, 17, 3, 1, 1, 1), half(true)});
    for (bool residual : {false, true}) {
        Case c{shape(101, 7, 7, 37, 1), half()};
        c.residual = residual;
        c.act = Act::HardSwish;
        check(c);
        c.act = Act::None;
        c.lo = -0.5f;
        c.hi = 1.5f;
        check(c);
    }
    for (int size : {1, 4, 7, 14, 23}) {
        Case c{shape(35, size, size + 1, 50, 3, 1, 1, 1), half(false, ConvAlgorithm::Winograd2)};
        c.tolerance = 1e-2;  // transformed operands are rounded
        c.residual = true;
        check(c);
    }
    Case c{shape(64, 40, 41, 33, 3, 1, 1, 0, 2), half(false, ConvAlgorithm::Winograd2)};
    c.tolerance = 1e-2;
    check(c);
}

TEST(KernelsConv, QuantisedWeights) {
    std::vector<bool> types{false};
    if (cpuHasBf16()) types.push_back(true);
    for (const bool bf16 : types) {
        for (const int bits : {8, 4}) {
            const auto form = [&](int blocks, ConvAlgorithm a = ConvAlgorithm::Direct) {
                ConvOptions o = options(1, false, false, a);
                o.codes = {bits, blocks};
                o.bf16 = bf16;
                return o;
            };
            for (int oc : {1, 5, 16, 40, 160}) check({shape(101, 7, 7, oc, 1), form(1)});
            for (int blocks : {2, 4, 16}) check({shape(128, 5, 9, 35, 1, 1, 1, 0, 2), form(blocks)});
            check({shape(129, 1, 1, 77, 1), form(3)});
            check({shape(112, 9, 11, 33, 1, 2), form(7)});
            check({shape(110, 60, 61, 17, 1), form(1)});
            for (int blocks : {1, 3, 9, 27}) check({shape(33, 9, 10, 20, 3, 2, 1, 1), form(blocks)});
            Case narrowed{shape(600, 5, 5, 40, 3, 1, 1, 1), form(1)};  // panels fit the cache
            narrowed.tolerance = 1e-5;                                 // long sums
            check(narrowed);
            Case residual{shape(101, 7, 7, 37, 1), form(1)};
            residual.residual = true;
            residual.act = Act::HardSwish;
            check(residual);
            for (ConvAlgorithm a :
                 {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
                if (bf16 && a != ConvAlgorithm::Winograd2) continue;
                Case sliced{shape(203, 7, 7, 50, 3, 1, 1, 1), form(1, a)};
                sliced.tolerance = bf16 ? 1e-2 : 1.6e-5;
                check(sliced);
                for (int size : {4, 14, 40}) {
                    for (int blocks : {1, 5, 15}) {
                        Case c{shape(35, size, size + 1, 50, 3, 1, 1, 1, size == 14 ? 2 : 1),
                               form(blocks, a)};
                        c.tolerance = bf16 ? 1e-2 : 1.6e-5;
                        check(c);
                    }
                }
            }
        }
    }
}

bool cpuHasCodeProducts() {
    return selectKernels().codes != nullptr;
}

ConvOptions int8Codes(bool minima = true, ConvAlgorithm a = ConvAlgorithm::Direct) {
    ConvOptions o = options(1, false, false, a);
    o.codes = {8, 1, minima};
    return o;
}

TEST(KernelsConv, CodeProducts) {
    if (!cpuHasCodeProducts()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    for (const bool minima : {false, true}) {
        const auto checkCodes = [&](const ConvShape& s) {
            Case c{s, int8Codes(minima)};
            c.codeProducts = true;
            c.tolerance = 3e-5;
            check(c);
            c.positive = true;
            c.residual = true;
            c.lo = 0;
            check(c);
        };
        for (int oc : {1, 5, 16, 40, 160}) checkCodes(shape(101, 7, 7, oc, 1));
        for (int ic : {5, 16, 18, 31, 64}) checkCodes(shape(ic, 5, 13, 35, 1, 1, 1, 0, 2));
        checkCodes(shape(129, 1, 1, 77, 1));
        checkCodes(shape(130, 1, 1, 50, 1, 1, 1, 0, 11));
        checkCodes(shape(112, 9, 11, 33, 1, 2));
        checkCodes(shape(50, 1, 9, 33, 1, 2, 1, 0, 2));
        checkCodes(shape(110, 60, 61, 17, 1));
        checkCodes(shape(30, 6, 6, 21, 1, 1, 1, 1));
        checkCodes(shape(17, 9, 10, 35, 3, 1, 1, 1));
        checkCodes(shape(33, 9, 10, 20, 3, 2, 1, 1, 2));
        checkCodes(shape(8, 12, 15, 20, 3, 1, 2, 2));
        checkCodes(shape(6, 14, 14, 50, 5, 2, 1, 2));
        checkCodes(shape(20, 7, 7, 20, 2, 2));
        checkCodes(shape(20, 9, 9, 20, 2, 3));
        checkCodes(shape(30, 7, 7, 20, 7));
        checkCodes(shape(20, 14, 15, 20, 3, 1, 1, -1));
        checkCodes(shape(64, 60, 60, 40, 3, 1, 1, 1));
        checkCodes(shape(600, 5, 5, 40, 3, 1, 1, 1));  // sums of several pieces
        checkCodes(shape(1030, 3, 3, 20, 1));
        ConvShape odd = shape(9, 11, 13, 18, 3, 2, 1, 0);
        odd.oh += 1;
        odd.padLeft = 1;
        checkCodes(odd);
        ConvShape wide = shape(20, 9, 17, 34, 1);
        wide.kw = 7;
        wide.padLeft = 3;
        checkCodes(wide);
    }
    for (Act act : {Act::HardSwish, Act::Gelu}) {
        Case c{shape(101, 7, 7, 37, 1), int8Codes()};
        c.codeProducts = true;
        c.tolerance = 3e-5;
        c.act = act;
        check(c);
    }
}

TEST(KernelsConv, CodeProductsDecline) {
    const auto declines = [](const ConvShape& s, ConvOptions o) {
        const auto plan = makeConvPlan(selectKernels(), s, o);
        EXPECT_EQ(plan->algorithm().find(".int16"), std::string::npos) << plan->algorithm();
    };
    const ConvShape s = shape(64, 9, 9, 64, 3, 1, 1, 1);
    ConvOptions o = int8Codes();
    o.groups = 2;
    declines(s, o);
    o = int8Codes();
    o.codes.bits = 4;
    declines(s, o);
    o.codes = {8, 2};
    declines(s, o);
    o = int8Codes();
    o.transposed = true;
    declines(transposedShape(64, 9, 9, 64, 3, 2, 1, 1), o);
    declines(shape(4, 9, 9, 64, 3, 1, 1, 1), int8Codes());
    // Short sums, and where rounding and scaling cost more than products gain.
    declines(shape(96, 9, 9, 64, 1), int8Codes(true, ConvAlgorithm::Auto));
    declines(shape(112, 112, 112, 16, 1), int8Codes(true, ConvAlgorithm::Auto));
    declines(shape(64, 56, 56, 64, 3, 1, 1, 1), int8Codes(true, ConvAlgorithm::Auto));
}

// Products of codes with what an input and its weights hold at the ends of their ranges.
class CodeProductsOf {
  public:
    explicit CodeProductsOf(const ConvShape& s) : s_(s), weights_(quantised(s, {8, 1, true})) {}

    QuantizedWeights& weights() { return weights_.codes; }

    Floats operator()(const Floats& src, float lo = -std::numeric_limits<float>::infinity()) const {
        InlinePool pool;
        const Kernels& k = selectKernels();
        const auto plan = makeConvPlan(k, s_, int8Codes());
        EXPECT_NE(plan->algorithm().find(".int16"), std::string::npos);
        const Aligned in = packNan(k, src, s_.batch, s_.ic, size_t(s_.ih) * s_.iw);
        Aligned packed(plan->packedWeightBytes()), scratch(plan->scratchBytes(1));
        Aligned dst(packedFloats(k.lanes, s_.batch, s_.oc, size_t(s_.oh) * s_.ow) * 4);
        plan->packCodes(weights_.codes, packed.data, pool);
        PostOps post;
        post.lo = lo;
        plan->run(in.data, packed.data, dst.data, post, scratch.data, pool);
        Floats result(size_t(s_.batch) * s_.oc * s_.oh * s_.ow);
        packedToNchw(k, dst.data, result.data(), s_.batch, s_.oc, size_t(s_.oh) * s_.ow, pool);
        return result;
    }

    Floats expected(const Floats& src) const {
        return reference(s_, 1, false, src, weights_.floats, nullptr, nullptr,
                         -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity(),
                         Act::None);
    }

  private:
    ConvShape s_;
    Quantised weights_;
};

TEST(KernelsConv, CodeProductsOfExtremes) {
    if (!cpuHasCodeProducts()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    for (const ConvShape& s : {shape(40, 6, 7, 20, 1), shape(40, 6, 7, 20, 3, 1, 1, 1, 2)}) {
        CodeProductsOf products(s);
        const size_t count = size_t(s.batch) * s.ic * s.ih * s.iw;
        for (const float x : products(Floats(count, 0.0f))) ASSERT_EQ(x, 0.0f);
        for (const float x : products(Floats(count, 1e-41f))) ASSERT_LT(std::abs(x), 1e-30f);
        for (const float scale : {1e-28f, 1e35f}) {
            const Floats src = randomFloats(count, 5, scale), expected = products.expected(src);
            const Floats result = products(src);
            float largest = 0;
            for (const float x : expected) largest = std::max(largest, std::abs(x));
            for (size_t i = 0; i < result.size(); ++i)
                ASSERT_NEAR(result[i] / largest, expected[i] / largest, 3e-5);
        }
    }
    // Every sum as large as it can be: 32768 * 128 for each channel.
    const ConvShape s = shape(1500, 2, 2, 17, 1);
    CodeProductsOf products(s);
    std::fill(products.weights().q.begin(), products.weights().q.end(), int8_t{-128});
    std::fill(products.weights().scale.begin(), products.weights().scale.end(), 1.0f);
    std::fill(products.weights().min.begin(), products.weights().min.end(), 0.0f);
    for (const float sign : {1.0f, -1.0f})
        for (const float x : products(Floats(1500 * 4, sign))) ASSERT_NEAR(x, -128.0f * 1500 * sign, 0.5f);
    Floats one(1500 * 4, 0.0f);
    std::fill(one.end() - 4, one.end(), 1.0f);
    for (const float x : products(one)) ASSERT_NEAR(x, -128.0f, 0.01f);
}

TEST(KernelsConv, CodeProductsOfWhatIsNotFinite) {
    if (!cpuHasCodeProducts()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    const float inf = std::numeric_limits<float>::infinity();
    for (const float wild : {std::numeric_limits<float>::quiet_NaN(), inf, -inf}) {
        for (const float lo : {-inf, 0.0f}) {
            const ConvShape point = shape(40, 6, 7, 20, 1);
            Floats src = randomFloats(40 * 42, 5);
            src[3 * 42 + 10] = wild;
            const Floats result = CodeProductsOf(point)(src, lo);
            for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(std::isnan(result[i]), i % 42 == 10) << i;

            const ConvShape image = shape(40, 6, 7, 20, 3, 1, 1, 1, 2);
            src = randomFloats(2 * 40 * 42, 5);
            src[50 * 42 + 10] = wild;
            const Floats results = CodeProductsOf(image)(src, lo);
            for (size_t i = 0; i < results.size(); ++i)
                ASSERT_EQ(std::isnan(results[i]), i >= results.size() / 2) << i;
        }
    }
}

// Rounding must be worth it: first layers, short sums, groups and larger Winograd tiles stay float.
TEST(KernelsConv, Bf16Declines) {
    const auto declines = [](const ConvShape& s, int groups, ConvAlgorithm a = ConvAlgorithm::Auto) {
        ConvOptions o = options(groups, false, false, a);
        o.bf16 = true;
        const auto plan = makeConvPlan(selectKernels(), s, o);
        EXPECT_EQ(plan->algorithm().find(".bf16"), std::string::npos) << plan->algorithm();
    };
    declines(shape(3, 33, 35, 24, 7, 2, 1, 1), 1);
    declines(shape(96, 9, 9, 24, 1), 1);
    declines(shape(64, 9, 9, 64, 3, 1, 1, 1), 64);
    declines(shape(64, 9, 9, 64, 3, 1, 1, 1), 2);
    declines(shape(64, 28, 28, 64, 3, 1, 1, 1), 1, ConvAlgorithm::Winograd4);
    declines(shape(64, 28, 28, 64, 3, 1, 1, 1), 1, ConvAlgorithm::Winograd6);
}

TEST(KernelsConv, Depthwise) {
    for (int k : {1, 2, 3, 4, 5, 7}) {
        for (int stride : {1, 2, 3}) check({shape(37, 19, 23, 37, k, stride, 1, k / 2), options(37)});
        check({shape(20, 24, 21, 20, k, 1, 2, k - 1, 2), options(20)});
    }
    check({shape(32, 7, 7, 32, 3, 1, 1, 1), options(32)});
    check({shape(32, 2, 2, 32, 5, 1, 1, 2), options(32)});
    check({shape(16, 7, 7, 16, 7), options(16)});
    // Negative padding: the first rows and columns are skipped, on small maps and on large ones.
    for (int stride : {1, 2})
        for (int pad : {-1, -3}) {
            check({shape(20, 14, 15, 20, 3, stride, 1, pad), options(20)});
            check({shape(20, 31, 33, 20, 3, stride, 1, pad), options(20)});
        }
    // No border; a border of several tiles, also ones that read nothing else.
    for (int k : {3, 5})
        for (int stride : {1, 2})
            for (int pad : {0, 18}) {
                Case c{shape(20, 23, 45, 20, k, stride, 1, pad), options(20)};
                c.residual = true;
                check(c);
                c.act = Act::HardSwish;
                check(c);
            }
    Case c{shape(37, 13, 14, 37, 3, 2, 1, 1), options(37)};
    c.residual = true;
    c.lo = -0.5f;
    c.hi = 0.5f;
    check(c);
}

TEST(KernelsConv, Grouped) {
    check({shape(64, 9, 9, 96, 3, 1, 1, 1), options(2)});
    check({shape(64, 9, 9, 64, 3, 2, 1, 1), options(8)});
    check({shape(48, 9, 9, 48, 3, 1, 1, 1), options(2)});
    check({shape(12, 9, 9, 24, 3, 1, 1, 1), options(12)});
    check({shape(128, 5, 5, 128, 1), options(32)});
    check({shape(21, 8, 7, 14, 3, 1, 1, 1, 2), options(7)});
    // As many outputs a group as vectors have lanes and more, with a rest.
    check({shape(27, 8, 9, 45, 3, 1, 1, 1), options(3)});
    check({shape(10, 8, 9, 46, 3, 1, 1, 1), options(2)});
    check({shape(9, 9, 8, 57, 1), options(3)});
    // Groups of few channels, every stride, padding and dilation; bundles that do not end with a block.
    for (int stride : {1, 2}) {
        check({shape(48, 15, 14, 48, 3, stride, 1, 1), options(6)});
        check({shape(104, 31, 30, 104, 3, stride, 1, 1), options(13)});
        check({shape(24, 20, 3, 36, 3, stride, 1, 1), options(12)});
        check({shape(40, 19, 23, 40, 5, stride, 1, 2, 2), options(10)});
        check({shape(40, 19, 23, 24, 3, stride, 2, 2), options(8)});
        check({shape(40, 17, 16, 24, 3, stride, 1, -1), options(8)});
        check({shape(33, 11, 40, 55, 3, stride, 1, 0), options(11)});
    }
    Case c{shape(48, 20, 21, 48, 3, 1, 1, 1), options(6)};
    c.residual = true;
    c.act = Act::Silu;
    check(c);
    c.act = Act::None;
    c.lo = 0;
    c.hi = 3;
    check(c);
}

TEST(KernelsConv, Transposed) {
    check({transposedShape(35, 7, 6, 20, 2, 2, 1, 0), options(1, true)});
    check({transposedShape(20, 7, 6, 35, 3, 2, 1, 1, 1, 2), options(1, true)});
    check({transposedShape(20, 7, 6, 35, 4, 2, 1, 1), options(1, true)});
    check({transposedShape(5, 7, 6, 7, 3, 1, 2, 1), options(1, true)});
    check({transposedShape(5, 7, 6, 7, 2, 3, 1, 0), options(1, true)});
    check({transposedShape(32, 5, 6, 48, 3, 2, 1, 1), options(2, true)});
    check({transposedShape(12, 5, 6, 18, 3, 2, 1, 1), options(3, true)});
    check({transposedShape(21, 9, 8, 21, 4, 2, 1, 1), options(21, true)});
    check({transposedShape(21, 9, 8, 21, 3, 3, 2, 2), options(21, true)});
}

TEST(KernelsConv, PostOps) {
    for (Act act : {Act::HardSwish, Act::Silu, Act::Gelu, Act::Sigmoid, Act::HardSigmoid, Act::Tanh}) {
        for (bool residual : {false, true}) {
            Case c{shape(30, 7, 7, 37, 1), options(1)};
            c.act = act;
            c.residual = residual;
            check(c);
            c.s = shape(37, 9, 9, 37, 3, 1, 1, 1);
            c.o = options(37);
            check(c);
        }
    }
    Case c{shape(30, 7, 7, 37, 1), options(1)};
    c.bias = false;
    c.lo = 0;
    c.hi = 6;
    c.residual = true;
    check(c);
}

TEST(KernelsConv, ActivationRange) {
    for (const std::string& isa : availableIsas()) {
        const Kernels& k = selectKernels(isa);
        for (Act act : {Act::HardSwish, Act::Silu, Act::Gelu, Act::Sigmoid, Act::HardSigmoid, Act::Tanh}) {
            Floats x;
            for (float v = -200; v <= 200; v += 0.03f) x.push_back(v);
            Floats y = x;
            const float inf = std::numeric_limits<float>::infinity();
            unaryKernels(k.id).activate(y.data(), y.size(), act, -inf, inf);
            for (size_t i = 0; i < x.size(); ++i) {
                ASSERT_NEAR(y[i], activate(x[i], act), 1e-6 * std::max(1.0f, std::abs(x[i])))
                    << isa << " " << int(act) << " " << x[i];
            }
        }
    }
}

TEST(KernelsSelect, Names) {
    EXPECT_FALSE(availableIsas().empty());
    EXPECT_EQ(selectKernels("").isa, availableIsas().front());
    for (const std::string& isa : availableIsas()) EXPECT_EQ(selectKernels(isa).isa, isa);
    EXPECT_THROW(selectKernels("mmx"), Error);
}

}  // namespace
}  // namespace mnnc
