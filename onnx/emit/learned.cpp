// Operators of ai.onnx.ml, which scikit-learn's models consist of, other than trees and support vectors.
#include "learned.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../importer.h"
#include "base/checked.h"
#include "base/error.h"
#include "linear.h"

namespace mnnc::onnx {

V rowsOf(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float);
    if (x->rank() == 1) return unsqueeze(c, x, {0});
    if (x->rank() != 2) refuse("its input has rank %zu; rows of features are needed", x->rank());
    return x;
}

void requireCount(const char* list, size_t has, int64_t wanted) {
    if (static_cast<int64_t>(has) != wanted)
        fail(Status::BadFormat, "%s has %zu numbers in place of %lld", list, has, asLong(wanted));
}

Transform transformOf(Call& c) {
    const std::string name = c.text("post_transform", "NONE");
    if (name == "NONE") return Transform::none;
    if (name == "SOFTMAX") return Transform::softmax;
    if (name == "LOGISTIC") return Transform::logistic;
    if (name == "SOFTMAX_ZERO") return Transform::softmaxZero;
    refuse("the post_transform '%s' is not implemented", name.c_str());
}

V transformed(Call& c, V scores, Transform transform) {
    if (transform == Transform::none) return scores;
    if (transform == Transform::softmax) return softmax(c, scores, 1);
    if (transform == Transform::logistic) return unary(c, Unary::SIGMOID, scores);
    // A score of 0 stays 0.
    V largest = reduce(c, Reduction::MAXIMUM, scores, {1}, true);
    V zero = compare(c, Binary::LESS_EQUAL, unary(c, Unary::ABS, scores), c.b.real(1e-7f));
    V powers = select(c, zero, c.b.real(0), unary(c, Unary::EXP, sub(c, scores, largest)));
    return div(c, powers, reduce(c, Reduction::SUM, powers, {1}, true));
}

V scoresOfBoth(Call& c, V score, Transform transform, Other other) {
    if (transform == Transform::logistic)
        return unary(c, Unary::SIGMOID, concat(c, {unary(c, Unary::NEG, score), score}, 1));
    V first = other == Other::rest ? sub(c, c.b.real(1), score) : unary(c, Unary::NEG, score);
    return concat(c, {first, score}, 1);
}

std::vector<int64_t> labelsOf(Call& c, const char* integers, const char* text) {
    if (!c.texts(text).empty()) refuse("its labels are text, for which the .mnn format has no tensor");
    std::vector<int64_t> labels = c.integers(integers).value_or(std::vector<int64_t>());
    if (labels.size() < 2) refuse("it has %zu labels; two or more are needed", labels.size());
    return labels;
}

V labelAt(Call& c, const std::vector<int64_t>& labels, V positions) {
    return c.b.alias(gatherAxis(c, c.b.ints(labels), positions, 0), Elem::Int64);
}

V labelOfBest(Call& c, const std::vector<int64_t>& labels, V scores) {
    wire::ArgMaxT table;
    table.axis = 1;
    return labelAt(c, labels, c.b.alias(c.b.op(OpType::ArgMax, table, {scores}), Elem::Int64));
}

V labelOfTwo(Call& c, const std::vector<int64_t>& labels, V second) {
    return labelAt(c, labels, c.b.alias(squeeze(c, second, {1}), Elem::Int64));
}

V affine(Call& c, V x, const std::vector<float>& coefficients, int64_t rows, const std::vector<float>& intercepts) {
    const auto count = static_cast<int64_t>(coefficients.size());
    if (rows < 1 || count == 0 || count % rows != 0)
        fail(Status::BadFormat, "%lld coefficients do not divide into %lld rows", asLong(count), asLong(rows));
    if (x->fixed(1)) requireCount("coefficients", coefficients.size(), checkedMul(rows, x->extent(1), "coefficients"));
    V weights = c.b.constant(floatArray({rows, count / rows}, coefficients), Elem::Float), bias = nullptr;
    if (!intercepts.empty()) {
        requireCount("intercepts", intercepts.size(), rows);
        bias = c.b.constant(floatArray({rows}, intercepts), Elem::Float);
    }
    return gemm(c, x, weights, bias, 1, 1, false, true);
}

V isNumber(Call& c, V x) {
    return compare(c, Binary::EQUAL, x, x);
}

