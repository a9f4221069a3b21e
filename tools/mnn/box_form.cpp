// Finds the outputs with boxes by the operators that produce them, by their names and by their shapes.
#include "box_form.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace tool {
namespace {

using Columns = std::vector<int32_t>;
const Columns kEdges = {MNN_IMAGE_BOX_X1, MNN_IMAGE_BOX_Y1, MNN_IMAGE_BOX_X2, MNN_IMAGE_BOX_Y2};
const Columns kEdgesTopFirst = {MNN_IMAGE_BOX_Y1, MNN_IMAGE_BOX_X1, MNN_IMAGE_BOX_Y2, MNN_IMAGE_BOX_X2};
const Columns kEdgesScoreClass = {MNN_IMAGE_BOX_X1, MNN_IMAGE_BOX_Y1,    MNN_IMAGE_BOX_X2,
                                  MNN_IMAGE_BOX_Y2, MNN_IMAGE_BOX_SCORE, MNN_IMAGE_BOX_CLASS};
const Columns kClassScoreEdges = {MNN_IMAGE_BOX_CLASS, MNN_IMAGE_BOX_SCORE, MNN_IMAGE_BOX_X1,
                                  MNN_IMAGE_BOX_Y1,    MNN_IMAGE_BOX_X2,    MNN_IMAGE_BOX_Y2};

Columns parsedColumns(const std::vector<std::string>& names) {
    Columns columns;
    for (const std::string& name : names) {
        const auto* const found = std::find(std::begin(kColumnNames), std::end(kColumnNames), name);
        if (found == std::end(kColumnNames)) throw UsageError(fmt::format("--columns: there is no column '{}'", name));
        columns.push_back(static_cast<int32_t>(found - std::begin(kColumnNames)));
    }
    checkColumns(columns);
    return columns;
}

bool holdsOneOf(const std::string& name, std::initializer_list<const char*> words) {
    std::string small = name;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return small.find(word) != std::string::npos; });
}

// Returns the extents without leading extents of 1, as long as more than two are left.
std::vector<int64_t> innerShape(const Array& array) {
    std::vector<int64_t> shape = array.shape;
    while (shape.size() > 2 && shape[0] == 1) shape.erase(shape.begin());
    return shape;
}

bool hasRowsOf(const Array& array, int64_t columns) {
    const std::vector<int64_t> shape = innerShape(array);
    return shape.size() == 2 && shape[1] == columns;
}

// Returns the name of the only output that satisfies `wanted`; "" where there is none or several.
template <typename Wanted>
std::string onlyOutput(const std::vector<NamedArray>& outputs, const Wanted& wanted) {
    std::string name;
    for (const NamedArray& output : outputs) {
        if (!wanted(output)) continue;
        if (!name.empty()) return "";
        name = output.name;
    }
    return name;
}

// Fills in the form that an operator of the model gives its outputs, if the net ends with that operator.
bool findByOperator(const Interpreter& model, const std::vector<NamedArray>& outputs, BoxForm& form) {
    size_t ops = 0;
    check(mnn_interpreter_op_count(model.get(), &ops));
    for (size_t i = 0; i < ops; i++) {
        const char* type = nullptr;
        check(mnn_interpreter_op_type(model.get(), i, &type));
        const bool isPost = std::string_view(type) == "DetectionPostProcess";
        if (!isPost && std::string_view(type) != "DetectionOutput") continue;
        std::array<std::string, 3> made;  // boxes, classes, scores
        for (size_t k = 0; k < (isPost ? made.size() : 1); k++) {
            const char* name = nullptr;
            check(mnn_interpreter_op_output_name(model.get(), i, k, &name));
            made[k] = name;
        }
        if (!findOutput(outputs, made[0]) || (isPost && !findOutput(outputs, made[2]))) continue;
        form.boxes = made[0];
        form.columns = isPost ? kEdgesTopFirst : kClassScoreEdges;
        form.unit = MNN_IMAGE_UNIT_FRACTIONS;
        if (isPost) form.scores = made[2];
        if (isPost && findOutput(outputs, made[1])) form.classes = made[1];
        return true;
    }
    return false;
}

