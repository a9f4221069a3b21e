// Decoding of weights: small streams and tables with the floats that they represent, and damaged streams.
#include "model/weights.h"

#include "model/weight_codes.h"
#include "model/weight_form.h"
#include "model_builder.h"

namespace mnnc::test {
namespace {

std::vector<int8_t> bytes(const std::vector<int>& values) {
    std::vector<int8_t> result;
    for (const int value : values) result.push_back(static_cast<int8_t>(static_cast<uint8_t>(value)));
    return result;
}

struct Quan {
    int type = 1;
    std::vector<int> buffer;
    std::vector<float> alpha;
    int aMin = 0;
    int readType = 0;
    float quantScale = 1.0f;
};

wire::Convolution2DT compressed(const Quan& quan) {
    wire::Convolution2DT conv;
    conv.common = std::make_unique<wire::Convolution2DCommonT>();
    conv.quanParameter = std::make_unique<wire::IDSTQuanT>();
    conv.quanParameter->type = quan.type;
    conv.quanParameter->buffer = bytes(quan.buffer);
    conv.quanParameter->alpha = quan.alpha;
    conv.quanParameter->aMin = quan.aMin;
    conv.quanParameter->readType = quan.readType;
    conv.quanParameter->quantScale = quan.quantScale;
    return conv;
}

std::vector<float> decode(const wire::Convolution2DT& conv, int64_t outputs, int64_t expected = -1) {
    const auto buffer = packTable<wire::Convolution2D>(conv);
    const auto* table = flatbuffers::GetRoot<wire::Convolution2D>(buffer.data());
    const FloatView view = decodeConvWeights(*table, expected, outputs, nullptr, "conv");
    const std::vector<float> all(view.span().begin(), view.span().end());
    FloatSource pieces = convWeightSource(*table, expected, outputs, nullptr, "conv");
    EXPECT_EQ(pieces.size(), all.size());
    for (size_t first = 0; first < all.size(); ++first)
        for (size_t count = 1; first + count <= all.size() && count < 6; ++count) {
            const float* piece = pieces.at(first, count);
            EXPECT_TRUE(std::equal(piece, piece + count, all.begin() + asLong(static_cast<int64_t>(first))))
                << count << " from " << first;
        }
    return all;
}

// The outputs come in parts, too: as numbers, and as most models store them.
void expectParts(const wire::Convolution2D& table, int64_t count, int64_t outputs, int bits,
                 const QuantizedWeights& all) {
    const auto each = static_cast<size_t>(count / outputs), blocks = static_cast<size_t>(all.blocksPerOutput);
    QuantizedSource source(table, count, outputs, nullptr, "conv");
    EXPECT_EQ(source.outputs(), outputs);
    for (int64_t first = 0; first < outputs; ++first)
        for (int64_t n = 1; first + n <= outputs; ++n) {
            SCOPED_TRACE(std::to_string(n) + " outputs from " + std::to_string(first));
            const auto from = static_cast<size_t>(first), some = static_cast<size_t>(n);
            const auto same = [](auto part, const auto& whole, size_t at, size_t size) {
                EXPECT_TRUE(part.size() == size && std::equal(part.begin(), part.end(), whole.begin() + asLong(at)));
            };
            const auto scales = [&](const QuantizedSource::Part& part) {
                same(part.scales, all.scale, from * blocks, some * blocks);
                same(part.minima, all.min, from * blocks, all.min.empty() ? 0 : some * blocks);
            };
            const QuantizedSource::Part part = source.part(first, n);
            scales(part);
            same(part.codes, all.q, from * each, some * each);
            if (each * static_cast<size_t>(bits) % 8 != 0) continue;
            const QuantizedSource::Part stored = source.storedPart(first, n, bits);
            scales(stored);
            for (size_t i = 0; i < some * each; ++i) {
                const int byte = stored.stored[i * static_cast<size_t>(bits) / 8];
                const int code = bits == 8 ? byte - 128 : (i % 2 ? byte & 15 : byte >> 4) - 8;
                EXPECT_EQ(code, all.q[from * each + i]) << i;
            }
        }
}

void expectWeights(const Quan& quan, int64_t outputs, const std::vector<float>& expected) {
    const auto found = decode(compressed(quan), outputs, static_cast<int64_t>(expected.size()));
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6f) << i;