namespace {

// A list with one number for all features, or one for each of them.
V perFeature(Call& c, V x, const char* name, const std::vector<float>& list) {
    if (list.size() == 1) return c.b.real(list[0]);
    if (x->rank() < 1 || x->rank() > 2) refuse("its input has rank %zu; rows of features are needed", x->rank());
    requireCount(name, list.size(), x->extent(x->rank() - 1));
    return c.b.constant(floatArray({static_cast<int64_t>(list.size())}, list), Elem::Float);
}

void emitScaler(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float);
    const std::vector<float> scale = c.reals("scale"), offset = c.reals("offset");
    if (scale.empty()) fail(Status::BadFormat, "it has no scale");
    requireCount("offset", offset.size(), static_cast<int64_t>(scale.size()));
    V origin = perFeature(c, x, "offset", offset), factor = perFeature(c, x, "scale", scale);
    c.out(mul(c, sub(c, x, origin), factor));
}

void emitNormalizer(Call& c) {
    V x = castTo(c, c.in(0), Elem::Float), length = nullptr;
    if (x->rank() < 1 || x->rank() > 2) refuse("its input has rank %zu; rows of features are needed", x->rank());
    const std::vector<int64_t> last{static_cast<int64_t>(x->rank()) - 1};
    const std::string norm = c.text("norm", "MAX");
    if (norm == "MAX")
        length = reduce(c, Reduction::MAXIMUM, x, last, true);
    else if (norm == "L1")
        length = reduce(c, Reduction::SUM, unary(c, Unary::ABS, x), last, true);
    else if (norm == "L2")
        length = unary(c, Unary::SQRT, reduce(c, Reduction::SUM, unary(c, Unary::SQUARE, x), last, true));
    else
        refuse("the norm '%s' is not implemented", norm.c_str());
    V none = compare(c, Binary::EQUAL, length, c.b.real(0));
    c.out(div(c, x, select(c, none, c.b.real(1), length)));
}

void emitBinarizer(Call& c) {
    V x = c.in(0);
    V above = compare(c, Binary::GREATER, castTo(c, x, Elem::Float), c.b.real(c.real("threshold", 0)));
    c.out(castTo(c, above, x->elem));
}

void emitImputer(Call& c) {
    V x = c.in(0);
    if (!x->isFloat()) {
        const std::vector<int64_t> list = c.integers("imputed_value_int64s").value_or(std::vector<int64_t>());
        if (list.empty()) fail(Status::BadFormat, "it has no imputed_value_int64s");
        if (list.size() > 1) requireCount("imputed_value_int64s", list.size(), x->extent(x->rank() - 1));
        V given = castTo(c, x, Elem::Int64);
        V replaced = compare(c, Binary::EQUAL, given, c.b.scalar(c.integer("replaced_value_int64", 0)));
        V values = list.size() == 1 ? c.b.scalar(list[0]) : c.b.ints(list);
        c.out(castTo(c, c.b.alias(select(c, replaced, values, given), Elem::Int64), x->elem));
        return;
    }
    const std::vector<float> list = c.reals("imputed_value_floats");
    if (list.empty()) fail(Status::BadFormat, "it has no imputed_value_floats");
    const float wanted = c.real("replaced_value_float", 0);
    V values = perFeature(c, x, "imputed_value_floats", list);
    V result = std::isnan(wanted) ? select(c, isNumber(c, x), x, values)
                                  : select(c, compare(c, Binary::EQUAL, x, c.b.real(wanted)), values, x);
    c.out(c.b.alias(result, x->elem));
}

void emitLinearRegressor(Call& c) {
    const int64_t targets = c.integer("targets", 1);
    const Transform transform = transformOf(c);
    V y = affine(c, rowsOf(c), c.reals("coefficients"), targets, c.reals("intercepts"));
    c.out(targets == 1 ? y : transformed(c, y, transform));
}

void emitLinearClassifier(Call& c) {
    const std::vector<int64_t> labels = labelsOf(c, "classlabels_ints", "classlabels_strings");
    const std::vector<float> intercepts = c.reals("intercepts");
    const Transform transform = transformOf(c);
    const size_t rows = intercepts.empty() ? labels.size() : intercepts.size();
    if (rows != labels.size() && (rows != 1 || labels.size() != 2))
        fail(Status::BadFormat, "it has %zu intercepts for %zu labels", rows, labels.size());
    V scores = affine(c, rowsOf(c), c.reals("coefficients"), static_cast<int64_t>(rows), intercepts);
    if (rows == 1) {
        c.out(0, labelOfTwo(c, labels, compare(c, Binary::GREATER, scores, c.b.real(0))));
        c.out(1, scoresOfBoth(c, scores, transform, Other::rest));
        return;
    }
    c.out(0, labelOfBest(c, labels, scores));
    c.out(1, transformed(c, scores, transform));
}

