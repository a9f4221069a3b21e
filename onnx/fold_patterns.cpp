// See fold_patterns.h. The search for each pattern begins at its rarest operator: the square root of a normalisation,
// the error function of a GELU.
#include "fold_patterns.h"

#include <algorithm>
#include <cmath>

#include "links.h"

namespace mnnc::onnx {
namespace {

class Patterns {
  public:
    Patterns(Scope& scope, const std::vector<int>& outputs)
        : scope_(scope), links_(scope, outputs), removed_(scope.operators.size()) {}

    void run() {
        for (size_t i = 0; i < scope_.operators.size(); ++i) {
            const wire::UnaryOpT* table = op(i).main.AsUnaryOp();
            if (op(i).type != OpType::UnaryOp || !table) continue;
            if (table->opType == Unary::SQRT) foldNorm(i);
            if (table->opType == Unary::ERF) foldGelu(i);
        }
        eraseMarked(scope_, removed_);
    }

  private:
    static size_t at(int id) { return static_cast<size_t>(id); }
    wire::OpT& op(size_t i) { return scope_.operators[i].op; }
    int result(size_t i) { return op(i).outputIndexes[0]; }

    // The producer of a tensor, if it is a binary operator of this kind; else -1.
    int binaryMaker(int tensor, Binary code) {
        const int producer = links_.producer(tensor);
        return producer >= 0 && isBinary(at(producer), code) ? producer : -1;
    }
    bool isBinary(size_t i, Binary code) {
        const wire::BinaryOpT* table = op(i).main.AsBinaryOp();
        return op(i).type == OpType::BinaryOp && table && table->opType == code && op(i).inputIndexes.size() == 2;
    }
    // The only consumer of a tensor, if it is a binary operator of this kind.
    int consumer(int tensor, Binary code) {
        const int only = links_.onlyConsumer(tensor);
        return only >= 0 && isBinary(at(only), code) ? only : -1;
    }
    const Array* constant(int tensor) {
        const int producer = links_.producer(tensor);
        return producer >= 0 && scope_.operators[at(producer)].constant ? scope_.operators[at(producer)].constant.get()
                                                                        : nullptr;
    }
    // The number in an operand; NaN where it is no single number.
    float number(int tensor) {
        const Array* array = constant(tensor);
        return array && array->type == DataType::DT_FLOAT && array->count() == 1 ? static_cast<float>(array->realAt(0))
                                                                                 : NAN;
    }
    // Numbers of a high rank give a result more axes than x has.
    bool sameDims(int x, int other) const { return scope_.values[at(x)]->dims == scope_.values[at(other)]->dims; }
    // The other operand of an operator with the number `wanted`; -1: there is none. tolerance: relative to the number.
    int besideNumber(size_t i, float wanted, bool anyOrder = true, float tolerance = 0) {
        const std::vector<int32_t>& in = op(i).inputIndexes;
        const auto matches = [&](int32_t id) { return std::abs(number(id) - wanted) <= tolerance * wanted; };
        if (matches(in[1])) return in[0];
        return anyOrder && matches(in[0]) ? in[1] : -1;
    }
    // The tensor whose mean over its last axis, which is kept, the operator computes; -1: it computes another one.
    int meanOf(int tensor) {
        const int producer = links_.producer(tensor);
        if (producer < 0 || op(at(producer)).type != OpType::Reduction || op(at(producer)).inputIndexes.size() != 1)
            return -1;
        const wire::ReductionParamT* table = op(at(producer)).main.AsReductionParam();
        const int from = op(at(producer)).inputIndexes[0];
        const auto rank = static_cast<int32_t>(scope_.values[at(from)]->rank());
        const bool last = table && table->operation == wire::ReductionType::MEAN && table->keepDims &&
                          table->dim.size() == 1 && (table->dim[0] == -1 || table->dim[0] == rank - 1);
        return last ? from : -1;
    }

    // ((x - mean) / sqrt(mean((x - mean)^2) + epsilon)) * gamma + beta, or without the mean.
    void foldNorm(size_t root) {
        const int sum = binaryMaker(op(root).inputIndexes[0], Binary::ADD);
        if (sum < 0 || !links_.usedOnce(result(root))) return;
        int variance = op(at(sum)).inputIndexes[0];
        float epsilon = number(op(at(sum)).inputIndexes[1]);
        if (std::isnan(epsilon)) {
            variance = op(at(sum)).inputIndexes[1];
            epsilon = number(op(at(sum)).inputIndexes[0]);
        }
        if (!(epsilon >= 0 && epsilon < 1)) return;
        const int square = meanOf(variance);
        if (square < 0) return;
        int centred = -1;
        if (const int power = binaryMaker(square, Binary::POW); power >= 0)
            centred = besideNumber(at(power), 2, false);
        else if (const int product = binaryMaker(square, Binary::MUL);
                 product >= 0 && op(at(product)).inputIndexes[0] == op(at(product)).inputIndexes[1])
            centred = op(at(product)).inputIndexes[0];
        const int difference = centred < 0 ? -1 : binaryMaker(centred, Binary::SUB);
        if (difference < 0 || meanOf(op(at(difference)).inputIndexes[1]) != op(at(difference)).inputIndexes[0]) {
            if (centred >= 0) foldRms(root, centred, epsilon);
            return;
        }
        const int x = op(at(difference)).inputIndexes[0];
        const int divided = consumer(result(root), Binary::REALDIV);
        if (divided < 0 || op(at(divided)).inputIndexes[1] != result(root)) return;
        // Some models subtract the mean a second time.
        const int again = binaryMaker(op(at(divided)).inputIndexes[0], Binary::SUB);
        if (again < 0 || op(at(again)).inputIndexes[0] != x || meanOf(op(at(again)).inputIndexes[1]) != x) return;
        writeNorm(x, at(divided), epsilon, false);
    }

