// Support vector machines.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "learned.h"
#include "linear.h"
#include "loops.h"

namespace mnnc::onnx {
namespace {

struct Kernel {
    std::string type;
    float gamma = 0, offset = 0, degree = 0;
};

Kernel kernelOf(Call& c) {
    Kernel kernel{c.text("kernel_type", "LINEAR")};
    const std::vector<float> numbers = c.reals("kernel_params");
    if (kernel.type != "LINEAR" || !numbers.empty()) {
        requireCount("kernel_params", numbers.size(), 3);
        kernel.gamma = numbers[0];
        kernel.offset = numbers[1];
        kernel.degree = numbers[2];
    }
    return kernel;
}

// Integer degrees become products, because not every device computes powers of negative numbers.
V raised(Call& c, V x, float degree) {
    if (degree < 1 || degree > 16 || degree != std::floor(degree)) return binary(c, Binary::POW, x, c.b.real(degree));
    V result = x;
    for (int i = 1; i < static_cast<int>(degree); ++i) result = mul(c, result, x);
    return result;
}

// exp(-gamma * |x - v|^2) from |x|^2 - 2 x v + |v|^2. The mean of the vectors becomes the origin, so that these are not
// large numbers with a small difference.
V gaussian(Call& c, V x, const std::vector<float>& vectors, int64_t count, float gamma) {
    const size_t width = vectors.size() / static_cast<size_t>(count);
    std::vector<double> means(width, 0);
    for (size_t i = 0; i < vectors.size(); ++i)
        means[i % width] += static_cast<double>(vectors[i]) / static_cast<double>(count);
    std::vector<float> origin(means.begin(), means.end()), rows, squares;
    double square = 0;
    for (size_t i = 0; i < vectors.size(); ++i) {
        const float centred = vectors[i] - origin[i % width];
        rows.push_back(-2 * centred);
        square += static_cast<double>(centred) * static_cast<double>(centred);
        if (i % width + 1 < width) continue;
        squares.push_back(static_cast<float>(square));
        square = 0;
    }
    V at = sub(c, x, c.b.constant(floatArray({static_cast<int64_t>(width)}, origin), Elem::Float));
    V own = reduce(c, Reduction::SUM, unary(c, Unary::SQUARE, at), {1}, true);
    V distance = add(c, affine(c, at, rows, count, squares), own);
    distance = binary(c, Binary::MAXIMUM, distance, c.b.real(0));
    return unary(c, Unary::EXP, mul(c, distance, c.b.real(-gamma)));
}

// The kernel of x and each of the vectors: [rows, vectors].
V kernelValues(Call& c, V x, const std::vector<float>& vectors, int64_t count) {
    const Kernel kernel = kernelOf(c);
    const auto numbers = static_cast<int64_t>(vectors.size());
    if (count < 1 || numbers == 0 || numbers % count != 0)
        fail(Status::BadFormat, "%lld support vectors cannot have %lld numbers together", asLong(count),
             asLong(numbers));
    if (x->fixed(1))
        requireCount("support_vectors", vectors.size(), checkedMul(count, x->extent(1), "support_vectors"));
    if (kernel.type == "RBF") return gaussian(c, x, vectors, count, kernel.gamma);
    V products = affine(c, x, vectors, count, {});
    if (kernel.type == "LINEAR") return products;
    V scaled = add(c, mul(c, products, c.b.real(kernel.gamma)), c.b.real(kernel.offset));
    if (kernel.type == "POLY") return raised(c, scaled, kernel.degree);
    if (kernel.type == "SIGMOID") return unary(c, Unary::TANH, scaled);
    refuse("the kernel '%s' is not implemented", kernel.type.substr(0, 40).c_str());
}

void emitVectorRegressor(Call& c) {
    const std::vector<float> coefficients = c.reals("coefficients"), rho = c.reals("rho");
    transformOf(c);  // one that changes nothing, because there is one column
    requireCount("rho", rho.size(), 1);
    const int64_t count = c.integer("n_supports", 0);
    V x = rowsOf(c);
    if (count != 0) {
        x = kernelValues(c, x, c.reals("support_vectors"), count);
        requireCount("coefficients", coefficients.size(), count);
    }
    V y = affine(c, x, coefficients, 1, rho);
    if (c.integer("one_class", 0) != 0)
        y = select(c, compare(c, Binary::GREATER, y, c.b.real(0)), c.b.real(1), c.b.real(-1));
    c.out(y);
}

// The classes of a machine with a decision for each pair of them.
struct Pairs {
    int64_t classes = 0;
    std::vector<std::pair<int64_t, int64_t>> list;

