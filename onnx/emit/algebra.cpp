// Einsum and transforms that are products with tables.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// ---- Einsum ----

struct Term {
    V value = nullptr;
    std::string labels;  // one for each axis; axes of an ellipsis have control characters
};

// Replaces an ellipsis by labels for the axes without a label, counted from the last one.
std::string expand(const std::string& labels, size_t rank, size_t dots) {
    std::string result;
    for (size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] == '.') {
            const size_t named = labels.size() - 3, count = rank - std::min(rank, named);
            for (size_t k = 0; k < count; ++k) result += static_cast<char>(1 + dots - count + k);
            i += 2;
        } else {
            result += labels[i];
        }
    }
    return result;
}

// Keeps only elements with equal indices for a label that a term has twice.
Term diagonal(Call& c, Term term) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
        const size_t again = term.labels.find(term.labels[i], i + 1);
        if (again == std::string::npos) continue;
        const Value& x = *term.value;
        if (x.fixed(i) && x.fixed(again) && x.dims[0][i] != x.dims[0][again])
            fail(Status::ComputeSizeError, "one label names axes of %lld and %lld elements", asLong(x.dims[0][i]),
                 asLong(x.dims[0][again]));
        // Elements off the diagonal are zeroed, so that a sum over one of the two axes leaves the diagonal.
        V rows = rangeTo(c, extentOf(c, term.value, static_cast<int64_t>(i)));
        V columns = rangeTo(c, extentOf(c, term.value, static_cast<int64_t>(again)));
        rows = unsqueeze(c, rows, allAxes(term.labels.size() - i, 1));
        columns = unsqueeze(c, columns, allAxes(term.labels.size() - again, 1));
        V same = compare(c, Binary::EQUAL, rows, columns);
        term.value = select(c, same, term.value, c.b.number(0, *term.value));
        term.value = reduce(c, Reduction::SUM, term.value, {static_cast<int64_t>(again)}, false);
        term.labels.erase(again, 1);
        return diagonal(c, term);
    }
    return term;
}

bool has(const std::string& labels, char label) {
    return labels.find(label) != std::string::npos;
}

// Arranges the axes in the order of `labels`; missing ones get an extent of 1.
V arranged(Call& c, const Term& term, const std::string& labels) {
    std::vector<int64_t> order, missing;
    for (size_t i = 0; i < labels.size(); ++i) {
        const size_t at = term.labels.find(labels[i]);
        if (at == std::string::npos)
            missing.push_back(static_cast<int64_t>(i));
        else
            order.push_back(static_cast<int64_t>(at));
    }
    return unsqueeze(c, permute(c, term.value, order), missing);
}

// Sums over labels that neither another term nor the result has.
Term summed(Call& c, Term term, const std::string& kept) {
    std::vector<int64_t> axes;
    std::string labels;
    for (size_t i = 0; i < term.labels.size(); ++i)
        if (has(kept, term.labels[i]))
            labels += term.labels[i];
        else
            axes.push_back(static_cast<int64_t>(i));
    term.value = reduce(c, Reduction::SUM, term.value, axes, false);
    term.labels = labels;
    return term;
}

// Combines two terms by a product of matrices: common labels that the result keeps are batches, others are summed.
Term multiply(Call& c, const Term& a, const Term& b, const std::string& kept) {
    std::string batch, inner, left, right;
    for (const char label : a.labels) (has(b.labels, label) ? has(kept, label) ? batch : inner : left) += label;
    for (const char label : b.labels)
        if (!has(a.labels, label)) right += label;
    Term result;
    result.labels = batch + left + right;
    if (inner.empty()) {
        result.value = mul(c, arranged(c, a, result.labels), arranged(c, b, result.labels));
        return result;
    }
    V x = arranged(c, a, batch + left + inner), y = arranged(c, b, batch + inner + right);
    const auto n = static_cast<int64_t>(batch.size()), l = static_cast<int64_t>(left.size()),
               k = static_cast<int64_t>(inner.size()), r = static_cast<int64_t>(right.size());
    V leftShape = shapeOf(c, x, n, n + l), rightShape = shapeOf(c, y, n + k, n + k + r);
    // Each side keeps its own extents, because batches may be broadcast.
    const auto joined = [&](V value, int64_t first, int64_t second) {
        std::vector<V> parts;
        if (n > 0) parts.push_back(shapeOf(c, value, 0, n));
        const auto product = [&](int64_t from, int64_t count) {
            if (count == 0) return c.b.ints({1});
            V list = shapeOf(c, value, from, from + count);
            return count == 1 ? list : reduce(c, Reduction::PROD, list, {0}, true);
        };
        parts.push_back(product(n, first));
        parts.push_back(product(n + first, second));
        return reshapeTo(c, value, concat(c, parts, 0));
    };
    const auto real = [&](V value) { return castTo(c, value, Elem::Float); };
    V product = castTo(c, matmul(c, real(joined(x, l, k)), real(joined(y, k, r))), x->elem);
    std::vector<V> shape;
    if (n > 0) shape.push_back(shapeOf(c, product, 0, n));
    if (l > 0) shape.push_back(leftShape);
    if (r > 0) shape.push_back(rightShape);
    result.value = shape.empty() ? reshape(c, product, {}) : reshapeTo(c, product, concat(c, shape, 0));
    return result;
}