    // x / sqrt(mean(x * x) + epsilon) * gamma, or x * (1 / sqrt(...)).
    void foldRms(size_t root, int x, float epsilon) {
        if (links_.consumers(result(root)).size() != 1) return;
        const size_t next = links_.consumers(result(root))[0];
        const wire::UnaryOpT* inverse = op(next).main.AsUnaryOp();
        if (isBinary(next, Binary::REALDIV) && op(next).inputIndexes[1] == result(root) &&
            op(next).inputIndexes[0] == x)
            return writeNorm(x, next, epsilon, true);
        const bool one = isBinary(next, Binary::REALDIV) && op(next).inputIndexes[1] == result(root) &&
                         number(op(next).inputIndexes[0]) == 1;
        if (!one && !(op(next).type == OpType::UnaryOp && inverse && inverse->opType == Unary::RECIPROCAL)) return;
        const int product = consumer(result(next), Binary::MUL);
        if (product < 0) return;
        const std::vector<int32_t>& in = op(at(product)).inputIndexes;
        if ((in[0] == result(next) ? in[1] : in[0]) == x) writeNorm(x, at(product), epsilon, true);
    }

    // rms: without the mean.
    void writeNorm(int x, size_t end, float epsilon, bool rms) {
        const Value& value = *scope_.values[at(x)];
        if (!value.fixed(value.rank() - 1) || !sameDims(x, result(end))) return;
        const auto width = static_cast<size_t>(value.dims[0].back());
        // Returns a list with a number for each element of the last axis.
        const auto factors = [&](size_t i) -> const Array* {
            for (const int id : op(i).inputIndexes) {
                const Array* array = constant(id);
                if (array && array->type == DataType::DT_FLOAT && array->floatCount() == width &&
                    !array->dims.empty() && array->dims.back() == static_cast<int64_t>(width) &&
                    array->dims.size() <= value.rank())
                    return array;
            }
            return nullptr;
        };
        wire::LayerNormT table;
        table.axis = {-1};
        table.epsilon = epsilon;
        table.useRMSNorm = rms;
        std::vector<size_t> gone;
        const int scale = consumer(result(end), Binary::MUL);
        const Array* gamma = scale < 0 ? nullptr : factors(at(scale));
        if (gamma) {
            table.gamma = gamma->allFloats();
            table.beta.assign(width, 0.0f);
            gone.push_back(end);
            end = at(scale);
            const int shift = rms ? -1 : consumer(result(end), Binary::ADD);
            if (const Array* beta = shift < 0 ? nullptr : factors(at(shift))) {
                table.beta = beta->allFloats();
                gone.push_back(end);
                end = at(shift);
            }
        }
        for (const size_t i : gone) removed_[i] = true;
        op(end).type = OpType::LayerNorm;
        op(end).main.Set(std::move(table));
        op(end).inputIndexes = {x};
    }

    // 0.5 * x * (1 + erf(x / sqrt(2))), in any order.
    void foldGelu(size_t error) {
        const int inner = op(error).inputIndexes[0];
        const float root = std::sqrt(2.0f);
        constexpr float kOfHalves = 1.25e-4f;  // the nearest half and bfloat16, 1.4140625, is 1.1e-4 of it below
        int x = -1;
        if (const int divided = binaryMaker(inner, Binary::REALDIV); divided >= 0)
            x = besideNumber(at(divided), root, false, kOfHalves);
        else if (const int scaled = binaryMaker(inner, Binary::MUL); scaled >= 0)
            x = besideNumber(at(scaled), 1 / root, true, kOfHalves);
        const int one = x < 0 ? -1 : consumer(result(error), Binary::ADD);
        if (one < 0 || besideNumber(at(one), 1) != result(error)) return;
        // Two products, one of them with a half: with x, with the sum, or with the product of both.
        const int first = consumer(result(at(one)), Binary::MUL);
        if (first < 0) return;
        const int second = consumer(result(at(first)), Binary::MUL);
        const auto other = [&](size_t i, int operand) {
            const std::vector<int32_t>& in = op(i).inputIndexes;
            return in[0] == operand ? in[1] : in[0];
        };
        const int beside = other(at(first), result(at(one)));
        size_t end = at(first);
        const bool halfOfProduct = beside == x && second >= 0 && besideNumber(at(second), 0.5f) == result(at(first));
        const bool halfOfSum = besideNumber(at(first), 0.5f) == result(at(one)) && second >= 0 &&
                               other(at(second), result(at(first))) == x;
        if (halfOfProduct || halfOfSum) {
            end = at(second);
        } else {
            const int half = binaryMaker(beside, Binary::MUL);
            if (half < 0 || besideNumber(at(half), 0.5f) != x) return;
        }
        if (!sameDims(x, result(end))) return;
        wire::UnaryOpT table;
        table.opType = Unary::GELU_STANDARD;
        table.T = DataType::DT_FLOAT;
        if (end != at(first)) removed_[at(first)] = true;
        op(end).type = OpType::UnaryOp;
        op(end).main.Set(std::move(table));
        op(end).inputIndexes = {x};
    }

    Scope& scope_;
    const Links links_;
    std::vector<bool> removed_;
};

}  // namespace

void foldPatterns(Builder& builder, const std::vector<V>& outputs) {
    forEachScope(builder, outputs, [](Scope& scope, const std::vector<int>& ids) { Patterns(scope, ids).run(); });
}

}  // namespace mnnc::onnx