// Each input gets the width in inputdimensions: longer rows are cut, shorter ones are padded with zeros.
void emitFeatureVectorizer(Call& c) {
    const std::vector<int64_t> widths = c.integers("inputdimensions").value_or(std::vector<int64_t>());
    requireCount("inputdimensions", widths.size(), static_cast<int64_t>(c.inputs.size()));
    std::vector<V> parts;
    for (size_t i = 0; i < widths.size(); ++i) {
        V x = castTo(c, c.in(i), Elem::Float);
        if (x->rank() == 1) x = unsqueeze(c, x, {0});
        if (x->rank() != 2) refuse("its input has rank %zu; rows of features are needed", x->rank());
        const int64_t has = x->extent(1), wanted = widths[i];
        if (wanted < 1 || wanted > kToEnd)
            fail(Status::BadRange, "inputdimensions has the number %lld", asLong(wanted));
        if (wanted < has) x = sliceAxis(c, x, 1, 0, wanted);
        if (wanted > has) x = padWith(c, x, {0, 0}, {0, wanted - has}, 0);
        parts.push_back(x);
    }
    if (parts.empty()) fail(Status::BadFormat, "it has no inputs");
    c.out(concat(c, parts, 1));
}

// Selects along the last axis by indices.
void emitFeatureExtractor(Call& c) {
    V x = c.in(0), indices = c.in(1);
    if (indices->rank() != 1) indices = reshape(c, indices, {-1});
    const int64_t axis = static_cast<int64_t>(x->rank()) - 1;
    V result = gatherAxis(c, x, indices, axis);
    c.out(x->rank() == 1 ? unsqueeze(c, result, {0}) : result);
}

void emitOneHotEncoder(Call& c) {
    if (!c.texts("cats_strings").empty()) refuse("its categories are text, for which the .mnn format has no tensor");
    const std::vector<int64_t> categories = c.integers("cats_int64s").value_or(std::vector<int64_t>());
    if (categories.empty()) fail(Status::BadFormat, "it has no cats_int64s");
    if (std::set<int64_t>(categories.begin(), categories.end()).size() != categories.size())
        refuse("a category is listed twice");
    if (c.integer("zeros", 1) == 0)
        c.importer.note("OneHotEncoder gives zeros for a category that it does not know, also where zeros is 0.");
    V x = castTo(c, c.in(0), Elem::Int64);
    x = unsqueeze(c, x, {static_cast<int64_t>(x->rank())});
    c.out(castTo(c, compare(c, Binary::EQUAL, x, c.b.ints(categories)), Elem::Float));
}

// Keys or values of a LabelEncoder: integers or floats, from whichever attribute has them.
struct KeysOrValues {
    ArrayPtr list;
    Elem elem = Elem::Int64;
};

KeysOrValues listOf(Call& c, const std::string& name) {
    const Attribute* given = c.attribute(name);
    if (given && given->tensor && (given->tensor->hasStrings || given->tensor->type == Elem::String))
        refuse("its %s are text, for which the .mnn format has no tensor", name.c_str());
    ArrayPtr list = c.tensor(name);
    if (!list || !given || !given->tensor) return {};
    if (list->saturated) fail(Status::Overflow, "%s has integers beyond 32 bits", name.c_str());
    return {list, given->tensor->type};
}

KeysOrValues numbersOf(Call& c, const std::string& name) {
    if (!c.texts(name + "_strings").empty())
        refuse("its %s are text, for which the .mnn format has no tensor", name.c_str());
    if (KeysOrValues given = listOf(c, name + "_tensor"); given.list) return given;
    if (const auto integers = c.integers(name + "_int64s"); integers && !integers->empty())
        return {intList(*integers), Elem::Int64};
    const std::vector<float> floats = c.reals(name + "_floats");
    if (floats.empty()) fail(Status::BadFormat, "it has no %s", name.c_str());
    return {floatArray({static_cast<int64_t>(floats.size())}, floats), Elem::Float};
}

V valueFor(Call& c, const KeysOrValues& numbers, double value) {
    const bool real = heldAs(numbers.elem) == DataType::DT_FLOAT;
    return real ? c.b.real(static_cast<float>(value)) : c.b.scalar(static_cast<int64_t>(value));
}

double otherwiseOf(Call& c, const KeysOrValues& values) {
    if (const KeysOrValues given = listOf(c, "default_tensor"); given.list && given.list->count() > 0) {
        if (heldAs(given.elem) != heldAs(values.elem))
            fail(Status::BadFormat, "its default_tensor has another type than its values");
        return given.list->realAt(0);
    }
    if (heldAs(values.elem) == DataType::DT_FLOAT) return static_cast<double>(c.real("default_float", -0.0f));
    return static_cast<double>(c.integer("default_int64", -1));
}

// The pairs of a LabelEncoder. The first of equal keys counts.
struct Pairings {
    std::vector<size_t> kept;       // positions of keys other than NaN
    std::optional<double> missing;  // the value for NaN
};