    // The form of the codes is known without decoding them.
    const auto buffer = packTable<wire::Convolution2D>(compressed(quan));
    const auto* table = flatbuffers::GetRoot<wire::Convolution2D>(buffer.data());
    const auto count = static_cast<int64_t>(expected.size());
    const auto form = quantizedForm(*table, count, outputs, nullptr, "conv");
    const WeightForm stored = convWeightForm(*table, "conv");
    ASSERT_EQ(form.has_value(), stored == WeightForm::Codes || stored == WeightForm::RawInt8);
    if (!form) return;
    const QuantizedWeights codes = decodeQuantizedWeights(*table, count, outputs, nullptr, "conv");
    EXPECT_EQ(form->blocksPerOutput, codes.blocksPerOutput);
    EXPECT_EQ(form->minima, !codes.min.empty());
    expectParts(*table, count, outputs, form->bits, codes);
    if (form->bits == 4) expectParts(*table, count, outputs, 8, codes);
    if (form->bits == 4) {
        for (const int8_t q : codes.q) EXPECT_TRUE(q >= -8 && q <= 7) << int(q);
    }
}

void expectBad(const Quan& quan, int64_t outputs, const std::string& part) {
    expectFailure(Status::BadWeights, part, [&] { decode(compressed(quan), outputs); });
}

const std::vector<int> kSamples4 = {0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF, 0, 1, 2, 3, 4, 5, 6, 7};
const std::vector<int> kSamples3 = {0xFC, 0xFD, 0xFE, 0xFF, 0, 1, 2, 3};

std::vector<int> join(std::vector<int> a, const std::vector<int>& b, const std::vector<int>& c) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
}

TEST(ModelWeights, ExampleA) {
    expectWeights({1, join({2, 2, 0, 3, 0, 0x10}, kSamples4, {0x9F, 0x18, 0xC4}), {0.5f, 0.25f}}, 2,
                  {0.5f, 3.5f, -3.5f, 0, 1, -1});
}

TEST(ModelWeights, ExampleB) {
    expectWeights({1, join({2, 1, 0, 5, 0, 8}, kSamples3, {0x05, 0x39}), {-1, 0.5f}, -4, 1}, 1,
                  {-1, -0.5f, 0, 0.5f, 1});
}

TEST(ModelWeights, ExampleC) {
    expectWeights({1, {2, 1, 0, 6, 0, 3, 5, 0xFD, 0, 0x18, 0x90}, {0.1f}}, 1, {-0.3f, 0, 0.5f, -0.3f, 0.5f, 0});
}

TEST(ModelWeights, ExampleD) {
    expectWeights({2, {2, 1, 0, 10, 0, 2, 0, 0, 0, 3, 0x54, 4, 0xFE, 0xFF, 0, 1, 0xC0}, {0.5f}}, 1,
                  {0, 0, 0.5f, 0, 0, 0, 0, -1, 0, 0});
}

TEST(ModelWeights, ExampleE) {
    expectWeights({2, join({2, 1, 0, 4, 0, 1, 0, 0, 0, 2, 0xC0, 8}, kSamples3, {0xE0}), {-1, 0.5f}, -4, 1}, 1,
                  {0, 0, 0, 2.5f});
}

TEST(ModelWeights, ExampleF) {
    const std::vector<float> alpha = {-1, 0.125f, 0, 0.25f};
    expectWeights({1, join({2, 2, 0, 2, 0, 0x10}, kSamples4, {0x0F, 0x48}), alpha, -8, 2}, 1, {-1, 0.875f, 1, 2});
    expectWeights({1, join({2, 1, 0, 4, 0, 0x10}, kSamples4, {0x0F, 0x48}), alpha, -8, 2}, 1, {-1, 0.875f, 1, 2});
}

TEST(ModelWeights, ExampleG) {
    expectWeights({4, {0x80, 0, 0x7F}, {0.01f}, 0, 0, 1}, 1, {-1.28f, 0, 1.27f});
    expectWeights({4, {0x80, 0, 0x7F}, {-1, 0.01f}, 0, 0, 0}, 1, {-1, 0.28f, 1.55f});
    expectWeights({4, {0x80, 0, 0x7F}, {-1, 0.01f}, 0, 1, 1}, 1, {-1, 0.28f, 1.55f});
}

