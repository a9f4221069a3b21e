// Operators that make tensors: constants, shapes, ranges, random numbers.
#include <cmath>

#include "../importer.h"
#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

void emitConstant(Call& c) {
    if (const Attribute* value = c.attribute("value"); value && value->tensor) {
        c.out(c.b.constant(c.tensor("value"), value->tensor->type, c.b.name()));
    } else if (c.has("value_int")) {
        const int64_t number = c.integer("value_int", 0);
        c.out(c.b.constant(clampedInts({}, {number}), Elem::Int64, c.b.name()));
    } else if (c.has("value_float")) {
        c.out(c.b.constant(floatScalar(c.real("value_float", 0)), Elem::Float, c.b.name()));
    } else if (c.has("value_ints")) {
        const std::vector<int64_t> list = *c.integers("value_ints");
        c.out(c.b.constant(clampedInts({static_cast<int64_t>(list.size())}, list), Elem::Int64, c.b.name()));
    } else if (c.has("value_floats")) {
        const std::vector<float> list = c.reals("value_floats");
        c.out(c.b.constant(floatArray({static_cast<int64_t>(list.size())}, list), Elem::Float, c.b.name()));
    } else {
        refuse("it holds text or a sparse tensor");
    }
}

void emitConstantOfShape(Call& c) {
    ArrayPtr value = c.tensor("value");
    Elem elem = Elem::Float;
    if (value) {
        elem = c.attribute("value")->tensor->type;
        if (value->count() != 1)
            fail(Status::BadFormat, "its value has the shape %s; one element is needed", dimsText(value->dims).c_str());
    }
    auto scalar = std::make_shared<Array>(value ? *value : *floatScalar(0));
    scalar->dims.clear();
    V shape = c.in(0);
    if (shape->constant && shape->elementCount() == 0) {
        c.out(c.b.constant(scalar, elem));
        return;
    }
    if (!shape->constant) c.b.open(c.b.openShape(shape, static_cast<size_t>(shape->extent(0))));
    c.out(c.b.alias(c.b.op(OpType::Fill, {}, {shape, c.b.constant(scalar, elem)}), elem));
}

void emitShape(Call& c) {
    V x = c.in(0);
    const auto rank = static_cast<int64_t>(x->rank());
    int64_t start = c.integer("start", 0), end = c.integer("end", rank);
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    c.out(shapeOf(c, x, start, end));
}

void emitSize(Call& c) {
    V x = c.in(0);
    if (x->allFixed()) {
        c.out(c.b.scalar(x->elementCount()));
        return;
    }
    V result = c.b.given(OpType::Size, {}, {x}, {{{}, DataType::DT_INT32}})[0];
    for (size_t p = 0; p < kProbes; ++p) result->content[p] = intScalar(elementCount(x->dims[p], "a tensor"));
    result->doubts = {true};
    c.out(c.b.alias(result, Elem::Int64));
}

void emitRange(Call& c) {
    V start = c.in(0);
    std::vector<V> inputs{start, c.in(1), c.maybe(2) ? c.in(2) : c.b.number(1, *start)};
    for (V& value : inputs) value = scalarOf(c, value);
    c.b.open(c.b.openDims({-1}));
    wire::RangeT table;
    table.Tidx = inputs[0]->type;
    const Elem elem = inputs[0]->elem;
    c.out(c.b.alias(c.b.op(OpType::Range, table, inputs), elem));
}

void emitEyeLike(Call& c) {
    V x = c.in(0);
    const Elem elem = c.has("dtype") ? static_cast<Elem>(c.integer("dtype", 1)) : x->elem;
    const int64_t k = c.integer("k", 0);
    if (x->rank() != 2) refuse("its input has rank %zu, 2 is needed", x->rank());
    V typed = castTo(c, x, elem == Elem::Bool || heldAs(elem) == DataType::DT_INT32 ? Elem::Int32 : Elem::Float);
    V eye = c.b.op(OpType::EyeLike, {}, {typed, c.b.scalar(k)});
    c.out(c.b.alias(castTo(c, eye, elem), elem));
}

V randomNumbers(Call& c, V shape, OpType type = OpType::RandomUniform, float low = 0, float high = 1) {
    wire::RandomUniformT table;
    table.low = low;
    table.high = high;
    table.seed = c.has("seed") ? 1 : 0;
    table.type = DataType::DT_FLOAT;
    c.importer.note("Random numbers are those of the .mnn format's operators, the same in every run.");
    return c.b.op(type, table, {shape});
}

template <OpType type>
void emitRandom(Call& c) {
    V shape = nullptr;
    Elem elem = static_cast<Elem>(c.integer("dtype", 1));
    if (c.node.inputs.empty()) {
        shape = c.b.ints(c.integers("shape").value_or(std::vector<int64_t>()));
    } else {
        shape = shapeOf(c, c.in(0));
        if (!c.has("dtype")) elem = c.in(0)->elem;
    }
    const bool normal = type == OpType::RandomNormal;
    const float low = normal ? c.real("mean", 0) : c.real("low", 0);
    const float high = normal ? c.real("scale", 1) : c.real("high", 1);
    c.out(castTo(c, randomNumbers(c, shape, type, low, high), elem));
}

