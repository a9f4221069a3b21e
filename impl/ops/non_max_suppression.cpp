// NonMaxSuppressionV2. The output has exactly as many entries as there are hits. A session searches in one stage and
// sizes the output in the next one, which needs only the number of hits. When a backend of the host is offered the
// whole operator, the shape rule itself searches.
#include "ops/non_max_suppression.h"

#include <algorithm>
#include <vector>

#include "ops/families.h"
#include "ops/op_helpers.h"
#include "ops/search_parts.h"

namespace mnnc {

namespace {

float intersectionOverUnion(const float* a, const float* b) {
    const float ay0 = std::min(a[0], a[2]), ay1 = std::max(a[0], a[2]);
    const float ax0 = std::min(a[1], a[3]), ax1 = std::max(a[1], a[3]);
    const float by0 = std::min(b[0], b[2]), by1 = std::max(b[0], b[2]);
    const float bx0 = std::min(b[1], b[3]), bx1 = std::max(b[1], b[3]);
    const float areaA = (ay1 - ay0) * (ax1 - ax0), areaB = (by1 - by0) * (bx1 - bx0);
    if (areaA <= 0 || areaB <= 0) return 0;
    const float height = std::max(std::min(ay1, by1) - std::max(ay0, by0), 0.0f);
    const float width = std::max(std::min(ax1, bx1) - std::max(ax0, bx0), 0.0f);
    const float common = height * width;
    return common / (areaA + areaB - common);
}

}  // namespace

int64_t nonMaxSuppression(const float* boxes, const float* scores, int64_t count, const NmsLimits& limits,
                          int32_t* work, int32_t* selected) noexcept {
    const int64_t wanted = std::min(count, limits.maxKept);
    if (wanted <= 0) return 0;
    // Among equal scores the first box wins, as in ONNX Runtime, TensorFlow and torchvision. No score in the heap is
    // NaN.
    const auto lower = [scores](int32_t a, int32_t b) {
        return scores[a] < scores[b] || (scores[a] == scores[b] && a > b);
    };
    int64_t waiting = 0;
    for (int64_t i = 0; i < count; ++i)
        if (scores[i] > limits.score) {
            work[waiting++] = static_cast<int32_t>(i);
            std::push_heap(work, work + waiting, lower);
        }
    int64_t kept = 0;
    while (kept < wanted && waiting > 0) {
        std::pop_heap(work, work + waiting, lower);
        const int32_t candidate = work[--waiting];
        bool keep = true;
        for (int64_t k = kept - 1; keep && k >= 0; --k) {
            const float overlap =
                intersectionOverUnion(boxes + 4 * int64_t{candidate}, boxes + 4 * int64_t{selected[k]});
            keep = !(overlap > 0 && overlap > limits.iou);
        }
        if (keep) selected[kept++] = candidate;
    }
    return kept;
}

namespace {

// Returns the parameters that follow from the shapes.
NmsParams nmsForm(const ShapeContext& context) {
    const Shape &boxes = context.in(0).shape, &scores = context.in(1).shape;
    for (const int i : {0, 1, 3, 4})
        if (i < context.inputCount() && !context.in(i).empty() && context.in(i).type != DataType::Float32)
            fail(Status::BadType, "op '%s': input %d must be float32, it is %s", context.name(), i,
                 dataTypeName(context.in(i).type));
    NmsParams form;
    form.batched = scores.rank() > 1;
    bool fits;
    if (form.batched) {
        fits =
            boxes.rank() == 3 && scores.rank() == 3 && boxes[2] == 4 && boxes[0] == scores[0] && boxes[1] == scores[2];
        if (fits) {
            form.batch = scores[0];
            form.classes = scores[1];
        }
    } else {
        fits = boxes.rank() == 2 && scores.rank() == 1 && boxes[1] == 4 && boxes[0] == scores[0];
    }
    if (!fits || boxes[boxes.rank() - 2] > std::numeric_limits<int32_t>::max())
        fail(Status::ComputeSizeError, "op '%s': boxes %s and scores %s do not fit together", context.name(),
             boxes.text().c_str(), scores.text().c_str());
    form.boxes = boxes[boxes.rank() - 2];
    form.maxKept = std::clamp<int64_t>(context.intAt(2), 0, form.boxes);
    return form;
}

Shape countsShape(const NmsParams& form) {
    return form.batched ? Shape{form.batch, form.classes} : Shape{1};
}

ValueCommand searchCommand(const OpContext& context, Tensor* kept, Tensor* counts) {
    ValueCommand command = context.command();
    command.params = std::make_shared<NmsParams>(nmsForm(context));
    command.outputs = {kept, counts};
    return command;
}

void shapeSearch(const ShapeContext& context) {
    const NmsParams form = nmsForm(context);
    const Format format = context.in(0).format;
    context.set(0, Shape{checkedMul(checkedMul(form.batch, form.classes, "results"), form.maxKept, "results")},
                DataType::Int32, format);
    context.set(1, countsShape(form), DataType::Int32, format);
}

void geometrySearch(const OpContext& context) {
    context.geometry.emit(searchCommand(context, context.outputs[0], context.outputs[1]));
}

void shapeRows(const ShapeContext& context) {
    int64_t hits = 0;
    for (const int32_t count : context.intSpan(1)) hits += count;
    context.set(0, context.in(1).shape.rank() == 2 ? Shape{hits, 3} : Shape{hits}, DataType::Int32,
                context.in(0).format);
}

// The operator without parts searches in its shape rule.
void shapeNms(const ShapeContext& context) {
    const NmsParams form = nmsForm(context);
    NmsLimits limits;
    limits.maxKept = form.maxKept;
    for (int i = 3; i < context.inputCount(); ++i) {
        if (context.in(i).empty()) continue;  // an absent optional input
        (i == 3 ? limits.iou : limits.score) = context.floats(i)[0];
    }
    int64_t hits = 0;
    if (form.boxes > 0) {
        std::vector<int32_t> work(static_cast<size_t>(form.boxes)), selected(work.size());
        const auto boxes = context.floats(0), scores = context.floats(1);
        for (int64_t n = 0; n < form.batch; ++n)
            for (int64_t k = 0; k < form.classes; ++k)
                hits += nonMaxSuppression(boxes.data() + n * form.boxes * 4,
                                          scores.data() + (n * form.classes + k) * form.boxes, form.boxes, limits,
                                          work.data(), selected.data());
    }
    context.set(0, form.batched ? Shape{hits, 3} : Shape{hits}, DataType::Int32, context.in(0).format);
}

void geometryNms(const OpContext& context) {
    const NmsParams form = nmsForm(context);
    const Format format = context.in(0).format;
    Tensor* kept = context.geometry.temporary(Shape{form.batch * form.classes * form.maxKept}, DataType::Int32, format);
    Tensor* counts = context.geometry.temporary(countsShape(form), DataType::Int32, format);
    context.geometry.emit(searchCommand(context, kept, counts));
    ValueCommand rows = context.command();
    rows.inputs = {kept, counts};
    context.geometry.emit(std::move(rows));
}

uint32_t contentNms(const Node& node) {
    return (1u << node.inputs.size()) - 1u;
}

// A plan of the results holds while the total number is the same.
constexpr SearchParts kParts{
    .search = {.type = OpType::NonMaxSuppressionV2,
               .shape = shapeSearch,
               .geometry = geometrySearch,
               .valueInputs = [](const Node&) { return 1u << 2; }},
    .results = {.type = OpType::NonMaxSuppressionV2,
                .shape = shapeRows,
                .valueInputs = [](const Node&) { return 1u << 1; },
                .dynamicOffsetInputs = [](const Node&) { return 1u << 1; }},
};

}  // namespace

constexpr OpDef kNonMaxSuppressionOps[] = {
    {.type = OpType::NonMaxSuppressionV2, .shape = shapeNms, .geometry = geometryNms, .valueInputs = contentNms},
};
extern constinit const OpFamily nonMaxSuppressionOps = kNonMaxSuppressionOps;

const SearchParts* findSearchParts(OpType type) noexcept {
    return type == OpType::NonMaxSuppressionV2 ? &kParts : nullptr;
}

void fillRoom(GeometryContext& geometry, Tensor* output, Tensor* results, const std::string& name) {
    const int64_t found = results->elements();
    const int64_t columns = output->shape.elements(1, output->shape.rank());
    Tensor* none = geometry.temporary(Shape{}, DataType::Int32, output->format);
    const int32_t value = -1;
    geometry.constant(none, &value);
    Region rest;
    rest.src = {0, {0, 0, 0}};
    rest.dst = {found + columns - 1, {0, 0, columns}};
    rest.size[2] = (output->elements() - found) / columns;
    std::vector<Tensor*> inputs = {none};
    std::vector<Region> regions = {rest};
    if (found > 0) {
        Region rows;
        rows.input = 1;
        rows.size[2] = found;
        inputs.push_back(results);
        regions.push_back(rows);
    }
    geometry.raster(output, std::move(inputs), std::move(regions), name);
}

}  // namespace mnnc