TEST(ModelWeights, ExampleH) {
    expectWeights({3, {0, 0x3C, 0, 0xC0}, {}}, 1, {1, -2});
}

TEST(ModelWeights, ExampleI) {
    expectWeights({1, {2, 1, 0, 2, 0, 4, 0xFE, 0xFF, 0, 1, 0x10}, {-1, 0.5f}, 0, 1}, 1, {62, 62.5f});
}

TEST(ModelWeights, ExampleJ) {
    expectWeights({1, {2, 1, 0, 4, 0, 4, 0xFE, 0xFF, 0, 1, 0x1B}, {0.5f}, 0, 0, 0.5f}, 1, {-0.5f, -0.25f, 0, 0.25f});
}

TEST(ModelWeights, EightBitLinearAndCodebook) {
    std::vector<int> stream = {1, 3, 0, 0};  // 256 samples
    for (int i = 0; i < 256; ++i) stream.push_back((i + 7) & 0xff);
    expectWeights({1, join(stream, {0, 128, 255}, {}), {1}}, 1, {-128, 0, 127});
    stream = {1, 2, 0, 255};  // without a gap
    for (int i = 0; i < 255; ++i) stream.push_back((i - 127) & 0xff);
    expectWeights({1, join(stream, {0, 254}, {}), {1}}, 1, {-127, 127});
    expectBad({1, join(stream, {0, 255}, {}), {1}}, 1, "code 255");
    stream = {1, 2, 0, 129};
    for (int i = 0; i < 129; ++i) stream.push_back(i);  // 0..127 and -128
    expectWeights({1, join(stream, {0, 128}, {}), {1}}, 1, {-128, 127});
    expectBad({1, join(stream, {0, 129}, {}), {1}}, 1, "code 129");
}

TEST(ModelWeights, WideDimsAndHalfAlpha) {
    wire::Convolution2DT conv = compressed({1, {1, 4, 0, 0, 0, 4, 0xFE, 0xFF, 0, 1, 0x1B}, {}});
    conv.quanParameter->shapeInt32 = true;
    conv.quanParameter->scaleStorage = wire::ScaleStorageType::FP16;
    conv.quanParameter->alphaFp16 = {0x3800};
    EXPECT_EQ(decode(conv, 1), (std::vector<float>{-1, -0.5f, 0, 0.5f}));
}

TEST(ModelWeights, PreShiftedAsymmetric) {
    expectWeights({1, {1, 4, 0, 4, 0xFE, 0xFF, 0, 1, 0x1B}, {3, 0.5f}, 1, 1}, 1, {2, 2.5f, 3, 3.5f});
}

TEST(ModelWeights, LegacyScaleInt) {
    wire::Convolution2DT conv = compressed({4, {1, 2}, {0.5f}, -127, 0, 4.0f});
    conv.quanParameter->has_scaleInt = true;
    EXPECT_EQ(decode(conv, 1), (std::vector<float>{2, 4}));
}

TEST(ModelWeights, SparseFloat) {
    wire::Convolution2DT conv = compressed({0, {}, {2, 3}});
    conv.quanParameter->weightSize = 4;
    conv.quanParameter->index = {1, 3};
    EXPECT_EQ(decode(conv, 1, 4), (std::vector<float>{0, 2, 0, 3}));
    expectFailure(Status::BadWeights, "its shape needs 5", [&] { decode(conv, 1, 5); });
    conv.quanParameter->index = {1, 4};
    expectFailure(Status::BadWeights, "position 4", [&] { decode(conv, 1, 4); });
    conv.quanParameter->index = {1};
    expectFailure(Status::BadWeights, "1 sparse positions and 2 values", [&] { decode(conv, 1, 4); });
}