// The elements of x are the probabilities of 1.
void emitBernoulli(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float);
    V numbers = randomNumbers(c, shapeOf(c, x));
    const auto to = static_cast<Elem>(c.integer("dtype", static_cast<int64_t>(c.in(0)->elem)));
    c.out(castTo(c, compare(c, Binary::LESS, numbers, x), to));
}

// Draws classes: the number of classes whose cumulated probability a random number exceeds.
void emitMultinomial(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float);
    if (x->rank() != 2) refuse("its input has rank %zu, 2 is needed", x->rank());
    const int64_t samples = c.integer("sample_size", 1);
    if (samples < 1) fail(Status::BadRange, "sample_size is %lld; it must be 1 or more", asLong(samples));
    V limits = c.b.op(OpType::CumSum, wire::CumSumT(), {softmax(c, x, 1), c.b.scalar(1)});
    V last = sub(c, extentOf(c, x, 1), c.b.scalar(1));
    // The last class has no limit, so that rounding cannot leave a number without a class.
    V inner = c.b.alias(gatherAxis(c, limits, rangeTo(c, last), 1), Elem::Float);
    V shape = concat(c, {shapeOf(c, x, 0, 1), c.b.ints({samples, 1})}, 0);
    V above = compare(c, Binary::GREATER_EQUAL, randomNumbers(c, shape), unsqueeze(c, inner, {1}));
    V drawn = reduce(c, Reduction::SUM, castTo(c, above, Elem::Int32), {2}, false);
    c.out(castTo(c, drawn, static_cast<Elem>(c.integer("dtype", static_cast<int64_t>(Elem::Int32)))));
}

void emitDropout(Call& c) {
    V x = c.in(0);
    c.refuseAttributes({"ratio"}, 12);
    V training = c.opset >= 12 ? c.maybe(2) : nullptr;
    if (training && training->constant && training->array().intAt(0) == 0) training = nullptr;
    if (training) {
        // The kept elements: those whose random number is not below the ratio; all of them outside of training.
        V ratio = c.maybe(1) ? castTo(c, scalarOf(c, c.in(1)), Elem::Float) : c.b.real(0.5f);
        V numbers = randomNumbers(c, shapeOf(c, x));
        V kept = compare(c, Binary::GREATER_EQUAL, numbers, ratio);
        V always = compare(c, Binary::EQUAL, scalarOf(c, training), c.b.number(0, *training));
        V mask = c.b.alias(binary(c, Binary::LOGICALOR, kept, always), Elem::Bool);
        V scaled = div(c, x, sub(c, c.b.real(1), ratio));
        c.out(0, select(c, always, x, select(c, mask, scaled, c.b.real(0))));
        c.out(1, mask);
        return;
    }
    if (c.opset < 7 && c.integer("is_test", 0) == 0) c.importer.note("Dropout is left out, as in inference.");
    c.out(0, x);
    if (c.wants(1)) {
        V ones = c.b.op(OpType::Fill, {}, {shapeOf(c, x), c.b.constant(intScalar(1), Elem::Bool)});
        c.out(1, c.b.alias(ones, Elem::Bool));
    }
}

// Windows of signal processing: sums of factors[k] * cos(2 pi k i / points).
template <int terms>
void emitWindow(Call& c, const float (&factors)[terms]) {
    V size = c.in(0);
    size = scalarOf(c, size);
    V points = castTo(c, size, Elem::Float);
    if (c.integer("periodic", 1) == 0) points = sub(c, points, c.b.real(1));
    V angle = div(c, castTo(c, rangeTo(c, size), Elem::Float), points);
    V sum = nullptr;
    for (int k = 1; k < terms; ++k) {
        V turn = mul(c, angle, c.b.real(6.283185307179586f * static_cast<float>(k)));
        V term = mul(c, unary(c, Unary::COS, turn), c.b.real(factors[k]));
        sum = add(c, sum ? sum : c.b.real(factors[0]), term);
    }
    c.out(castTo(c, sum, static_cast<Elem>(c.integer("output_datatype", 1))));
}

void emitHann(Call& c) {
    emitWindow(c, {0.5f, -0.5f});
}

void emitHamming(Call& c) {
    emitWindow(c, {25.0f / 46, -21.0f / 46});
}

void emitBlackman(Call& c) {
    emitWindow(c, {0.42f, -0.5f, 0.08f});
}

