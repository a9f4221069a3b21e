// DetectionPostProcess (TFLite), PriorBox (SSD, Liu et al., arXiv 1512.02325) and Proposal (Faster R-CNN, Ren et al.,
// arXiv 1506.01497): parameters and shape rules.
#include "ops/detection.h"

#include <cmath>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

constexpr int kMaxCount = 1 << 30;

void requireFloatBoxes(const ShapeContext& context) {
    for (int i = 0; i < context.inputCount(); ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::BadType, "op '%s': input %d must be float32, it is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
}

float finite(float value, const char* what, const char* name) {
    if (!std::isfinite(value))
        fail(Status::BadParameter, "op '%s': %s is %g, which is not finite", name, what, static_cast<double>(value));
    return value;
}

int64_t countOf(int value, const char* what, const char* name) {
    if (value < 0 || value > kMaxCount)
        fail(Status::BadParameter, "op '%s': %s is %d, allowed are 0 to %d", name, what, value, kMaxCount);
    return value;
}

ParamsPtr parsePostProcess(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_DetectionPostProcessParam();
    if (!table) fail(Status::BadParameter, "op '%s' carries no DetectionPostProcessParam table", name);
    auto p = std::make_shared<PostProcessParams>();
    p->maxDetections = countOf(table->maxDetections(), "maxDetections", name);
    p->classesPerBox = countOf(table->maxClassesPerDetection(), "maxClassesPerDetection", name);
    p->perClass = countOf(table->detectionsPerClass(), "detectionsPerClass", name);
    p->classes = countOf(table->numClasses(), "numClasses", name);
    p->score = finite(table->nmsScoreThreshold(), "nmsScoreThreshold", name);
    p->overlap = finite(table->iouThreshold(), "iouThreshold", name);
    p->regular = table->useRegularNMS();
    const auto* scales = table->centerSizeEncoding();
    if (!scales || scales->size() != 4)
        fail(Status::BadParameter, "op '%s': centerSizeEncoding has %u values, 4 are needed", name,
             scales ? scales->size() : 0);
    for (uint32_t i = 0; i < 4; ++i) {
        p->scale[i] = finite(scales->Get(i), "a scale of centerSizeEncoding", name);
        if (p->scale[i] == 0) fail(Status::BadParameter, "op '%s': a scale of centerSizeEncoding is 0", name);
    }
    return p;
}

void shapePostProcess(const ShapeContext& context) {
    requireFloatBoxes(context);
    const auto& p = context.node.paramsAs<PostProcessParams>();
    const Shape &codes = context.in(0).shape, &scores = context.in(1).shape, &anchors = context.in(2).shape;
    const bool fits = codes.rank() == 3 && scores.rank() == 3 && anchors.rank() == 2 && codes[2] >= 4 &&
                      anchors[1] == 4 && codes[0] == scores[0] && codes[1] == scores[1] && codes[1] == anchors[0] &&
                      scores[2] >= p.classes && codes[1] <= kMaxCount;
    if (!fits)
        fail(Status::ComputeSizeError,
             "op '%s': box encodings %s, scores %s of %lld classes and anchors %s do not fit together", context.name(),
             codes.text().c_str(), scores.text().c_str(), asLong(p.classes), anchors.text().c_str());
    const int64_t detections = checkedMul(p.maxDetections, p.classesPerBox, "detections");
    const Format format = context.in(0).format;
    context.set(0, checkedShape({codes[0], detections, 4}, context.name()), DataType::Float32, format);
    context.set(1, Shape{codes[0], detections}, DataType::Float32, format);
    context.set(2, Shape{codes[0], detections}, DataType::Float32, format);
    context.set(3, Shape{codes[0]}, DataType::Float32, format);
}

std::vector<float> sizesOf(const flatbuffers::Vector<float>* list, const char* what, const char* name) {
    std::vector<float> values;
    if (list) values.assign(list->begin(), list->end());
    for (const float value : values)
        if (!std::isfinite(value) || value <= 0)
            fail(Status::BadParameter, "op '%s': %s has the value %g, finite values above 0 are needed", name, what,
                 static_cast<double>(value));
    return values;
}

bool contains(const std::vector<float>& values, float value) {
    for (const float each : values)
        if (std::fabs(each - value) < 1e-6f) return true;
    return false;
}

ParamsPtr parsePriorBox(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_PriorBox();
    if (!table) fail(Status::BadParameter, "op '%s' carries no PriorBox table", name);
    auto p = std::make_shared<PriorBoxParams>();
    p->minSizes = sizesOf(table->minSizes(), "minSizes", name);
    p->maxSizes = sizesOf(table->maxSizes(), "maxSizes", name);
    if (p->minSizes.empty() || (!p->maxSizes.empty() && p->maxSizes.size() != p->minSizes.size()))
        fail(Status::BadParameter,
             "op '%s' has %zu maxSizes and %zu minSizes; minSizes and as many maxSizes, or none, are needed", name,
             p->maxSizes.size(), p->minSizes.size());
    p->ratios = {1};
    constexpr size_t kMaxRatios = 4096;  // bounds the search for equal ratios
    for (const float ratio : sizesOf(table->aspectRatios(), "aspectRatios", name)) {
        if (contains(p->ratios, ratio)) continue;
        if (p->ratios.size() >= kMaxRatios)
            fail(Status::BadParameter, "op '%s' has more than %zu aspectRatios", name, kMaxRatios);
        p->ratios.push_back(ratio);
        if (table->flip()) p->ratios.push_back(1.0f / ratio);
    }
    const auto* variances = table->variances();
    const uint32_t given = variances ? variances->size() : 0;
    if (given != 0 && given != 1 && given != 4)
        fail(Status::BadParameter, "op '%s' has %u variances; 0, 1 or 4 are possible", name, given);
    for (uint32_t i = 0; given > 0 && i < 4; ++i)
        p->variances[i] = finite(variances->Get(given == 4 ? i : 0), "a variance", name);
    p->offset = finite(table->offset(), "offset", name);
    p->imageWidth = static_cast<int>(countOf(table->imageWidth(), "imageWidth", name));
    p->imageHeight = static_cast<int>(countOf(table->imageHeight(), "imageHeight", name));
    p->stepWidth = static_cast<int>(countOf(table->stepWidth(), "stepWidth", name));
    p->stepHeight = static_cast<int>(countOf(table->stepHeight(), "stepHeight", name));
    p->clip = table->clip();
    return p;
}

void shapePriorBox(const ShapeContext& context) {
    const auto& p = context.node.paramsAs<PriorBoxParams>();
    for (int i = 0; i < 2; ++i)
        if (context.in(i).shape.rank() != 4)
            fail(Status::ComputeSizeError, "op '%s': input %d is %s, rank 4 is needed", context.name(), i,
                 context.in(i).shape.text().c_str());
    const auto sizes = static_cast<int64_t>(p.minSizes.size());
    const int64_t each = checkedAdd(checkedMul(sizes, static_cast<int64_t>(p.ratios.size()), "prior boxes"),
                                    static_cast<int64_t>(p.maxSizes.size()), "prior boxes");
    const int64_t cells = checkedMul(context.in(0).width(), context.in(0).height(), "prior boxes");
    const int64_t numbers = checkedMul(checkedMul(cells, each, "prior boxes"), 4, "prior boxes");
    context.set(0, checkedShape({1, 2, numbers, 1}, context.name()), DataType::Float32, Format::NC4HW4);
}

std::vector<float> anchorFactors(const wire::Blob* blob, const char* what, const char* name) {
    return sizesOf(blob ? blob->float32s() : nullptr, what, name);
}

// The anchors are those of generate_anchors.py of py-faster-rcnn.
ParamsPtr parseProposal(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_Proposal();
    if (!table) fail(Status::BadParameter, "op '%s' carries no Proposal table", name);
    auto p = std::make_shared<ProposalParams>();
    const std::vector<float> ratios = anchorFactors(table->ratios(), "ratios", name);
    const std::vector<float> scales = anchorFactors(table->scales(), "scales", name);
    constexpr size_t kMaxAnchors = 1 << 16;
    if (ratios.empty() || scales.empty() || ratios.size() > kMaxAnchors || scales.size() > kMaxAnchors ||
        ratios.size() * scales.size() > kMaxAnchors)
        fail(Status::BadParameter, "op '%s' has %zu ratios and %zu scales of anchors; 1 to %zu anchors are possible",
             name, ratios.size(), scales.size(), kMaxAnchors);
    const auto base = static_cast<float>(countOf(table->baseSize(), "baseSize", name));
    p->centre = base / 2;
    for (const float ratio : ratios) {
        const float width = std::nearbyint(base / std::sqrt(ratio)), height = std::nearbyint(width * ratio);
        for (const float scale : scales) {
            p->sizes.push_back(width * scale);
            p->sizes.push_back(height * scale);
        }
    }
    p->stride = static_cast<float>(countOf(table->featStride(), "featStride", name));
    p->minSize = static_cast<float>(countOf(table->minSize(), "minSize", name));
    p->overlap = finite(table->nmsThreshold(), "nmsThreshold", name);
    p->beforeSuppression = std::max(table->preNmsTopN(), 0);
    p->afterSuppression = std::max(table->afterNmsTopN(), 0);
    return p;
}

void shapeProposal(const ShapeContext& context) {
    requireFloatBoxes(context);
    const auto& p = context.node.paramsAs<ProposalParams>();
    const Shape &scores = context.in(0).shape, &deltas = context.in(1).shape;
    for (int i = 0; i < 2; ++i)
        if (context.in(i).format == Format::NHWC)
            fail(Status::NotSupported, "op '%s': input %d has its channels last, which is not supported",
                 context.name(), i);
    const int64_t anchors = p.anchors();
    const bool fits = scores.rank() == 4 && deltas.rank() == 4 && scores[1] == 2 * anchors &&
                      deltas[1] == 4 * anchors && scores[0] == deltas[0] && scores[2] == deltas[2] &&
                      scores[3] == deltas[3];
    const int64_t boxes = fits ? scores.elements() / 2 : 0;
    if (!fits || boxes > kMaxCount)
        fail(Status::ComputeSizeError, "op '%s': scores %s and box deltas %s do not fit %lld anchors", context.name(),
             scores.text().c_str(), deltas.text().c_str(), asLong(anchors));
    const int64_t batch = scores[0], given = context.in(2).elements();
    if (given < 3 || (given < checkedMul(batch, 3, "image sizes") && context.in(2).batch() != 1))
        fail(Status::ComputeSizeError, "op '%s': image sizes %s do not fit a batch of %lld", context.name(),
             context.in(2).shape.text().c_str(), asLong(batch));
    const int64_t each = p.afterSuppression > 0 ? p.afterSuppression : anchors * scores[2] * scores[3];
    const int64_t rows = checkedMul(each, batch, "proposals");
    const Format format = context.in(0).format;
    context.set(0, checkedShape({rows, 5, 1, 1}, context.name()), DataType::Float32, format);
    if (context.outputs.size() > 1) context.set(1, Shape{rows, 1, 1, 1}, DataType::Float32, format);
}

}  // namespace

constexpr OpDef kDetectionOps[] = {
    {.type = OpType::DetectionPostProcess, .parse = parsePostProcess, .shape = shapePostProcess},
    {.type = OpType::PriorBox,
     .parse = parsePriorBox,
     .shape = shapePriorBox,
     .shapeOnlyInputs = [](const Node&) { return 3u; }},
    {.type = OpType::Proposal, .parse = parseProposal, .shape = shapeProposal},
};
extern constinit const OpFamily detectionOps = kDetectionOps;

}  // namespace mnnc