TEST(ModelWeights, DamagedStreams) {
    expectBad({1, {0}, {1}}, 1, "0 dims");
    expectBad({1, {5, 1, 0}, {1}}, 1, "5 dims");
    expectBad({1, {2, 1, 0, 5}, {1}}, 1, "ends inside its dims");
    expectBad({1, {1, 0, 0, 4, 0, 1, 2, 3}, {1}}, 1, "extent of 0");
    expectBad({1, {1, 9, 0, 4, 0xFE, 0xFF, 0, 1, 0x1B}, {1}}, 1, "ends inside its codes");
    expectBad({1, {1, 6, 0, 3, 5, 0xFD, 0, 0xFF, 0x90}, {0.1f}}, 1, "code 3");
    expectBad({2, {1, 4, 0, 5, 0, 0, 0, 2, 0, 0, 1, 0, 0}, {1}}, 1, "5 sparse entries, at most 4 fit");
    expectBad({2, {1, 4, 0, 1, 0, 0, 0, 9, 0, 0, 1, 0, 0}, {1}}, 1, "step width 9");
    expectBad({2, {1, 4, 0, 1, 0, 0, 0, 3, 0xE0, 1, 5, 0}, {1}}, 1, "lies at 7 of 4");
    expectBad({3, {1, 2, 3}, {}}, 1, "3 bytes");
    expectBad({4, {1, 2, 3}, {}}, 1, "no scale values");
    expectBad({4, {1, 2, 3, 4}, {1, 2, 3}}, 2, "3 scale pieces");
    expectBad({4, {1, 2, 3, 4}, {1, 2, 3}, 0, 1}, 2, "pairs");
    expectBad({4, {1, 2, 3}, {1, 2}}, 2, "3 weights cannot be divided into 2 outputs");
    expectBad({7, {1, 2, 3}, {1}}, 1, "unknown type 7");
    expectBad({0, {1, 2, 3}, {1}}, 1, "type 0");
    wire::Convolution2DT wide = compressed({1, std::vector<int>(17, 0xFF), {1}});
    wide.quanParameter->buffer[0] = 4;
    wide.quanParameter->shapeInt32 = true;
    expectFailure(Status::BadWeights, "overflow", [&] { decode(wide, 1); });
}

TEST(ModelWeights, PlainWeightsAreBorrowed) {
    const auto buffer = packTable<wire::Convolution2D>(makeConv(2, 2, 4));
    const auto* table = flatbuffers::GetRoot<wire::Convolution2D>(buffer.data());
    const FloatView view = decodeConvWeights(*table, 4, 2, nullptr, "conv");
    EXPECT_TRUE(view.isBorrowed());
    EXPECT_EQ(view.data(), table->weight()->data());
    expectFailure(Status::BadWeights, "its shape needs 6", [&] { decodeConvWeights(*table, 6, 2, nullptr, "conv"); });
}

TEST(ModelWeights, WeightlessIsReported) {
    expectFailure(Status::BadWeights, "has no weights", [] { decode(makeConv(2, 2, 0), 2); });
}

TEST(ModelWeights, QuantizedAccess) {
    const auto buffer = packTable<wire::Convolution2D>(
        compressed({1, join({2, 2, 0, 2, 0, 0x10}, kSamples4, {0x0F, 0x48}), {-1, 0.125f, 0, 0.25f}, -8, 2}));
    const auto* table = flatbuffers::GetRoot<wire::Convolution2D>(buffer.data());
    const QuantizedWeights weights = decodeQuantizedWeights(*table, 4, 1, nullptr, "conv");
    EXPECT_EQ(weights.q, (std::vector<int8_t>{-8, 7, -4, 0}));
    EXPECT_EQ(weights.scale, (std::vector<float>{0.125f, 0.25f}));
    EXPECT_EQ(weights.min, (std::vector<float>{0, 2}));
    EXPECT_EQ(weights.blocksPerOutput, 2);
}

TEST(ModelWeights, RawInt8WithRequantisationHasUnitScales) {
    wire::Convolution2DT conv = makeConv(2, 2, 0);
    conv.symmetricQuan = std::make_unique<wire::QuantizedFloatParamT>();
    conv.symmetricQuan->weight = {1, -2, 3, -4};
    conv.symmetricQuan->scale = {0.5f, 0.5f};
    EXPECT_EQ(decode(conv, 2, 4), (std::vector<float>{1, -2, 3, -4}));
}

}  // namespace
}  // namespace mnnc::test
