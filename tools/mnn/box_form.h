// Determines how the outputs of a detector describe its boxes: by the options, else by the model.
#pragma once
#include <string>
#include <vector>

#include "common.h"
#include "detections.h"

namespace tool {

// The options that describe boxes.
struct BoxFlags {
    std::string boxes, scores, classes;  // names of outputs; "": derived from the model
    std::vector<std::string> columns;    // each one of kColumnNames
    std::string unit = "auto";
    BoxChoice choice;

    void check() const;  // throws UsageError for columns that do not describe a box
};

// The values of --columns, in the order of MNN_IMAGE_BOX_*, and of --box-unit.
inline constexpr const char* kColumnNames[] = {"x1", "y1", "x2",    "y2",    "cx",      "cy",
                                               "w",  "h",  "score", "class", "classes", "-"};
inline constexpr const char* kUnitNames[] = {"auto", "pixels", "fractions"};

// Throws UsageError where neither the options nor the model determine the form.
BoxForm boxFormOf(const Interpreter& model, const std::vector<NamedArray>& outputs, const BoxFlags& flags);

}  // namespace tool