// Column `band` rises from 0 at frequency bin edges[band] to 1 at the next edge and falls to 0 at the one after it.
std::vector<float> melWeights(const std::vector<int64_t>& edges, int64_t frequencies) {
    const size_t bands = edges.size() - 2;
    std::vector<float> weights(static_cast<size_t>(frequencies) * bands);
    for (size_t band = 0; band < bands; ++band) {
        const int64_t low = edges[band], center = edges[band + 1], high = edges[band + 2];
        const auto at = [&](int64_t bin) -> float& { return weights[static_cast<size_t>(bin) * bands + band]; };
        at(center) = 1;
        for (int64_t bin = low; bin < center; ++bin)
            at(bin) = static_cast<float>(static_cast<double>(bin - low) / static_cast<double>(center - low));
        for (int64_t bin = center + 1; bin < high; ++bin)
            at(bin) = static_cast<float>(static_cast<double>(high - bin) / static_cast<double>(high - center));
    }
    return weights;
}

// The formula of ONNX, whose edges are equally far apart on the mel scale: 2595 log10(1 + hertz / 700).
void emitMelWeightMatrix(Call& c) {
    const int64_t bands = c.constant(0).intAt(0), points = c.constant(1).intAt(0), rate = c.constant(2).intAt(0);
    const double lowest = c.constant(3).realAt(0), highest = c.constant(4).realAt(0);
    constexpr int64_t kMaxWeights = 1 << 22;  // a small file must not take any amount of memory
    if (bands < 1 || points < 1 || rate < 1 || bands > kMaxWeights / (points / 2 + 1))
        fail(Status::BadRange, "it has %lld bands of %lld points at %lld hertz, which is out of range", asLong(bands),
             asLong(points), asLong(rate));
    if (!(lowest >= 0 && highest >= lowest && highest <= static_cast<double>(rate)))
        fail(Status::BadRange, "its bands reach from %g to %g hertz, which is not within 0 to the sample rate", lowest,
             highest);
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double step = (mel(highest) - mel(lowest)) / static_cast<double>(bands + 2);
    std::vector<int64_t> edges;
    const int64_t frequencies = points / 2 + 1;
    for (int64_t i = 0; i < bands + 2; ++i) {
        const double hertz = 700 * (std::pow(10.0, (static_cast<double>(i) * step + mel(lowest)) / 2595) - 1);
        edges.push_back(
            static_cast<int64_t>(std::floor(static_cast<double>(points + 1) * hertz / static_cast<double>(rate))));
        // The last edge is where the last band has fallen to 0; at every other one a weight is written.
        if (edges.back() < 0 || edges.back() >= frequencies + (i == bands + 1))
            fail(Status::BadRange, "its bands reach frequency %lld of %lld", asLong(edges.back()), asLong(frequencies));
    }
    c.b.requireRoom({frequencies, bands});
    V weights = c.b.constant(floatArray({frequencies, bands}, melWeights(edges, frequencies)), Elem::Float);
    c.out(castTo(c, weights, static_cast<Elem>(c.integer("output_datatype", 1))));
}

}  // namespace

constexpr Entry kConstantsEntries[] = {
    {"Bernoulli", 15, kNewest, emitBernoulli, "RandomUniform, BinaryOp, Cast", "Other random numbers than elsewhere."},
    {"BlackmanWindow", 17, kNewest, emitBlackman, "Const; with Range, UnaryOp and BinaryOp where the size is fed"},
    {"Constant", 1, kNewest, emitConstant, "Const", "Text and sparse tensors."},
    {"ConstantOfShape", 9, kNewest, emitConstantOfShape, "Fill"},
    {"Dropout", 1, kNewest, emitDropout, "nothing; Fill for the mask; in training RandomUniform, BinaryOp and Select",
     "Other random numbers than elsewhere."},
    {"EyeLike", 9, kNewest, emitEyeLike, "EyeLike"},
    {"HammingWindow", 17, kNewest, emitHamming, "Const; with Range, UnaryOp and BinaryOp where the size is fed"},
    {"HannWindow", 17, kNewest, emitHann, "Const; with Range, UnaryOp and BinaryOp where the size is fed"},
    {"MelWeightMatrix", 17, kNewest, emitMelWeightMatrix, "Const", "Inputs that are fed."},
    {"Multinomial", 7, kNewest, emitMultinomial, "RandomUniform, Softmax, CumSum, BinaryOp, Reduction",
     "Other random numbers than elsewhere."},
    {"RandomNormal", 1, kNewest, emitRandom<OpType::RandomNormal>, "RandomNormal", "Other numbers than elsewhere."},
    {"RandomNormalLike", 1, kNewest, emitRandom<OpType::RandomNormal>, "RandomNormal", "Other numbers than elsewhere."},
    {"RandomUniform", 1, kNewest, emitRandom<OpType::RandomUniform>, "RandomUniform", "Other numbers than elsewhere."},
    {"RandomUniformLike", 1, kNewest, emitRandom<OpType::RandomUniform>, "RandomUniform",
     "Other numbers than elsewhere."},
    {"Range", 11, kNewest, emitRange, "Range"},
    {"Range", 1, kNewest, emitRange, "As Range of ONNX", "", kMicrosoft},
    {"Shape", 1, kNewest, emitShape, "Shape"},
    {"Size", 1, kNewest, emitSize, "Size"},
};
extern constinit const Family constantFamily = kConstantsEntries;

}  // namespace mnnc::onnx
