// DetectionOutput, as detection_output_layer.cpp and bbox_util.cpp of Caffe's SSD branch define it; two more inputs
// refine the priors first (RefineDet, Zhang et al., arXiv 1711.06897). The output has exactly as many rows as there are
// detections.
#include "ops/detection_output.h"

#include <cmath>
#include <vector>

#include "base/checked.h"
#include "mnn_generated.h"
#include "ops/box_suppression.h"
#include "ops/families.h"
#include "ops/op_helpers.h"

namespace mnnc {

namespace {

struct Found {
    float score;
    int32_t label, box;  // box: index among all priors, or among all classes and priors
};

bool bestFirst(const Found& a, const Found& b) noexcept {
    if (a.score != b.score) return a.score > b.score;
    return a.label != b.label ? a.label < b.label : a.box < b.box;
}

bool byLabel(const Found& a, const Found& b) noexcept {
    return a.label != b.label ? a.label < b.label : bestFirst(a, b);
}

// Decodes a box relative to a prior box, both as corners xmin, ymin, xmax, ymax.
void decode(const DetectionOutputParams& p, const float* prior, const float* variance, const float* code,
            float* box) noexcept {
    const float size[2] = {prior[2] - prior[0], prior[3] - prior[1]};
    float v[4];
    for (int i = 0; i < 4; ++i) v[i] = code[i] * (p.varianceEncoded ? 1.0f : variance[i]);
    for (int i = 0; i < 2; ++i) {
        if (p.code == BoxCode::CentreSize) {
            const float centre = v[i] * size[i] + (prior[i] + prior[2 + i]) / 2;
            const float half = std::exp(v[2 + i]) * size[i] / 2;
            box[i] = centre - half;
            box[2 + i] = centre + half;
        } else {
            const float unit = p.code == BoxCode::CornerSize ? size[i] : 1.0f;
            box[i] = prior[i] + v[i] * unit;
            box[2 + i] = prior[2 + i] + v[2 + i] * unit;
        }
    }
}

}  // namespace

int64_t DetectionOutputParams::workBytes() const {
    const int64_t boxes = checkedMul(checkedMul(priors, locationClasses(), "boxes"), 16, "boxes");
    const int64_t found =
        checkedMul(checkedMul(priors, classes, "detections"), static_cast<int64_t>(sizeof(Found)), "detections");
    return checkedAdd(checkedAdd(boxes, found, "detections"), checkedMul(priors, 8, "boxes"), "detections");
}

int64_t detectBoxes(const DetectionOutputParams& p, const DetectionInputs& in, void* work, float* rows,
                    int64_t maxRows) noexcept {
    const int64_t priors = p.priors, sets = p.locationClasses();
    auto* boxes = static_cast<float*>(work);  // [sets][priors][4]
    auto* scores = boxes + sets * priors * 4;
    auto* candidates = reinterpret_cast<int32_t*>(scores + priors);
    auto* found = reinterpret_cast<Found*>(candidates + priors);
    for (int64_t i = 0; i < priors; ++i) {
        const float *prior = in.priors + i * 4, *variance = in.priors + (priors + i) * 4;
        float refined[4];
        if (in.armLocation) {
            decode(p, prior, variance, in.armLocation + i * 4, refined);
            prior = refined;
        }
        for (int64_t s = 0; s < sets; ++s)
            decode(p, prior, variance, in.location + (i * sets + s) * 4, boxes + (s * priors + i) * 4);
    }
    int64_t count = 0;
    for (int64_t label = 0; label < p.classes; ++label) {
        if (label == p.background) continue;
        int64_t waiting = 0;
        for (int64_t i = 0; i < priors; ++i) {
            const bool object = !in.armConfidence || in.armConfidence[2 * i + 1] >= p.objectness;
            scores[i] = object ? in.confidence[i * p.classes + label] : 0.0f;
            if (scores[i] > p.confidence) candidates[waiting++] = static_cast<int32_t>(i);
        }
        std::sort(candidates, candidates + waiting, ByScore{scores});
        if (p.topK > 0) waiting = std::min(waiting, p.topK);
        const int64_t set = sets == 1 ? 0 : label;
        const int64_t kept = suppressBoxes(boxes + set * priors * 4, candidates, waiting, waiting, p.overlap, 0);
        for (int64_t k = 0; k < kept; ++k)
            found[count++] = {scores[candidates[k]], static_cast<int32_t>(label), candidates[k]};
    }
    if (p.keepTopK >= 0 && count > p.keepTopK) {
        std::sort(found, found + count, bestFirst);
        count = p.keepTopK;
        std::sort(found, found + count, byLabel);
    }
    for (int64_t k = 0; rows && k < std::min(count, maxRows); ++k) {
        const int64_t set = sets == 1 ? 0 : found[k].label;
        rows[k * 6] = static_cast<float>(found[k].label);
        rows[k * 6 + 1] = found[k].score;
        std::copy_n(boxes + (set * priors + found[k].box) * 4, 4, rows + k * 6 + 2);
    }
    return count;
}

namespace {

constexpr int64_t kMaxBoxes = 1 << 30;

ParamsPtr parseDetectionOutput(const wire::Op& op, const ParseContext& context) {
    const char* name = context.node.name.c_str();
    const auto* table = op.main_as_DetectionOutput();
    if (!table) fail(Status::BadParameter, "op '%s' carries no DetectionOutput table", name);
    auto p = std::make_shared<DetectionOutputParams>();
    if (table->classCount() < 1)
        fail(Status::BadParameter, "op '%s': classCount is %d, at least 1 is needed", name, table->classCount());
    const int code = table->codeType();
    if (code < 0 || code > 3) fail(Status::BadParameter, "op '%s': codeType %d is unknown", name, code);
    const float limits[] = {table->nmsThresholdold(), table->confidenceThreshold(), table->objectnessScore()};
    for (const float limit : limits)
        if (std::isnan(limit)) fail(Status::BadParameter, "op '%s': a threshold is not a number", name);
    p->classes = table->classCount();
    p->background = table->backgroundLable();
    p->topK = std::max(table->nmsTopK(), 0);
    p->keepTopK = std::max(table->keepTopK(), -1);
    p->overlap = limits[0];
    p->confidence = limits[1];
    p->objectness = limits[2];
    p->code = code == 0 ? BoxCode::CentreSize : static_cast<BoxCode>(code);  // 0: the file has no value
    p->shareLocation = table->shareLocation() != 0;
    p->varianceEncoded = table->varianceEncodedTarget() != 0;
    return p;
}

// Returns the parameters with the number of priors; throws where the inputs do not fit together.
DetectionOutputParams detectionOutputForm(const ShapeContext& context) {
    auto p = context.node.paramsAs<DetectionOutputParams>();
    const int inputs = context.inputCount();
    if (inputs == 4) fail(Status::BadParameter, "op '%s' has 4 inputs, 3 or 5 are possible", context.name());
    for (int i = 0; i < inputs; ++i)
        if (context.in(i).type != DataType::Float32)
            fail(Status::BadType, "op '%s': input %d must be float32, it is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
    if (context.in(0).shape.rank() > 1 && context.in(0).batch() > 1)
        fail(Status::NotSupported, "op '%s' has a batch of %lld, but its output rows do not identify the picture",
             context.name(), asLong(context.in(0).batch()));
    p.priors = context.in(2).elements() / 8;
    const int64_t numbers = checkedMul(p.priors, 4, "prior boxes");
    // Older files share locations, but lack the field shareLocation.
    p.shareLocation = p.shareLocation || context.in(0).elements() == numbers;
    const bool fits = context.in(2).elements() % 8 == 0 && p.priors <= kMaxBoxes &&
                      context.in(0).elements() == checkedMul(numbers, p.locationClasses(), "locations") &&
                      context.in(1).elements() == checkedMul(p.priors, p.classes, "confidences") &&
                      (inputs < 5 || (context.in(3).elements() == 2 * p.priors && context.in(4).elements() == numbers));
    if (!fits)
        fail(Status::ComputeSizeError,
             "op '%s': locations %s and confidences %s of %lld classes do not fit prior boxes %s", context.name(),
             context.in(0).shape.text().c_str(), context.in(1).shape.text().c_str(), asLong(p.classes),
             context.in(2).shape.text().c_str());
    return p;
}

void shapeDetectionOutput(const ShapeContext& context) {
    const DetectionOutputParams p = detectionOutputForm(context);
    int64_t rows = 0;
    if (p.priors > 0) {
        DetectionInputs in{context.floats(0).data(), context.floats(1).data(), context.floats(2).data()};
        if (context.inputCount() > 4) {
            in.armConfidence = context.floats(3).data();
            in.armLocation = context.floats(4).data();
        }
        std::vector<float> work(static_cast<size_t>(ceilDiv(p.workBytes(), 4)));
        rows = detectBoxes(p, in, work.data(), nullptr, 0);
    }
    context.set(0, Shape{1, 1, rows, 6}, DataType::Float32, Format::NC4HW4);
}

void geometryDetectionOutput(const OpContext& context) {
    ValueCommand command = context.command();
    command.params = std::make_shared<DetectionOutputParams>(detectionOutputForm(context));
    context.geometry.emit(std::move(command));
}

}  // namespace

constexpr OpDef kDetectionOutputOps[] = {
    {.type = OpType::DetectionOutput,
     .parse = parseDetectionOutput,
     .shape = shapeDetectionOutput,
     .geometry = geometryDetectionOutput,
     .valueInputs = [](const Node& node) { return (1u << std::min<size_t>(node.inputs.size(), 5)) - 1u; }},
};
extern constinit const OpFamily detectionOutputOps = kDetectionOutputOps;

}  // namespace mnnc