void emitEinsum(Call& c) {
    std::string equation = c.text("equation", "");
    equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
    const size_t arrow = equation.find("->");
    std::string inputs = equation.substr(0, arrow);
    std::vector<std::string> lists{""};
    for (const char letter : inputs)
        if (letter == ',')
            lists.emplace_back();
        else
            lists.back() += letter;
    if (lists.size() != c.inputs.size())
        fail(Status::BadFormat, "the equation '%s' does not have a term for each of the %zu inputs", equation.c_str(),
             c.inputs.size());
    size_t dots = 0;
    for (size_t i = 0; i < lists.size(); ++i)
        if (has(lists[i], '.'))
            dots = std::max(dots, c.in(i)->rank() + 3 - std::min(c.in(i)->rank() + 3, lists[i].size()));
    std::vector<Term> terms;
    const Elem elem = c.in(0)->elem, held = heldAs(elem) == DataType::DT_INT32 ? elem : Elem::Float;
    for (size_t i = 0; i < lists.size(); ++i) {
        Term term{castTo(c, c.in(i), held), expand(lists[i], c.in(i)->rank(), dots)};
        if (term.labels.size() != term.value->rank())
            fail(Status::BadFormat, "the term '%s' does not fit an input of rank %zu", lists[i].c_str(),
                 term.value->rank());
        terms.push_back(diagonal(c, term));
    }
    std::string out;
    if (arrow != std::string::npos) {
        out = expand(equation.substr(arrow + 2),
                     dots + equation.size() - arrow - 2 - (has(equation.substr(arrow), '.') ? 3 : 0), dots);
    } else {
        // All labels that occur once, in the order of their codes; those of an ellipsis come first.
        std::map<char, int> counts;
        for (const std::string& list : lists)
            for (const char letter : list)
                if (letter != '.') ++counts[letter];
        for (size_t k = 0; k < dots; ++k) out += static_cast<char>(1 + k);
        for (const auto& [letter, count] : counts)
            if (count == 1) out += letter;
    }
    Term result = terms[0];
    for (size_t i = 0; i < terms.size(); ++i) {
        std::string kept = out;
        for (size_t k = i + 1; k < terms.size(); ++k) kept += terms[k].labels;
        if (i == 0) {
            result = summed(c, terms[0], kept);
            continue;
        }
        Term next = summed(c, terms[i], kept + result.labels);
        result = summed(c, multiply(c, result, next, kept), kept);
    }
    std::vector<int64_t> order;
    for (const char label : out) {
        const size_t at = result.labels.find(label);
        if (at == std::string::npos)
            fail(Status::BadFormat, "the equation '%s' has a label only in its result", equation.c_str());
        order.push_back(static_cast<int64_t>(at));
    }
    c.out(castTo(c, permute(c, result.value, order), elem));
}

// ---- The discrete Fourier transform ----

void requireParts(int64_t parts) {
    if (parts != 1 && parts != 2)
        fail(Status::BadFormat, "the last axis has %lld elements; 1 (real numbers) or 2 (complex ones) are needed",
             asLong(parts));
}

