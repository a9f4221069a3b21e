// How the outputs of a detector describe its boxes: as the options say, else as the model shows.
#pragma once
#include <string>
#include <vector>

#include "common.h"
#include "detections.h"

namespace tool {

// The options about boxes.
struct BoxFlags {
    std::string boxes, scores, classes;  // names of outputs; "": found by what the model shows
    std::vector<std::string> columns;    // names of kColumns
    std::string unit = "auto";
    BoxChoice choice;

    void check() const;  // throws UsageError for columns that make no box
};

// What --columns and --box-unit take.
inline constexpr const char* kColumnNames[] = {"x1", "y1", "x2",    "y2",    "cx",      "cy",
                                               "w",  "h",  "score", "class", "classes", "-"};
inline constexpr const char* kUnitNames[] = {"auto", "pixels", "fractions"};

// Throws UsageError where neither the options nor the model say it.
BoxForm boxFormOf(const Interpreter& model, const std::vector<NamedArray>& outputs, const BoxFlags& flags);

}  // namespace tool
