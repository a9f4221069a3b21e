// Gives the outputs of a detector to the library, which finds the boxes.
#include "detections.h"

#include <algorithm>
#include <iterator>

#include "errors.h"
#include "text.h"

namespace tool {
namespace {

mnn_image_detector_t detectorWith(const std::vector<int32_t>& columns) {
    mnn_image_detector_t detector;
    mnn_image_detector_init(&detector, sizeof detector);
    if (columns.size() > std::size(detector.columns))
        throw UsageError(fmt::format("a box has at most {} columns", std::size(detector.columns)));
    std::copy(columns.begin(), columns.end(), detector.columns);
    detector.column_count = static_cast<int32_t>(columns.size());
    detector.input_width = detector.input_height = detector.picture_width = detector.picture_height = 1;
    return detector;
}

// Describes an output, and returns its values as floats.
template <size_t N>
std::vector<float> describe(const std::vector<NamedArray>& outputs, const std::string& name, int32_t (&dims)[N],
                            int32_t& rank) {
    if (name.empty()) return {};
    const Array* output = findOutput(outputs, name);
    if (!output) throw ToolError(fmt::format("there is no output '{}'", name));
    const std::vector<int64_t> shape = output->shape.empty() ? std::vector<int64_t>{1} : output->shape;
    if (shape.size() > N)
        throw ToolError(fmt::format("the output '{}' has {} extents; up to {} are read", name, shape.size(), N));
    std::transform(shape.begin(), shape.end(), dims, [](int64_t extent) { return static_cast<int32_t>(extent); });
    rank = static_cast<int32_t>(shape.size());
    std::vector<float> values(output->count());
    for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(valueAt(*output, i));
    return values;
}

}  // namespace

std::vector<Detection> detectionsOf(const std::vector<NamedArray>& outputs, const BoxForm& form,
                                    const BoxChoice& choice, const View& view) {
    mnn_image_detector_t detector = detectorWith(form.columns);
    const auto boxes = describe(outputs, form.boxes, detector.boxes_dims, detector.boxes_rank);
    const auto scores = describe(outputs, form.scores, detector.scores_dims, detector.scores_rank);
    const auto classes = describe(outputs, form.classes, detector.classes_dims, detector.classes_rank);
    detector.unit = form.unit;
    detector.input_width = view.inputWidth;
    detector.input_height = view.inputHeight;
    detector.left = view.place.left;
    detector.top = view.place.top;
    detector.width = view.place.width;
    detector.height = view.place.height;
    detector.picture_width = view.width;
    detector.picture_height = view.height;
    detector.has_background = choice.background >= 0;
    detector.background = static_cast<int32_t>(choice.background);
    detector.has_overlap = choice.overlap >= 0;
    detector.overlap = choice.overlap;
    detector.min_score = choice.minScore;
    std::vector<double> numbers(6 * MNN_IMAGE_MAX_BOXES);
    size_t count = 0;
    if (mnn_image_boxes(&detector, boxes.data(), scores.data(), classes.data(), numbers.data(), numbers.size(),
                        &count) != MNN_OK)
        throw ToolError(fmt::format("no boxes can be read from '{}': {}", form.boxes, mnn_image_last_error()));
    std::vector<Detection> found;
    for (size_t i = 0; i + 6 <= count; i += 6)
        found.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3], numbers[i + 4],
                         static_cast<int64_t>(numbers[i + 5])});
    return found;
}

void checkColumns(const std::vector<int32_t>& columns) {
    // An output without boxes is enough for the library to look at the columns.
    mnn_image_detector_t detector = detectorWith(columns);
    detector.boxes_rank = 2;
    detector.boxes_dims[1] = detector.column_count;
    size_t count = 0;
    if (mnn_image_boxes(&detector, nullptr, nullptr, nullptr, nullptr, 0, &count) != MNN_OK)
        throw UsageError(fmt::format("--columns: {}", mnn_image_last_error()));
}

std::string className(int64_t kind, const std::vector<std::string>& names) {
    if (kind < 0) return "";
    const auto index = static_cast<size_t>(kind);
    return index < names.size() && !names[index].empty() ? names[index] : std::to_string(kind);
}

const Array* findOutput(const std::vector<NamedArray>& outputs, const std::string& name) {
    for (const NamedArray& output : outputs)
        if (output.name == name) return &output.array;
    return nullptr;
}

}  // namespace tool