// Uses tables that the net computes: for an axis that is an input, for free extents, and for the inverse of a one-sided
// transform.
void computedDft(Call& c) {
    V x = c.in(0), length = c.maybe(1);
    const size_t rank = x->rank();
    const auto last = static_cast<int64_t>(rank) - 1;
    const bool inverse = c.integer("inverse", 0) != 0, oneSided = c.integer("onesided", 0) != 0;
    const int64_t parts = x->extent(rank - 1);
    requireParts(parts);
    V axis = c.opset < 20 ? c.b.scalar(c.integer("axis", 1)) : c.maybe(2) ? scalarOf(c, c.in(2)) : c.b.scalar(-2);
    // The parts have one axis less.
    axis = select(c, compare(c, Binary::LESS, axis, c.b.scalar(0)),
                  add(c, axis, c.b.scalar(static_cast<int64_t>(rank))), axis);
    const auto part = [&](int64_t k) { return exchangeWithLast(c, elementOf(c, x, last, k), axis); };
    V real = part(0), imaginary = parts == 2 ? part(1) : nullptr;
    V given = extentOf(c, real, last - 1);  // length of the signal, or of the half of its transform
    V one = c.b.scalar(1), two = c.b.scalar(2);
    V n = length ? scalarOf(c, length) : given;
    if (inverse && oneSided && !length) n = mul(c, sub(c, given, one), two);
    V half = add(c, div(c, n, two), one);
    // A shorter transform uses the first numbers, a longer one all of them: appended zeros would add nothing.
    V wanted = inverse && oneSided ? half : n;
    V used = length ? binary(c, Binary::MINIMUM, wanted, given) : given;
    if (length) {
        V end = unsqueeze(c, used, {0});
        const auto cut = [&](V value) {
            c.b.openRank(value->rank());
            return stridedSlice(c, {value, c.b.ints({0}), end, c.b.ints({last - 1}), c.b.ints({1})});
        };
        real = cut(real);
        if (imaginary) imaginary = cut(imaginary);
    }
    V bins = oneSided && !inverse ? half : n;
    V rows = unsqueeze(c, rangeTo(c, used), {1}), columns = rangeTo(c, bins);
    V turns = binary(c, Binary::MOD, mul(c, rows, columns), n);
    V count = castTo(c, n, Elem::Float);
    V angle = binary(c, Binary::REALDIV, mul(c, castTo(c, turns, Elem::Float), c.b.real(6.283185307179586f)), count);
    V cosines = unary(c, Unary::COS, angle), sines = unary(c, Unary::SIN, angle);
    if (!inverse) sines = unary(c, Unary::NEG, sines);
    V resultReal = matmul(c, real, cosines), resultImaginary = nullptr;
    const auto back = [&](V value) { return unsqueeze(c, exchangeWithLast(c, value, axis), {last}); };
    if (inverse && oneSided) {
        // The other half mirrors this one, so its numbers count twice, except for the first and the middle one.
        V at = rangeTo(c, used);
        V first = compare(c, Binary::EQUAL, at, c.b.scalar(0));
        V middle = compare(c, Binary::EQUAL, mul(c, at, two), n);
        V once = c.b.alias(binary(c, Binary::LOGICALOR, first, middle), Elem::Bool);
        V weight = unsqueeze(c, select(c, once, c.b.real(1), c.b.real(2)), {1});
        V sum = matmul(c, real, mul(c, cosines, weight));
        if (imaginary) sum = sub(c, sum, matmul(c, imaginary, mul(c, sines, weight)));
        c.out(back(div(c, sum, count)));
        return;
    }
    resultImaginary = matmul(c, real, sines);
    if (imaginary) {
        resultReal = sub(c, resultReal, matmul(c, imaginary, sines));
        resultImaginary = add(c, resultImaginary, matmul(c, imaginary, cosines));
    }
    if (inverse) {
        resultReal = div(c, resultReal, count);
        resultImaginary = div(c, resultImaginary, count);
    }
    c.out(concat(c, {back(resultReal), back(resultImaginary)}, last));
}

