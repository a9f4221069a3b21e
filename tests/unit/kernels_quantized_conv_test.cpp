// Convolutions whose weights stay quantised: expanded, or multiplied directly (W8A16); see conv_case.h.
#include "backends/cpu/kernels/cpu_costs.h"
#include "base/error.h"
#include "conv_case.h"

namespace mnnc::test {
namespace {

TEST(KernelsQuantizedConv, QuantisedWeights) {
    for (const bool bf16 : {false, true}) {
        for (const int bits : {8, 4}) {
            const auto form = [&](int blocks, ConvAlgorithm a = ConvAlgorithm::Direct) {
                ConvOptions o = options(1, false, false, a);
                o.quantization = {bits, blocks};
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
            for (ConvAlgorithm a : {ConvAlgorithm::Winograd2, ConvAlgorithm::Winograd4, ConvAlgorithm::Winograd6}) {
                if (bf16 && a != ConvAlgorithm::Winograd2) continue;
                // Two threads could take half of the tiles of the second map each.
                for (const ConvShape& s : {shape(203, 7, 7, 50, 3, 1, 1, 1), shape(96, 14, 14, 64, 3, 1, 1, 1)}) {
                    const CpuCosts usual;
                    Case sliced{s, form(1, a)};
                    sliced.costs = &usual;
                    sliced.tolerance = bf16 ? 1e-2 : 1.6e-5;
                    check(sliced);
                }
                for (int size : {4, 14, 40}) {
                    for (int blocks : {1, 5, 15}) {
                        Case c{shape(35, size, size + 1, 50, 3, 1, 1, 1, size == 14 ? 2 : 1), form(blocks, a)};
                        c.tolerance = bf16 ? 1e-2 : 1.6e-5;
                        check(c);
                    }
                }
            }
        }
    }
}

bool cpuHasW8A16() {
    return selectKernels().w8a16 != nullptr;
}

ConvOptions codes(const WeightQuantization& form, ConvAlgorithm a = ConvAlgorithm::Direct) {
    ConvOptions o = options(1, false, false, a);
    o.quantization = form;
    return o;
}

ConvOptions int8Weights(bool minima = true, ConvAlgorithm a = ConvAlgorithm::Direct) {
    return codes({8, 1, minima}, a);
}

void checkW8A16(const ConvShape& s, const ConvOptions& o) {
    Case c{s, o};
    c.w8a16 = true;
    c.tolerance = o.quantization.bits == 4 ? 4e-5 : 3e-5;  // of smaller sums
    check(c);
    c.positive = true;
    c.residual = true;
    c.lo = 0;
    check(c);
}

TEST(KernelsQuantizedConv, Products) {
    if (!cpuHasW8A16()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    for (const WeightQuantization& form : {WeightQuantization{8, 1, false}, WeightQuantization{8, 1, true},
                                           WeightQuantization{4, 1, false}, WeightQuantization{4, 1, true}}) {
        const auto check = [&](const ConvShape& s) { checkW8A16(s, codes(form)); };
        for (int oc : {1, 5, 16, 40, 160}) check(shape(101, 7, 7, oc, 1));
        for (int ic : {5, 16, 18, 31, 64}) check(shape(ic, 5, 13, 35, 1, 1, 1, 0, 2));
        check(shape(129, 1, 1, 77, 1));
        check(shape(130, 1, 1, 50, 1, 1, 1, 0, 11));
        check(shape(112, 9, 11, 33, 1, 2));
        check(shape(50, 1, 9, 33, 1, 2, 1, 0, 2));
        check(shape(110, 60, 61, 17, 1));
        check(shape(30, 6, 6, 21, 1, 1, 1, 1));
        check(shape(17, 9, 10, 35, 3, 1, 1, 1));
        check(shape(33, 9, 10, 20, 3, 2, 1, 1, 2));
        check(shape(8, 12, 15, 20, 3, 1, 2, 2));
        check(shape(6, 14, 14, 50, 5, 2, 1, 2));
        check(shape(20, 7, 7, 20, 2, 2));
        check(shape(20, 9, 9, 20, 2, 3));
        check(shape(30, 7, 7, 20, 7));
        check(shape(20, 14, 15, 20, 3, 1, 1, -1));
        check(shape(64, 60, 60, 40, 3, 1, 1, 1));
        check(shape(600, 5, 5, 40, 3, 1, 1, 1));  // sums of several pieces
        check(shape(1030, 3, 3, 20, 1));
        check(shape(1030, 1, 1, 20, 1, 1, 1, 0, 41));
        check(shape(35, 23, 23, 70, 1));  // more pixels than a matrix unit takes at a time
        ConvShape odd = shape(9, 11, 13, 18, 3, 2, 1, 0);
        odd.oh += 1;
        odd.padLeft = 1;
        check(odd);
        ConvShape wide = shape(20, 9, 17, 34, 1);
        wide.kw = 7;
        wide.padLeft = 3;
        check(wide);
    }
    for (Act act : {Act::HardSwish, Act::Gelu}) {
        Case c{shape(101, 7, 7, 37, 1), int8Weights()};
        c.w8a16 = true;
        c.tolerance = 3e-5;
        c.act = act;
        check(c);
    }
}

// Weights whose channels have several scales, each for a number of channels that fills vectors.
TEST(KernelsQuantizedConv, ProductsOfBlocks) {
    if (!cpuHasW8A16()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    for (const int bits : {8, 4})
        for (const bool minima : {false, true}) {
            const auto check = [&](const ConvShape& s, int blocks) { checkW8A16(s, codes({bits, blocks, minima})); };
            for (int blocks : {2, 4, 8}) check(shape(128, 5, 9, 35, 1, 1, 1, 0, 2), blocks);
            for (int oc : {1, 16, 40, 77}) check(shape(96, 1, 1, oc, 1), 3);
            for (int rows : {1, 2, 5, 6, 13, 17, 32, 40}) check(shape(64, 1, 1, 70, 1, 1, 1, 0, rows), 2);
            for (int blocks : {1, 2, 3, 6}) check(shape(192, 1, 1, 24, 1, 1, 1, 0, 35), blocks);
            check(shape(192, 9, 11, 33, 1, 2), 4);
            check(shape(1600, 3, 3, 20, 1), 2);  // blocks whose sums are of several pieces
            check(shape(1600, 1, 1, 20, 1, 1, 1, 0, 33), 2);
            check(shape(16384, 1, 1, 9, 1), 2);
        }
}

// A pixel alone has kernels of its own where weights have 4 bits.
TEST(KernelsQuantizedConv, ProductsOfOnePixel) {
    if (!cpuHasW8A16()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    for (const bool minima : {false, true}) {
        for (const int ic : {5, 8, 31, 32, 33, 100, 129, 1030, 3968, 3969, 8000})
            for (const int oc : {15, 16, 17, 77}) checkW8A16(shape(ic, 1, 1, oc, 1), codes({4, 1, minima}));
        for (const int blocks : {1, 2, 3, 4, 6, 12})
            for (const int oc : {9, 24, 70}) checkW8A16(shape(192, 1, 1, oc, 1), codes({4, blocks, minima}));
        checkW8A16(shape(100, 3, 3, 20, 1, 3, 1, 0, 2), codes({4, 1, minima}));  // one pixel of each image
    }
}

TEST(KernelsQuantizedConv, AMatrixUnitTakesManyPixels) {
    if (!cpuHasW8A16()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    const Kernels& k = selectKernels();
    W8A16Kernels panels = *k.w8a16;
    panels.matrix = nullptr;
    Kernels without = k;
    without.w8a16 = &panels;
    const auto planOf = [](const Kernels& kernels, int pixels, int blocks) {
        return makeConvPlan(kernels, shape(128, 1, 1, 160, 1, 1, 1, 0, pixels), codes({4, blocks, true}));
    };
    const auto takes = [&](int pixels, int blocks) {
        return planOf(k, pixels, blocks)->scratchBytes(1) != planOf(without, pixels, blocks)->scratchBytes(1);
    };
    const bool has = k.w8a16->matrix && k.w8a16->matrix();
    EXPECT_FALSE(takes(23, 2));
    EXPECT_FALSE(takes(40, 4));  // sums of 32 channels
    EXPECT_EQ(takes(24, 2), has);
    EXPECT_EQ(takes(24, 1), has);
    if (!has) GTEST_SKIP() << "there is no matrix unit that this process may use";
    // The packed weights of a prompt are those of single tokens: both names are parts of their key.
    const auto many = planOf(k, 24, 2), one = planOf(k, 1, 2);
    EXPECT_EQ(many->weightVariant(), one->weightVariant());
    EXPECT_EQ(many->algorithm(), one->algorithm());
}

TEST(KernelsQuantizedConv, ProductsDecline) {
    const auto declines = [](const ConvShape& s, ConvOptions o) {
        const auto plan = makeConvPlan(selectKernels(), s, o);
        EXPECT_EQ(plan->algorithm().find(".int16"), std::string::npos) << plan->algorithm();
    };
    const ConvShape s = shape(64, 9, 9, 64, 3, 1, 1, 1);
    ConvOptions o = int8Weights();
    o.groups = 2;
    declines(s, o);
    declines(s, codes({8, 2, true}));                         // not 1x1
    declines(shape(84, 9, 9, 64, 1), codes({4, 4, true}));    // of 21 channels
    declines(shape(110, 9, 9, 64, 1), codes({4, 5, false}));  // of 22
    o = int8Weights();
    o.transposed = true;
    declines(transposedShape(64, 9, 9, 64, 3, 2, 1, 1), o);
    declines(shape(4, 9, 9, 64, 3, 1, 1, 1), int8Weights());
    // Short sums, and shapes where rounding and scaling cost more than products gain.
    declines(shape(96, 9, 9, 64, 1), int8Weights(true, ConvAlgorithm::Auto));
    declines(shape(112, 112, 112, 16, 1), int8Weights(true, ConvAlgorithm::Auto));
    declines(shape(64, 56, 56, 64, 3, 1, 1, 1), int8Weights(true, ConvAlgorithm::Auto));
}

// Gives the same weights with stored codes at an odd address, and keeps the order of the requests.
class OddWeights final : public QuantizedWeightReader {
  public:
    OddWeights(const QuantizedWeights& w, int outputs) : held_({w.q, w.scale, w.min}, outputs) {}
    QuantizedWeightsView read(int first, int count) override {
        next(first, count);
        return held_.read(first, count);
    }
    StoredWeightsView readStored(int first, int count, int bits) override {
        next(first, count);
        const StoredWeightsView all = held_.readStored(first, count, bits);
        const size_t bytes = perOutput * size_t(count) * size_t(bits) / 8;
        memory_.assign(bytes + 16, 0);
        uint8_t* const odd = memory_.data() + 1 + reinterpret_cast<uintptr_t>(memory_.data()) % 2;
        std::memcpy(odd, all.codes, bytes);
        return {odd, all.scales, all.minima};
    }

    size_t perOutput = 0;
    int requests = 0, end = 0;

  private:
    void next(int first, int count) {
        EXPECT_EQ(first, end);
        end = first + count;
        ++requests;
    }
    HeldQuantizedWeights held_;
    std::vector<uint8_t> memory_;
};

TEST(KernelsQuantizedConv, PartsPackAlike) {
    int checked = 0;
    for (const std::string& isa : availableIsas())
        for (const int bits : {8, 4})
            for (const int blocks : {1, 16}) {
                SCOPED_TRACE(isa + " " + std::to_string(bits) + " bits, " + std::to_string(blocks) + " blocks");
                Kernels k = selectKernels(isa);
                CpuCosts costs = *k.costs;
                costs.cache.packedChunk = 64 << 10;
                k.costs = &costs;
                const ConvShape s = shape(1024, 1, 1, 510, 1);
                const auto plan = makeConvPlan(k, s, codes({bits, blocks, true}));
                const QuantizedWeights weights = quantised(s, {bits, blocks, true}).codes;
                const auto bytes = static_cast<size_t>(plan->packedWeightBytes());
                std::vector<Floats> packed(3, Floats(bytes / sizeof(float) + 16));
                InlinePool one;
                ForkJoinPool three(3);
                packCodes(*plan->quantizedPacker(), weights, s.oc, packed[0].data(), one);
                packCodes(*plan->quantizedPacker(), weights, s.oc, packed[1].data(), three);
                OddWeights odd(weights, s.oc);
                odd.perOutput = size_t(s.ic);
                plan->quantizedPacker()->packQuantized(odd, packed[2].data(), one);
                EXPECT_EQ(odd.end, s.oc);
                EXPECT_GT(odd.requests, 1);
                for (int other : {1, 2}) EXPECT_EQ(0, std::memcmp(packed[0].data(), packed[other].data(), bytes));
                ++checked;
            }
    EXPECT_GE(checked, 4);
}

// W8A16 products at the ends of the ranges of inputs and weights.
class W8A16Products {
  public:
    explicit W8A16Products(const ConvShape& s, int bits = 8)
        : s_(s), form_{bits, 1, true}, weights_(quantised(s, form_)) {}

    QuantizedWeights& weights() { return weights_.codes; }

    Floats operator()(const Floats& src, float lo = -std::numeric_limits<float>::infinity()) const {
        InlinePool pool;
        const Kernels& k = selectKernels();
        const auto plan = makeConvPlan(k, s_, codes(form_));
        EXPECT_NE(plan->algorithm().find(".int16"), std::string::npos);
        const Aligned in = packNan(k, src, s_.batch, s_.ic, size_t(s_.ih) * s_.iw);
        Aligned packed(plan->packedWeightBytes()), scratch(plan->scratchBytes(1));
        Aligned dst(packedFloats(k.lanes, s_.batch, s_.oc, size_t(s_.oh) * s_.ow) * 4);
        packCodes(*plan->quantizedPacker(), weights_.codes, s_.oc, packed.data, pool);
        PostOps post;
        post.lo = lo;
        const Floats bias = paddedBias(nullptr, s_.oc);
        post.bias = bias.data();
        plan->run(in.data, packed.data, dst.data, post, scratch.data, pool);
        Floats result(size_t(s_.batch) * s_.oc * s_.oh * s_.ow);
        packedToNchw(k, dst.data, result.data(), s_.batch, s_.oc, size_t(s_.oh) * s_.ow, pool);
        return result;
    }

    Floats expected(const Floats& src) const {
        return reference(s_, 1, false, src, weights_.floats, nullptr, nullptr, -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::infinity(), Act::None);
    }

  private:
    ConvShape s_;
    WeightQuantization form_;
    Quantised weights_;
};

TEST(KernelsQuantizedConv, ProductsOfExtremes) {
    if (!cpuHasW8A16()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    for (const ConvShape& s : {shape(40, 6, 7, 20, 1), shape(40, 6, 7, 20, 3, 1, 1, 1, 2)}) {
        W8A16Products products(s);
        const size_t count = size_t(s.batch) * s.ic * s.ih * s.iw;
        for (const float x : products(Floats(count, 0.0f))) ASSERT_EQ(x, 0.0f);
        for (const float x : products(Floats(count, 1e-41f))) ASSERT_LT(std::abs(x), 1e-30f);
        for (const float scale : {1e-28f, 1e35f}) {
            const Floats src = randomFloats(count, 5, scale), expected = products.expected(src);
            const Floats result = products(src);
            float largest = 0;
            for (const float x : expected) largest = std::max(largest, std::abs(x));
            for (size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i] / largest, expected[i] / largest, 3e-5);
        }
    }
    // Every sum has its largest value: 32768 * 128 for each channel.
    const ConvShape s = shape(1500, 2, 2, 17, 1);
    W8A16Products products(s);
    std::fill(products.weights().q.begin(), products.weights().q.end(), int8_t{-128});
    std::fill(products.weights().scale.begin(), products.weights().scale.end(), 1.0f);
    std::fill(products.weights().min.begin(), products.weights().min.end(), 0.0f);
    for (const float sign : {1.0f, -1.0f})
        for (const float x : products(Floats(1500 * 4, sign))) ASSERT_NEAR(x, -128.0f * 1500 * sign, 0.5f);
    Floats one(1500 * 4, 0.0f);
    std::fill(one.end() - 4, one.end(), 1.0f);
    for (const float x : products(one)) ASSERT_NEAR(x, -128.0f, 0.01f);
    // A pixel alone, with weights of 4 bits: the largest number of channels for which there is a kernel.
    const ConvShape point = shape(3968, 1, 1, 17, 1);
    for (const int8_t code : {int8_t{-8}, int8_t{7}}) {
        W8A16Products few(point, 4);
        std::fill(few.weights().q.begin(), few.weights().q.end(), code);
        std::fill(few.weights().scale.begin(), few.weights().scale.end(), 1.0f);
        std::fill(few.weights().min.begin(), few.weights().min.end(), 0.0f);
        for (const float sign : {1.0f, -1.0f})
            for (const float x : few(Floats(3968, sign))) ASSERT_NEAR(x, code * 3968.0f * sign, 0.5f);
        Floats mixed(3968, -1.0f);
        std::fill(mixed.begin(), mixed.begin() + 1000, 1.0f);
        for (const float x : few(mixed)) ASSERT_NEAR(x, code * -1968.0f, 0.5f);
    }
}

TEST(KernelsQuantizedConv, ProductsOfWhatIsNotFinite) {
    if (!cpuHasW8A16()) GTEST_SKIP() << "this CPU has no products of 16-bit integers";
    const float inf = std::numeric_limits<float>::infinity();
    for (const float wild : {std::numeric_limits<float>::quiet_NaN(), inf, -inf}) {
        for (const float lo : {-inf, 0.0f}) {
            const ConvShape point = shape(40, 6, 7, 20, 1);
            Floats src = randomFloats(40 * 42, 5);
            src[3 * 42 + 10] = wild;
            const Floats result = W8A16Products(point)(src, lo);
            for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(std::isnan(result[i]), i % 42 == 10) << i;

            const ConvShape image = shape(40, 6, 7, 20, 3, 1, 1, 1, 2);
            src = randomFloats(2 * 40 * 42, 5);
            src[50 * 42 + 10] = wild;
            const Floats results = W8A16Products(image)(src, lo);
            for (size_t i = 0; i < results.size(); ++i) ASSERT_EQ(std::isnan(results[i]), i >= results.size() / 2) << i;
        }
    }
}

}  // namespace
}  // namespace mnnc::test
