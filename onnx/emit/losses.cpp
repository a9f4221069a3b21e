// Losses.
#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {
namespace {

// logs: [N, C, ...], target: [N, ...], weight: [C] or null.
V likelihoodLoss(Call& c, V logs, V target, V weight) {
    const std::string reduction = c.text("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean")
        fail(Status::BadFormat, "the reduction '%s' is unknown", reduction.c_str());
    V ignored = nullptr;
    if (c.has("ignore_index")) {
        ignored = compare(c, Binary::EQUAL, target, c.b.scalar(c.integer("ignore_index", 0)));
        target = select(c, ignored, c.b.scalar(0), target);
    }
    V places = unsqueeze(c, target, {1});
    V taken = c.b.op(OpType::GatherElements, {}, {logs, places, c.b.scalar(1)});
    V loss = unary(c, Unary::NEG, squeeze(c, taken, {1}));
    V counts = weight ? gatherAxis(c, weight, target, 0) : nullptr;
    if (ignored) {
        loss = select(c, ignored, c.b.real(0), loss);  // it may be infinite
        counts = select(c, ignored, c.b.real(0), counts ? counts : c.b.real(1));
    }
    if (counts) loss = mul(c, loss, counts);
    const std::vector<int64_t> all = allAxes(loss->rank());
    if (reduction == "none") return loss;
    if (reduction == "sum") return reduce(c, Reduction::SUM, loss, all, false);
    if (!counts) return reduce(c, Reduction::MEAN, loss, all, false);
    return div(c, reduce(c, Reduction::SUM, loss, all, false), reduce(c, Reduction::SUM, counts, all, false));
}

void emitLikelihood(Call& c) {
    c.out(likelihoodLoss(c, c.in(0), c.in(1), c.maybe(2)));
}

void emitCrossEntropy(Call& c) {
    V logs = logSoftmax(c, c.in(0), 1);
    c.out(0, likelihoodLoss(c, logs, c.in(1), c.maybe(2)));
    c.out(1, logs);
}

}  // namespace

constexpr Entry kLossesEntries[] = {
    {"NegativeLogLikelihoodLoss", 12, kNewest, emitLikelihood, "GatherElements, Select, BinaryOp, Reduction"},
    {"SoftmaxCrossEntropyLoss", 12, kNewest, emitCrossEntropy, "Reduction, UnaryOp, BinaryOp, GatherElements, Select"},
};
extern constinit const Family lossFamily = kLossesEntries;

}  // namespace mnnc::onnx