Pairings pairingsOf(const Array& keys, const Array& values) {
    Pairings pairings;
    std::set<double> seen;
    for (int64_t i = 0; i < keys.count(); ++i) {
        const double key = keys.realAt(i);
        if (std::isnan(key)) {
            if (!pairings.missing) pairings.missing = values.realAt(i);
        } else if (seen.insert(key).second) {
            pairings.kept.push_back(static_cast<size_t>(i));
        }
    }
    return pairings;
}

V pickedFrom(Call& c, const KeysOrValues& from, const std::vector<size_t>& places) {
    std::vector<float> floats;
    std::vector<int64_t> integers;
    for (const size_t place : places) {
        floats.push_back(static_cast<float>(from.list->realAt(static_cast<int64_t>(place))));
        integers.push_back(from.list->intAt(static_cast<int64_t>(place)));
    }
    if (heldAs(from.elem) != DataType::DT_FLOAT) return c.b.ints(integers);
    return c.b.constant(floatArray({static_cast<int64_t>(floats.size())}, floats), Elem::Float);
}

// Compares each number with all keys.
void emitLabelEncoder(Call& c) {
    const KeysOrValues keys = numbersOf(c, "keys"), values = numbersOf(c, "values");
    requireCount("values", static_cast<size_t>(values.list->count()), keys.list->count());
    const Pairings pairings = pairingsOf(*keys.list, *values.list);
    const bool real = heldAs(keys.elem) == DataType::DT_FLOAT;
    V given = castTo(c, c.in(0), real ? Elem::Float : Elem::Int64),
      result = valueFor(c, values, otherwiseOf(c, values));
    if (!pairings.kept.empty()) {
        const std::vector<int64_t> last{static_cast<int64_t>(given->rank())};
        V same = compare(c, Binary::EQUAL, unsqueeze(c, given, last), pickedFrom(c, keys, pairings.kept));
        V each = select(c, same, pickedFrom(c, values, pairings.kept), valueFor(c, values, 0));
        V any = c.b.alias(reduce(c, Reduction::MAXIMUM, c.b.alias(same, Elem::Int32), last, false), Elem::Bool);
        result = select(c, any, reduce(c, Reduction::SUM, each, last, false), result);
    }
    // Before opset 4, NaN equals no key.
    if (pairings.missing && c.opset >= 4)
        result = select(c, isNumber(c, given), result, valueFor(c, values, *pairings.missing));
    if (result->rank() != given->rank()) result = broadcastTo(c, result, shapeOf(c, given));
    c.out(castTo(c, result, values.elem));
}

// A sequence of maps from labels to probabilities has no form: the tensor of probabilities takes its place.
void emitZipMap(Call& c) {
    c.importer.note("The ZipMap '" + c.b.name() +
                    "' gives the tensor of probabilities, a column for each label, because the .mnn format has no "
                    "maps: a model that is converted with zipmap=False has the same output.");
    c.out(c.in(0));
}

}  // namespace

constexpr Entry kLearnedEntries[] = {
    {"ArrayFeatureExtractor", 1, kNewest, emitFeatureExtractor, "GatherV2", "", kLearned},
    {"Binarizer", 1, kNewest, emitBinarizer, "BinaryOp, Cast", "", kLearned},
    {"FeatureVectorizer", 1, kNewest, emitFeatureVectorizer, "Concat; with StridedSlice and Padding for other widths",
     "Rows whose width is free.", kLearned},
    {"Imputer", 1, kNewest, emitImputer, "BinaryOp, Select", "", kLearned},
    {"LabelEncoder", 2, kNewest, emitLabelEncoder, "BinaryOp, Select, Reduction", "Text.", kLearned},
    {"LinearClassifier", 1, kNewest, emitLinearClassifier, "As Gemm; ArgMax, GatherV2, and Softmax or UnaryOp",
     "Labels that are text; PROBIT.", kLearned},
    {"LinearRegressor", 1, kNewest, emitLinearRegressor, "As Gemm; Softmax or UnaryOp", "PROBIT.", kLearned},
    {"Normalizer", 1, kNewest, emitNormalizer, "Reduction, UnaryOp, BinaryOp, Select", "", kLearned},
    {"OneHotEncoder", 1, kNewest, emitOneHotEncoder, "BinaryOp, Cast",
     "Text. A category that it does not know gives zeros, also where zeros is 0.", kLearned},
    {"Scaler", 1, kNewest, emitScaler, "BinaryOp", "", kLearned},
    {"ZipMap", 1, kNewest, emitZipMap, "nothing", "The tensor of probabilities takes the place of the maps.", kLearned},
};
extern constinit const Family learnedFamily = kLearnedEntries;

}  // namespace mnnc::onnx