[[noreturn]] void refuse(const std::vector<NamedArray>& outputs, const char* what) {
    std::string list;
    for (const NamedArray& output : outputs)
        list += fmt::format("{}'{}' ({})", list.empty() ? "" : ", ", output.name, shapeText(output.array.shape));
    throw UsageError(fmt::format("{}; the outputs are {}", what, list));
}

void requireOutput(const std::vector<NamedArray>& outputs, const char* option, const std::string& name) {
    if (!name.empty() && !findOutput(outputs, name))
        refuse(outputs, fmt::format("{}: there is no output '{}'", option, name).c_str());
}

// Finds the outputs with scores and classes by their names and numbers of rows.
void findCompanions(const std::vector<NamedArray>& outputs, BoxForm& form) {
    const auto has = [&](int32_t column) {
        return std::find(form.columns.begin(), form.columns.end(), column) != form.columns.end();
    };
    const auto isElse = [&](const NamedArray& output) { return output.name != form.boxes; };
    if (form.scores.empty() && !has(MNN_IMAGE_BOX_SCORE) && !has(MNN_IMAGE_BOX_CLASSES))
        form.scores = onlyOutput(outputs, [&](const NamedArray& output) {
            return isElse(output) && holdsOneOf(output.name, {"score", "conf"});
        });
    if (form.classes.empty() && !has(MNN_IMAGE_BOX_CLASS) && !has(MNN_IMAGE_BOX_CLASSES))
        form.classes = onlyOutput(outputs, [&](const NamedArray& output) {
            return isElse(output) && holdsOneOf(output.name, {"label", "class"}) && output.name != form.scores;
        });
    if (form.scores.empty() && !has(MNN_IMAGE_BOX_SCORE) && !has(MNN_IMAGE_BOX_CLASSES))
        refuse(outputs, "no output with the scores of the boxes was recognised: give --scores NAME, or --columns");
}

Columns columnsOf(const std::vector<NamedArray>& outputs, const std::string& boxes) {
    const Array& array = *findOutput(outputs, boxes);
    if (hasRowsOf(array, 4)) return kEdges;
    if (hasRowsOf(array, 6)) return kEdgesScoreClass;
    refuse(outputs, fmt::format("what the numbers of '{}' are was not recognised: give --columns, for example "
                                "cx,cy,w,h,classes (YOLOv8 and later) or cx,cy,w,h,score,classes (YOLOv5)",
                                boxes)
                        .c_str());
}

}  // namespace

void BoxFlags::check() const {
    if (!columns.empty()) parsedColumns(columns);
}

BoxForm boxFormOf(const Interpreter& model, const std::vector<NamedArray>& outputs, const BoxFlags& flags) {
    requireOutput(outputs, "--boxes", flags.boxes);
    requireOutput(outputs, "--scores", flags.scores);
    requireOutput(outputs, "--classes", flags.classes);
    BoxForm form;
    if (flags.boxes.empty() && flags.columns.empty()) findByOperator(model, outputs, form);
    if (!flags.boxes.empty()) form.boxes = flags.boxes;
    if (form.boxes.empty())
        form.boxes = onlyOutput(outputs, [](const NamedArray& output) {
            return holdsOneOf(output.name, {"box"}) && innerShape(output.array).size() == 2;
        });
    if (form.boxes.empty() && outputs.size() == 1) form.boxes = outputs[0].name;
    if (form.boxes.empty()) refuse(outputs, "no output with boxes was recognised: give --boxes NAME");
    if (!flags.columns.empty()) form.columns = parsedColumns(flags.columns);
    if (form.columns.empty()) form.columns = columnsOf(outputs, form.boxes);
    if (!flags.scores.empty()) form.scores = flags.scores;
    if (!flags.classes.empty()) form.classes = flags.classes;
    findCompanions(outputs, form);
    if (flags.unit == "pixels") form.unit = MNN_IMAGE_UNIT_PIXELS;
    if (flags.unit == "fractions") form.unit = MNN_IMAGE_UNIT_FRACTIONS;
    return form;
}

}  // namespace tool