    explicit Pairs(int64_t count) : classes(count) {
        for (int64_t i = 0; i < count; ++i)
            for (int64_t j = i + 1; j < count; ++j) list.emplace_back(i, j);
    }
    int64_t count() const { return static_cast<int64_t>(list.size()); }
};

// The decisions of all pairs, positive for the first class: [rows, pairs].
V decisionsOf(Call& c, V x, const Pairs& pairs) {
    const std::vector<int64_t> sizes = c.integers("vectors_per_class").value_or(std::vector<int64_t>());
    const std::vector<float> coefficients = c.reals("coefficients"), rho = c.reals("rho");
    requireCount("vectors_per_class", sizes.size(), pairs.classes);
    std::vector<int64_t> starts{0};
    for (const int64_t size : sizes) {
        if (size < 0 || size > kToEnd) fail(Status::BadRange, "a class has %lld vectors", asLong(size));
        starts.push_back(starts.back() + size);
    }
    const int64_t count = starts.back();
    requireCount("coefficients", coefficients.size(), checkedMul(pairs.classes - 1, count, "coefficients"));
    V kernel = kernelValues(c, x, c.reals("support_vectors"), count);
    c.b.requireRoom({pairs.count(), count});
    std::vector<float> weights(static_cast<size_t>(checkedMul(pairs.count(), count, "decisions")), 0.0f);
    for (int64_t p = 0; p < pairs.count(); ++p) {
        const auto [i, j] = pairs.list[static_cast<size_t>(p)];
        const auto copy = [&](int64_t of, int64_t row) {
            for (int64_t s = starts[static_cast<size_t>(of)]; s < starts[static_cast<size_t>(of) + 1]; ++s)
                weights[static_cast<size_t>(p * count + s)] = coefficients[static_cast<size_t>(row * count + s)];
        };
        copy(i, j - 1);
        copy(j, i);
    }
    return affine(c, kernel, weights, pairs.count(), rho);
}

// The class with most decisions for it; the first one of equals.
V labelOfMostVotes(Call& c, V decisions, const Pairs& pairs, const std::vector<int64_t>& labels) {
    if (pairs.classes == 2) return labelOfTwo(c, labels, compare(c, Binary::LESS_EQUAL, decisions, c.b.real(0)));
    c.b.requireRoom({pairs.classes, pairs.count()});
    std::vector<float> weights(static_cast<size_t>(pairs.classes * pairs.count()), 0.0f),
        seconds(static_cast<size_t>(pairs.classes), 0.0f);
    for (int64_t p = 0; p < pairs.count(); ++p) {
        const auto [i, j] = pairs.list[static_cast<size_t>(p)];
        weights[static_cast<size_t>(i * pairs.count() + p)] = 1;
        weights[static_cast<size_t>(j * pairs.count() + p)] = -1;
        seconds[static_cast<size_t>(j)] += 1;
    }
    V votes = castTo(c, compare(c, Binary::GREATER, decisions, c.b.real(0)), Elem::Float);
    V counts =
        matmul(c, votes, c.b.constant(floatArray({pairs.classes, pairs.count()}, weights), Elem::Float), false, true);
    counts = add(c, counts, c.b.constant(floatArray({pairs.classes}, seconds), Elem::Float));
    return labelOfBest(c, labels, counts);
}

// The matrix whose product with the probabilities of the classes is 0 where these fit the probabilities of all pairs
// (Wu, Lin and Weng: Probability Estimates for Multi-class Classification by Pairwise Coupling, 2004).
V couplings(Call& c, V likely, const Pairs& pairs) {
    const int64_t k = pairs.classes;
    // both: the probabilities of the first class of each pair, those of the second one, and a 0 for the diagonal.
    V both = concat(c, {likely, sub(c, c.b.real(1), likely)}, 1);
    both = padWith(c, both, {0, 0}, {0, 1}, 0);
    std::vector<int64_t> order(static_cast<size_t>(k * k), 2 * pairs.count());
    std::vector<float> unit(static_cast<size_t>(k * k), 0.0f);
    for (int64_t i = 0; i < k; ++i) unit[static_cast<size_t>(i * k + i)] = 1;
    for (int64_t p = 0; p < pairs.count(); ++p) {
        const auto [i, j] = pairs.list[static_cast<size_t>(p)];
        order[static_cast<size_t>(i * k + j)] = p;
        order[static_cast<size_t>(j * k + i)] = pairs.count() + p;
    }
    V r = reshape(c, gatherAxis(c, both, c.b.ints(order), 1), {-1, k, k});
    V diagonal = reduce(c, Reduction::SUM, unary(c, Unary::SQUARE, r), {1}, true);
    diagonal = mul(c, diagonal, c.b.constant(floatArray({k, k}, unit), Elem::Float));
    return sub(c, diagonal, mul(c, r, permute(c, r, {0, 2, 1})));
}

V rowSum(Call& c, V x) {
    return reduce(c, Reduction::SUM, x, {1}, true);
}

// Improves the probability of one class after the other, as the second algorithm of that paper does. A row is finished
// when its largest error is small, and stays unchanged while others go on.
V coupled(Call& c, V likely, const Pairs& pairs) {
    constexpr int64_t kMaxClasses = 64;
    const int64_t k = pairs.classes;
    if (k > kMaxClasses)
        refuse("it gives probabilities of %lld classes; %lld is the maximum", asLong(k), asLong(kMaxClasses));
    V q = couplings(c, likely, pairs);
    const auto whole = [&](float value) {
        V zero = mul(c, elementOf(c, q, 1, 0), c.b.real(0));
        return add(c, zero, c.b.real(value));
    };
    const auto round = [&](V, V, const std::vector<V>& carried) {
        V p = carried[0];
        V products = reduce(c, Reduction::SUM, mul(c, q, unsqueeze(c, p, {1})), {2}, false);
        V all = rowSum(c, mul(c, p, products));
        V error = reduce(c, Reduction::MAXIMUM, unary(c, Unary::ABS, sub(c, products, all)), {1}, true);
        V goesOn = compare(c, Binary::GREATER_EQUAL, error, c.b.real(0.005f / static_cast<float>(k)));
        V improved = p;
        for (int64_t t = 0; t < k; ++t) {
            std::vector<float> unit(static_cast<size_t>(k), 0.0f);
            unit[static_cast<size_t>(t)] = 1;
            V row = elementOf(c, q, 1, t);
            V own = sliceAxis(c, row, 1, t, t + 1), product = sliceAxis(c, products, 1, t, t + 1);
            V change = div(c, sub(c, all, product), own), scale = add(c, change, c.b.real(1));
            V step = mul(c, change, c.b.constant(floatArray({k}, unit), Elem::Float));
            V more = mul(c, change, add(c, mul(c, change, own), mul(c, product, c.b.real(2))));
            improved = div(c, add(c, improved, step), scale);
            all = div(c, add(c, all, more), mul(c, scale, scale));
            products = div(c, add(c, products, mul(c, change, row)), scale);
        }
        Round made;
        made.carried = {select(c, goesOn, improved, p)};
        V any = reduce(c, Reduction::MAXIMUM, c.b.alias(goesOn, Elem::Int32), {0, 1}, false);
        made.condition = c.b.alias(any, Elem::Bool);
        return made;
    };
    V always = c.b.constant(intScalar(1), Elem::Bool);
    return writeLoop(c, c.b.scalar(100), always, {whole(1.0f / static_cast<float>(k))}, round).finals[0];
}

// The probabilities of the classes, from the decisions of all pairs.
V probabilitiesOf(Call& c, V decisions, const Pairs& pairs, const std::vector<float>& a) {
    std::vector<float> b = c.reals("prob_b"), factors;
    requireCount("prob_a", a.size(), pairs.count());
    requireCount("prob_b", b.size(), pairs.count());
    for (const float factor : a) factors.push_back(-factor);
    for (float& offset : b) offset = -offset;
    const auto list = [&](const std::vector<float>& numbers) {
        return c.b.constant(floatArray({pairs.count()}, numbers), Elem::Float);
    };
    V likely = unary(c, Unary::SIGMOID, add(c, mul(c, decisions, list(factors)), list(b)));
    likely = clip(c, likely, 1e-7f, 1 - 1e-7f);
    return coupled(c, likely, pairs);
}

void emitVectorClassifier(Call& c) {
    const std::vector<int64_t> labels = labelsOf(c, "classlabels_ints", "classlabels_strings");
    const Transform transform = transformOf(c);
    const auto classes = static_cast<int64_t>(labels.size());
    V x = rowsOf(c);
    if (c.integers("vectors_per_class").value_or(std::vector<int64_t>()).empty()) {
        if (classes == 2) refuse("it has two classes and coefficients in place of vectors, which is not implemented");
        const std::vector<float> rho = c.reals("rho");
        if (rho.empty()) fail(Status::BadFormat, "it has no rho");
        V scores = affine(c, x, c.reals("coefficients"), classes, std::vector<float>(labels.size(), rho[0]));
        c.out(0, labelOfBest(c, labels, scores));
        c.out(1, transformed(c, scores, transform));
        return;
    }
    c.b.requireRoom({classes, classes});
    requireCount("rho", c.reals("rho").size(), classes * (classes - 1) / 2);
    const Pairs pairs(classes);
    V scores = decisionsOf(c, x, pairs);
    c.out(0, labelOfMostVotes(c, scores, pairs, labels));
    const std::vector<float> a = c.reals("prob_a");
    if (!a.empty())
        c.out(1, transformed(c, probabilitiesOf(c, scores, pairs, a), transform));
    else if (classes == 2)
        c.out(1, scoresOfBoth(c, scores, transform, transform == Transform::none ? Other::negative : Other::rest));
    else
        c.out(1, transformed(c, scores, transform));
}

}  // namespace

constexpr Entry kLearnedVectorsEntries[] = {
    {"SVMClassifier", 1, kNewest, emitVectorClassifier,
     "As Gemm; UnaryOp, BinaryOp, Reduction, ArgMax; with While for probabilities",
     "Labels that are text; PROBIT; two classes without vectors.", kLearned},
    {"SVMRegressor", 1, kNewest, emitVectorRegressor, "As Gemm; UnaryOp, BinaryOp, Reduction", "PROBIT.", kLearned},
};
extern constinit const Family learnedVectorsFamily = kLearnedVectorsEntries;

}  // namespace mnnc::onnx
