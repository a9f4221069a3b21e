// Reads the tables of operators over unsigned 8-bit codes.
#pragma once
#include "mnn_generated.h"
#include "ops/op_def.h"
#include "ops/uint8.h"

namespace mnnc {

struct Codes {
    double scale = 0;
    int32_t zero = 0;
};

// `what`: the name of the table, for messages.
Codes codesOf(const wire::QuantizedParam* table, const char* what, const char* name);
FixedFactor factorOf(double factor, const char* name);
// Returns the range of codes after a fused activation (CalculateActivationRangeQuantized of TFLite).
CodeRange rangeOf(wire::FusedActivation activation, const Codes& out, const char* name);
// Refuses inputs that are no codes.
void requireCodes(const ShapeContext& context);

}  // namespace mnnc
