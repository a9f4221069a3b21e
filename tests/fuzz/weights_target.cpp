// The decoders of weights and constants, over the tables of a net of which only the structure is verified, and over a
// raw stream: the weight file's bytes, or everything.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "base/error.h"
#include "memory_file.h"
#include "mnn_objects_generated.h"
#include "model/const_data.h"
#include "model/external_file.h"
#include "model/idst_stream.h"
#include "model/table_arrays.h"
#include "model/weight_codes.h"
#include "model/weight_form.h"
#include "model/weights.h"
#include "net_input.h"
#include "target.h"

namespace {

using namespace mnnc;

constexpr int64_t kMaxWeights = 1 << 20;

struct Counters {
    size_t executions = 0, decoded = 0, refused = 0;
    ~Counters() {
        if (executions > 1)
            std::fprintf(stderr, "weights: %zu executions, %zu arrays decoded, %zu refused\n", executions, decoded,
                         refused);
    }
};
Counters counters;

// Decoders refuse with an Error whose sentence reports no defect.
template <typename Action>
void attempt(Action action) {
    try {
        action();
        ++counters.decoded;
    } catch (const Error& error) {
        ++counters.refused;
        if (error.status() == Status::Internal || error.status() == Status::OutOfMemory || error.message().empty()) {
            std::fprintf(stderr, "%s\n", error.message().c_str());
            std::abort();
        }
    }
}

void decode(const wire::Convolution2D& conv, const ExternalFile* file) {
    int64_t count = 0;
    attempt([&] { count = convWeightCount(conv, file, "op"); });
    if (count > kMaxWeights) return;  // a session refuses to plan for these
    const int64_t outputs = conv.common() ? conv.common()->outputCount() : 1;
    if (outputs < 1 || outputs > kMaxWeights) return;  // refused when a model is loaded
    attempt([&] { convScalesPerOutput(conv); });
    attempt([&] { convHasMinima(conv); });
    attempt([&] { quantizedForm(conv, count, outputs, file, "op"); });
    attempt([&] { decodeQuantizedWeights(conv, count, outputs, file, "op"); });
    attempt([&] {
        QuantizedSource source(conv, count, outputs, file, "op");
        int8_t all = 0;
        for (int64_t o = 0; o < outputs; ++o)
            for (const int8_t code : source.part(o, 1).codes) all = static_cast<int8_t>(all | code);
        const int64_t each = count / outputs;
        for (const int bits : {4, 8})
            for (int64_t o = 0; o < outputs && each * bits % 8 == 0; ++o) {
                const uint8_t* stored = source.storedPart(o, 1, bits).stored;
                for (int64_t i = 0; i < each * bits / 8; ++i) all = static_cast<int8_t>(all | stored[i]);
            }
        if (all != 0 && count == 0) std::abort();  // reads every byte
    });
    attempt([&] { decodeConvWeights(conv, count, outputs, file, "op"); });
    attempt([&] { decodeConvWeights(conv, count + 1, outputs, file, "op"); });
    attempt([&] { convBias(conv, outputs, file, "op"); });
}

void decode(const wire::Blob& blob, const ExternalFile* file) {
    attempt([&] { checkBlob(blob, "op"); });
    attempt([&] {
        const ConstData data = decodeBlob(blob, file, "op");
        uint8_t all = 0;
        for (const uint8_t byte : data.bytes) all = static_cast<uint8_t>(all | byte);
        if (all != 0 && data.count == 0) std::abort();  // reads every byte
    });
}

void decodeOps(const flatbuffers::Vector<flatbuffers::Offset<wire::Op>>* ops, const ExternalFile* file) {
    if (!ops) return;
    for (const wire::Op* op : *ops) {
        if (const auto* conv = op->main_as_Convolution2D()) decode(*conv, file);
        if (const auto* blob = op->main_as_Blob()) decode(*blob, file);
        if (const auto* scale = op->main_as_Scale()) attempt([&] { scaleArrays(*scale, file, "op"); });
        if (const auto* norm = op->main_as_LayerNorm()) attempt([&] { layerNormArrays(*norm, file, "op"); });
    }
}

void decodeStream(std::span<const uint8_t> stream, bool wideDims) {
    int64_t count = 0;
    attempt([&] { count = readIdstHead(stream, wideDims, "op").count; });
    attempt([&] { codebookFitsNibbles(stream, wideDims, "op"); });
    attempt([&] { decodeCodebook(stream, wideDims, "op"); });
    const std::vector<float> alpha(static_cast<size_t>(count < 64 ? count * 2 : 2), 0.25f);
    attempt([&] { decodeSparseCodebook(stream, wideDims, alpha, kMaxWeights, "op"); });
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const fuzz::NetInput input = fuzz::splitInput(data, size);
    ++counters.executions;
    const std::vector<uint8_t> weights(input.weights.begin(), input.weights.end());
    decodeStream(weights.empty() ? std::span(data, size) : std::span(weights), input.settings[0] % 2);
    const std::vector<uint8_t> model(input.model.begin(), input.model.end());
    flatbuffers::Verifier verifier(model.data(), model.size(), 64, 100000);
    if (model.size() < 8 || !verifier.VerifyBuffer<wire::Net>(nullptr)) return 0;
    std::unique_ptr<ExternalFile> file;
    static fuzz::MemoryFile weightFile;
    if (!weights.empty()) {
        weightFile.set(weights.data(), weights.size());
        file = std::make_unique<ExternalFile>(weightFile.path());
    }
    const auto* net = flatbuffers::GetRoot<wire::Net>(model.data());
    decodeOps(net->oplists(), file.get());
    if (net->subgraphs())
        for (const auto* body : *net->subgraphs()) decodeOps(body->nodes(), file.get());
    return 0;
}
