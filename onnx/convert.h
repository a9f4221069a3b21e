// Converts the bytes of an ONNX model to those of a .mnn model.
#pragma once
#include "importer.h"
#include "net_writer.h"

namespace mnnc::onnx {

struct Converted {
    Report report;
    WrittenNet net;  // empty where the report has problems
};

Converted convert(Bytes bytes, const ImportOptions& options, const DataFolder& folder);

}  // namespace mnnc::onnx