void emitDft(Call& c) {
    V x = c.in(0), length = c.maybe(1);
    const size_t rank = x->rank();
    const bool fed = (c.opset >= 20 && c.maybe(2) && !c.in(2)->constant) || (length && !length->constant);
    if (fed || !x->allFixed() || (c.integer("inverse", 0) != 0 && c.integer("onesided", 0) != 0)) {
        computedDft(c);
        return;
    }
    int64_t axis = c.opset < 20 ? c.integer("axis", 1) : c.maybe(2) ? c.list(2).at(0) : -2;
    axis = axisOf(axis, rank);
    if (axis + 1 == static_cast<int64_t>(rank)) fail(Status::BadRange, "its axis is that of the parts of each number");
    const bool inverse = c.integer("inverse", 0) != 0, oneSided = c.integer("onesided", 0) != 0;
    const int64_t parts = x->extent(rank - 1);
    requireParts(parts);
    const int64_t extent = x->extent(static_cast<size_t>(axis));
    const int64_t n = length ? c.constant(1).intAt(0) : extent;
    if (n < 1) fail(Status::BadRange, "the length is %lld; it must be 1 or more", asLong(n));
    const int64_t bins = oneSided ? n / 2 + 1 : n, used = std::min(n, extent);
    if (used * bins > int64_t{1} << 24) refuse("the length %lld needs a table of more than 2^24 numbers", asLong(n));
    if (used < extent) x = sliceAxis(c, x, axis, 0, used);
    c.b.requireRoom({2, used, bins});
    std::vector<float> cosines, sines;  // [used, bins]
    for (int64_t i = 0; i < used; ++i)
        for (int64_t k = 0; k < bins; ++k) {
            const double angle = 2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n);
            const double factor = inverse ? 1 / static_cast<double>(n) : 1;
            cosines.push_back(static_cast<float>(factor * std::cos(angle)));
            sines.push_back(static_cast<float>((inverse ? factor : -factor) * std::sin(angle)));
        }
    V cosTable = c.b.constant(floatArray({used, bins}, std::move(cosines)), Elem::Float);
    V sinTable = c.b.constant(floatArray({used, bins}, std::move(sines)), Elem::Float);
    // Moves the axis to the end of each part.
    const auto last = static_cast<int64_t>(rank) - 1;
    std::vector<int64_t> order = allAxes(rank - 1);
    std::swap(order[static_cast<size_t>(axis)], order.back());
    const auto part = [&](int64_t k) { return permute(c, elementOf(c, x, last, k), order); };
    V real = part(0), imaginary = parts == 2 ? part(1) : nullptr;
    V resultReal = matmul(c, real, cosTable), resultImaginary = matmul(c, real, sinTable);
    if (imaginary) {
        resultReal = sub(c, resultReal, matmul(c, imaginary, sinTable));
        resultImaginary = add(c, resultImaginary, matmul(c, imaginary, cosTable));
    }
    const auto back = [&](V value) { return unsqueeze(c, permute(c, value, order), {last}); };
    c.out(concat(c, {back(resultReal), back(resultImaginary)}, last));
}

void emitStft(Call& c) {
    V signal = c.in(0), step = c.in(1), window = c.maybe(2);
    if (step->rank() > 0) step = reshape(c, step, {});
    if (!window) {
        V length = scalarOf(c, c.in(3));
        V extents = unsqueeze(c, length, {0});
        if (!length->content[0]) c.b.open(c.b.openList(length), true);
        window = c.b.op(OpType::Fill, {}, {extents, c.b.real(1)});
    }
    wire::StftParamT table;
    table.abs = c.integer("onesided", 1) != 0;
    if (window->fixed(0)) table.n_fft = static_cast<int32_t>(window->extent(0));
    c.b.openRank(4);
    c.out(c.b.op(OpType::Stft, table, {signal, step, window}));
}

}  // namespace

constexpr Entry kAlgebraEntries[] = {
    {"DFT", 17, kNewest, emitDft, "MatMul, BinaryOp, Concat; with Range and UnaryOp where an axis or a length is fed",
     "Tables of more than 2^24 numbers."},
    {"Einsum", 12, kNewest, emitEinsum, "MatMul, Permute, Reshape, Reduction, BinaryOp",
     "Integers are multiplied as floats where products are summed: exact below 2^24."},
    {"STFT", 17, kNewest, emitStft, "Stft", ""},
};
extern constinit const Family algebraFamily = kAlgebraEntries;

}  // namespace mnnc::onnx
