// Checks convolution tables: geometry that could overflow, and the number of weights against the shape. The number of
// input channels per group may be written in two ways, so two counts can be right.
#include <algorithm>
#include <cmath>

#include "base/op_type.h"
#include "model/verify.h"
#include "model/weight_form.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 20;

bool isDepthwise(OpType type) {
    return type == OpType::ConvolutionDepthwise || type == OpType::DepthwiseConvInt8 ||
           type == OpType::DeconvolutionDepthwise;
}

bool isDeconvolution(OpType type) {
    return type == OpType::Deconvolution || type == OpType::DeconvolutionDepthwise;
}

bool hasWeights(OpType type) {
    return type == OpType::Convolution || type == OpType::ConvInt8 || isDeconvolution(type) || isDepthwise(type);
}

void requireExtent(const OpPlace& place, const char* field, int64_t value, int64_t low) {
    if (value < low || value > kMaxExtent)
        place.fail(Status::BadParameter, "%s is %lld, %lld to %lld is possible", field, asLong(value), asLong(low),
                   asLong(kMaxExtent));
}

void verifyGeometry(const OpPlace& place, const wire::Convolution2DCommon& common) {
    requireExtent(place, "kernelX", common.kernelX(), 1);
    requireExtent(place, "kernelY", common.kernelY(), 1);
    requireExtent(place, "strideX", common.strideX(), 1);
    requireExtent(place, "strideY", common.strideY(), 1);
    requireExtent(place, "dilateX", common.dilateX(), 1);
    requireExtent(place, "dilateY", common.dilateY(), 1);
    requireExtent(place, "padX", common.padX(), -kMaxExtent);
    requireExtent(place, "padY", common.padY(), -kMaxExtent);
    const int64_t reachX = (int64_t{common.kernelX()} - 1) * common.dilateX() + 1;
    const int64_t reachY = (int64_t{common.kernelY()} - 1) * common.dilateY() + 1;
    if (reachX > INT32_MAX / 2 || reachY > INT32_MAX / 2)
        place.fail(Status::Overflow, "its window of %lld x %lld is too large", asLong(reachX), asLong(reachY));
    if (common.padMode() < wire::PadMode::MIN || common.padMode() > wire::PadMode::MAX)
        place.fail(Status::BadParameter, "padMode is %d, 0 to 2 are known", static_cast<int>(common.padMode()));
    const int64_t pads = vectorSize(common.pads());
    if (pads == 1 || pads == 3)
        place.fail(Status::BadParameter, "pads has %lld entries, 2 or 4 are needed", asLong(pads));
    for (uint32_t i = 0; common.pads() && i < common.pads()->size(); ++i)
        requireExtent(place, "a pad", common.pads()->Get(i), -kMaxExtent);
    // A converter writes arbitrary values after the padding of a 3-D convolution; only two values are read.
    for (uint32_t i = 0; i < std::min<int64_t>(vectorSize(common.outPads()), 2); ++i)
        requireExtent(place, "a pad", common.outPads()->Get(i), -kMaxExtent);
    if (vectorSize(common.outPads()) == 1) place.fail(Status::BadParameter, "outPads has 1 entry, 2 are needed");
}

// Returns the number of weights in the file; -1 when there are none, or only the external file has their number.
int64_t storedWeights(const OpPlace& place, const wire::Convolution2D& conv) {
    try {
        return convWeightCount(conv, nullptr, place.opName());
    } catch (const Error& error) {
        place.refail(error);
    }
}

void verifyCounts(const OpPlace& place, OpType type, const wire::Convolution2D& conv) {
    const auto& common = *conv.common();
    const int64_t outputs = common.outputCount();
    const int64_t inputs = common.inputCount();
    const int64_t groups = common.group() == 0 ? 1 : common.group();
    if (outputs < 1) place.fail(Status::BadParameter, "outputCount is %lld, at least 1 is needed", asLong(outputs));
    if (inputs < 0 || groups < 0)
        place.fail(Status::BadParameter, "inputCount is %lld and group is %lld: a number is negative", asLong(inputs),
                   asLong(groups));
    if (!isDepthwise(type) && outputs % groups != 0)
        place.fail(Status::BadParameter, "%lld outputs do not divide into %lld groups", asLong(outputs),
                   asLong(groups));
    // verifyGeometry() limits the extents of a kernel to kMaxExtent, so this product fits; the next one is checked.
    const int64_t plane = int64_t{common.kernelX()} * common.kernelY();
    int64_t perInput = 0;
    if (__builtin_mul_overflow(plane, outputs, &perInput))
        place.fail(Status::Overflow, "the size of its weights does not fit into 64 bits");

    const int64_t count = storedWeights(place, conv);
    if (count >= 0) {
        if (count == 0 || (inputs == 0 && !isDeconvolution(type) && count % perInput != 0))
            place.fail(Status::BadWeights,
                       "%lld weights are stored, which do not fit %lld outputs of %lld kernel positions", asLong(count),
                       asLong(outputs), asLong(plane));
        int64_t total = perInput;
        if (!isDepthwise(type) && inputs > 0) {
            if (__builtin_mul_overflow(perInput, inputs, &total))
                place.fail(Status::Overflow, "the size of its weights does not fit into 64 bits");
        }
        const bool fits = isDepthwise(type)
                              ? count == perInput
                              : inputs == 0 || count == total || (inputs % groups == 0 && count == total / groups);
        if (!fits)
            place.fail(Status::BadWeights, "%lld weights are stored, its shape needs %lld", asLong(count),
                       asLong(!isDepthwise(type) && inputs % groups == 0 ? total / groups : total));
    }
    if (vectorSize(conv.bias()) > 0 && vectorSize(conv.bias()) != outputs)
        place.fail(Status::BadWeights, "it has %lld bias values, %lld are needed", asLong(vectorSize(conv.bias())),
                   asLong(outputs));
    if (const auto* quan = conv.symmetricQuan())
        for (const int64_t size : {vectorSize(quan->scale()), vectorSize(quan->bias())})
            if (size > 0 && size != outputs)
                place.fail(Status::BadWeights, "it has %lld int8 scale or bias values, %lld are needed", asLong(size),
                           asLong(outputs));
}

}  // namespace

void verifyConvolution(const OpPlace& place, const wire::Op& op, const wire::Convolution2D& conv) {
    const auto type = static_cast<OpType>(op.type());
    if (!conv.common()) place.fail(Status::BadParameter, "its table has no common part");
    verifyGeometry(place, *conv.common());
    if (conv.quanParameter() && !std::isfinite(conv.quanParameter()->quantScale()))
        place.fail(Status::BadParameter, "quantScale is not a finite number");
    if (const auto* external = conv.external(); vectorSize(external) > 1) {
        if (external->size() > 5)
            place.fail(Status::BadWeights, "external has %u entries, at most 5 are known", external->size());
        for (uint32_t i = 0; i < external->size(); ++i)
            if (external->Get(i) < 0) place.fail(Status::BadWeights, "external entry %u is negative", i);
    }
    if (!hasWeights(type)) return;
    const int64_t sizeInput = isDeconvolution(type) && conv.common()->hasOutputShape() ? 1 : 0;
    if (vectorSize(op.inputIndexes()) - sizeInput >= 2) return;  // weights are tensors
    verifyCounts(place, type, conv);
}

}  // namespace mnnc
