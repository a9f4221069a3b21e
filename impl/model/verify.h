// All conditions for trusting a file: FlatBuffers structure, then the integrity rules of the format. Split by subject:
// verify.cpp (buffer, net), verify_graph.cpp (ids, sources), verify_params.cpp (tables of operators), verify_conv.cpp
// (convolutions), verify_calls.cpp (subgraphs). Only impl/model includes this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "mnn_generated.h"

namespace mnnc {

constexpr size_t kMaxModelBytes = 0x7fffffff;  // a limit of the format

// Throws Error.
const wire::Net* verifyModel(const uint8_t* data, size_t size);

// ---- parts ----

using WireOps = flatbuffers::Vector<flatbuffers::Offset<wire::Op>>;
using WireTexts = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;
using WireInts = flatbuffers::Vector<int32_t>;
using WireDescribes = flatbuffers::Vector<flatbuffers::Offset<wire::TensorDescribe>>;

// One id space of the file before it is trusted.
struct WireGraph {
    std::string title;  // "" or "subgraph 'x': "; begins every sentence
    const WireOps* ops = nullptr;
    const WireTexts* tensors = nullptr;
    const WireInts* inputs = nullptr;    // formal inputs of a subgraph
    const WireTexts* outputs = nullptr;  // of the main net; null: the file has no list
    const WireDescribes* describes = nullptr;
    bool isStatic = false;  // usage INFERENCE_STATIC: decomposed operators, io counts need not follow the table
};

// Adds the location of a fault to its sentence: graph, operator index, operator name and type.
class OpPlace {
  public:
    OpPlace(const WireGraph& graph, uint32_t index, const wire::Op& op) : graph_(graph), index_(index), op_(op) {}
    [[noreturn, gnu::format(printf, 3, 4)]] void fail(Status status, const char* format, ...) const;
    // Repeats an error of the decoders, which know only the operator's name, with the full location.
    [[noreturn]] void refail(const Error& error) const;
    const char* opName() const;
    bool isStatic() const { return graph_.isStatic; }

  private:
    const WireGraph& graph_;
    uint32_t index_;
    const wire::Op& op_;
};

void verifyGraph(const WireGraph& graph);
// Checks that the union member fits the operator. An unknown operator passes.
void verifyOpTable(const OpPlace& place, const wire::Op& op);
void verifyOpCounts(const OpPlace& place, const wire::Op& op);
void verifyOpParameters(const OpPlace& place, const wire::Op& op);
void verifyConvolution(const OpPlace& place, const wire::Op& op, const wire::Convolution2D& conv);
void verifyLoop(const OpPlace& place, const wire::Op& op, const wire::LoopParam& loop);
void verifyCalls(const wire::Net& net);

}  // namespace mnnc
