// Checks the buffer and the net: whether it is a FlatBuffers Net at all, whether it was truncated, whether its lists
// are present. A truncated file is one whose only fault is that data lies beyond its end (structure.h).
#include "model/verify.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>
#include <string_view>

#include "base/op_type.h"
#include "model/structure.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

constexpr size_t kMaxTables = 1000000;
constexpr uint32_t kMaxTensors = 50000000;
// Writers place the root near the start of the file.
constexpr uint32_t kMaxRootOffset = 1u << 16;

// The format has no magic number. Most other files begin with another number.
bool beginsLikeAModel(const uint8_t* data) {
    uint32_t root = 0;
    std::memcpy(&root, data, sizeof root);
    return root >= 4 && root % 4 == 0 && root <= kMaxRootOffset;
}

void verifyBuffer(const uint8_t* data, size_t size) {
    // This comes first, because the verifier visits shared vectors repeatedly.
    const Structure structure = walkStructure(data, size);
    if (structure == Structure::Cut && beginsLikeAModel(data))
        fail(Status::Truncated, "the model is cut short after %zu bytes", size);
    if (structure == Structure::SharesTooMuch)
        fail(Status::BadFormat,
             "the %zu bytes are not a model: their tables share so much that they amount to several times as many",
             size);
    flatbuffers::Verifier verifier(data, size, kMaxTableDepth, kMaxTables);
    if (structure != Structure::Sound || !verifier.VerifyBuffer<wire::Net>(nullptr))
        fail(Status::BadFormat, "the %zu bytes are not a model (FlatBuffers verification failed)", size);
}

void requireTexts(const WireTexts* texts, const char* what) {
    if (!texts) return;
    for (uint32_t i = 0; i < texts->size(); ++i)
        if (!texts->Get(i)) fail(Status::BadFormat, "%s: entry %u is null", what, i);
}

void verifyNet(const wire::Net& net) {
    if (vectorSize(net.oplists()) == 0) fail(Status::BadFormat, "the model has no operator list");
    if (vectorSize(net.tensorName()) == 0) fail(Status::BadFormat, "the model has no tensor names");
    if (net.tensorName()->size() > kMaxTensors)
        fail(Status::LimitExceeded, "the model has %u tensors, at most %u are accepted", net.tensorName()->size(),
             kMaxTensors);
    if (net.usage() < wire::Usage::MIN || net.usage() > wire::Usage::MAX)
        fail(Status::BadFormat, "the model has usage %d, 0 to 2 are known", static_cast<int>(net.usage()));
    if (net.sourceType() < wire::NetSource::MIN || net.sourceType() > wire::NetSource::MAX)
        fail(Status::BadFormat, "the model has source type %d, 0 to 4 are known", static_cast<int>(net.sourceType()));
    requireTexts(net.outputName(), "outputName");
}

void verifyOutputNames(const wire::Net& net) {
    if (!net.outputName()) return;
    std::set<std::string_view> names;
    for (const auto* name : *net.tensorName()) names.insert(name->string_view());
    for (const auto* name : *net.outputName())
        if (!names.count(name->string_view()))
            fail(Status::BadIndex, "output '%s' is not a tensor of the model", name->c_str());
}

}  // namespace

void OpPlace::fail(Status status, const char* text, ...) const {
    va_list args;
    va_start(args, text);
    char detail[512];
    std::vsnprintf(detail, sizeof detail, text, args);
    va_end(args);
    const char* type = opTypeName(static_cast<OpType>(op_.type()));
    const std::string number = std::to_string(static_cast<int32_t>(op_.type()));
    mnnc::fail(status, "%soperator %u '%s' (%s): %s", graph_.title.c_str(), index_, opName(),
               type ? type : number.c_str(), detail);
}

void OpPlace::refail(const Error& error) const {
    const std::string prefix = std::string("operator '") + opName() + "': ";
    const bool named = error.message().compare(0, prefix.size(), prefix) == 0;
    fail(error.status(), "%s", error.message().c_str() + (named ? prefix.size() : 0));
}

const char* OpPlace::opName() const {
    return textOr(op_.name());
}

const wire::Net* verifyModel(const uint8_t* data, size_t size) {
    if (size > kMaxModelBytes)
        fail(Status::BadFormat, "the model has %zu bytes, the format allows less than 2 GiB", size);
    if (!data) fail(Status::NullArgument, "the model has no bytes");
    if (size < 8) fail(Status::Truncated, "the model ends after %zu bytes", size);
    verifyBuffer(data, size);
    const auto* net = flatbuffers::GetRoot<wire::Net>(data);
    verifyNet(*net);

    WireGraph main;
    main.ops = net->oplists();
    main.tensors = net->tensorName();
    main.outputs = net->outputName();
    main.describes = net->extraTensorDescribe();
    main.isStatic = net->usage() == wire::Usage::INFERENCE_STATIC;
    requireTexts(main.tensors, "tensorName");
    verifyGraph(main);
    verifyOutputNames(*net);

    if (net->subgraphs())
        for (uint32_t i = 0; i < net->subgraphs()->size(); ++i) {
            const auto* proto = net->subgraphs()->Get(i);
            if (!proto || vectorSize(proto->name()) == 0) fail(Status::BadFormat, "subgraph %u has no name", i);
            WireGraph graph;
            graph.title = "subgraph '" + proto->name()->str() + "': ";
            if (vectorSize(proto->tensors()) == 0 || vectorSize(proto->nodes()) == 0 || !proto->outputs())
                fail(Status::BadFormat, "%sits tensors, nodes or outputs are missing", graph.title.c_str());
            graph.ops = proto->nodes();
            graph.tensors = proto->tensors();
            graph.inputs = proto->inputs();
            graph.describes = proto->extraTensorDescribe();
            graph.isStatic = main.isStatic;
            requireTexts(graph.tensors, graph.title.c_str());
            for (const auto* ids : {proto->inputs(), proto->outputs()})
                for (uint32_t k = 0; ids && k < ids->size(); ++k)
                    if (ids->Get(k) < 0 || static_cast<uint32_t>(ids->Get(k)) >= graph.tensors->size())
                        fail(Status::BadIndex, "%s%s %u is tensor %d, it has %u tensors", graph.title.c_str(),
                             ids == proto->inputs() ? "input" : "output", k, ids->Get(k), graph.tensors->size());
            verifyGraph(graph);
        }
    verifyCalls(*net);
    return net;
}

}  // namespace mnnc
