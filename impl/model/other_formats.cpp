// Reads the outermost fields of Protocol Buffers, the encoding of ONNX models.
#include "model/other_formats.h"

namespace mnnc {
namespace {

bool readVarint(const uint8_t* data, size_t size, size_t& at, uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && at < size; shift += 7) {
        const uint8_t byte = data[at++];
        value |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

}  // namespace

// A model begins with the version of its format, and some small fields precede the graph.
bool isOnnx(const uint8_t* data, size_t size) {
    // Numbers of fields of ModelProto (onnx.proto): ir_version, graph, functions.
    constexpr unsigned kVersion = 1, kGraph = 7, kLastField = 25;
    constexpr uint64_t kMaxVersion = 1000;
    constexpr unsigned kNumber = 0, kBytes = 2;  // the wire types VARINT and LEN
    size_t at = 0;
    bool hasVersion = false;
    uint64_t tag = 0, value = 0;
    while (readVarint(data, size, at, tag)) {
        const uint64_t field = tag >> 3, kind = tag & 7;
        if (field == 0 || field > kLastField || (kind != kNumber && kind != kBytes)) return false;
        if (!readVarint(data, size, at, value)) return false;
        if (field == kVersion) {
            hasVersion = kind == kNumber && value > 0 && value < kMaxVersion;
            if (!hasVersion) return false;
        }
        if (field == kGraph) return hasVersion && kind == kBytes;
        if (kind != kBytes) continue;
        if (value > size - at) return false;
        at += value;
    }
    return false;
}

}  // namespace mnnc
