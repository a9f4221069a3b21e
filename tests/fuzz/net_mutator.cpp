#include "net_mutator.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mnn_objects_generated.h"
#include "model/structure.h"
#include "net_edits.h"
#include "net_input.h"
#include "random.h"
#include "table_edits.h"
#include "target.h"

namespace fuzz {

namespace {

namespace wire = mnnc::wire;

bool wellFormed(std::span<const uint8_t> bytes) {
    if (bytes.size() < 8 || mnnc::walkStructure(bytes.data(), bytes.size()) != mnnc::Structure::Sound) return false;
    flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 64, 100000);
    return verifier.VerifyBuffer<wire::Net>(nullptr);
}

// Parameters with a type but without a table cannot be packed again. The commands of a loop are operators, too.
void dropLostParameters(wire::OpT& op) {
    if (!op.main.value) op.main.Reset();
    wire::LoopParamT* loop = op.main.AsLoopParam();
    if (!loop) return;
    for (auto* commands : {&loop->commands, &loop->initCommand})
        for (auto& command : *commands)
            if (command->op) dropLostParameters(*command->op);
}

void dropLostParameters(std::vector<std::unique_ptr<wire::OpT>>& ops) {
    for (auto& op : ops) dropLostParameters(*op);
}

std::unique_ptr<wire::NetT> unpack(std::span<const uint8_t> bytes) {
    std::unique_ptr<wire::NetT> net(flatbuffers::GetRoot<wire::Net>(bytes.data())->UnPack());
    dropLostParameters(net->oplists);
    for (auto& body : net->subgraphs) dropLostParameters(body->nodes);
    return net;
}

// Every field is written, so that each of them can be edited.
std::vector<uint8_t> pack(const wire::NetT& net) {
    flatbuffers::FlatBufferBuilder builder(4096);
    builder.ForceDefaults(true);
    builder.Finish(wire::Net::Pack(builder, &net));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

void editBytes(std::vector<uint8_t>& bytes, size_t maxSize, Random& random) {
    if (bytes.empty()) bytes.push_back(0);
    if (random.oneIn(2)) {
        for (size_t k = 1 + random.below(4); k > 0; --k)
            bytes[random.below(bytes.size())] ^= static_cast<uint8_t>(1u << random.below(8));
        return;
    }
    const size_t size = bytes.size();
    bytes.resize(std::max(size, std::min(maxSize, size + 64)));
    bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
}

size_t put(const NetInput& input, uint8_t* out, size_t maxSize) {
    const std::vector<uint8_t> bytes = joinInput(input);
    if (bytes.size() > maxSize) return 0;
    std::memcpy(out, bytes.data(), bytes.size());
    return bytes.size();
}

struct Parts {
    std::vector<uint8_t> model, weights;
    Settings settings;

    explicit Parts(const NetInput& input)
        : model(input.model.begin(), input.model.end()),
          weights(input.weights.begin(), input.weights.end()),
          settings(input.settings) {}
    NetInput joined() const { return {model, weights, settings}; }
};

// Returns one of the last inputs that ran.
class KeptNets {
  public:
    void add(std::vector<uint8_t> input) {
        if (inputs_.size() < kMax)
            inputs_.push_back(std::move(input));
        else
            inputs_[next_++ % kMax] = std::move(input);
    }
    bool empty() const { return inputs_.empty(); }
    const std::vector<uint8_t>& pick(Random& random) { return random.pick(inputs_); }

  private:
    static constexpr size_t kMax = 256;
    std::vector<std::vector<uint8_t>> inputs_;
    size_t next_ = 0;
};

KeptNets& keptNets() {
    static KeptNets nets;
    return nets;
}

void editNet(Parts& parts, std::span<const uint8_t> spareBytes, size_t maxSize, Random& random) {
    const auto net = unpack(parts.model);
    const auto spare = unpack(spareBytes);
    const bool structure = random.oneIn(2);
    for (size_t k = structure ? 1 + random.below(3) : 0; k > 0; --k) editStructure(*net, *spare, parts.weights, random);
    parts.model = pack(*net);
    if (!structure || random.oneIn(4)) editTables(parts.model, 1 + random.below(4), random);
    if (random.oneIn(24)) editBytes(parts.model, maxSize, random);
}

// Makes one change, or none except of the settings.
void editLittle(Parts& parts, Random& random) {
    if (random.oneIn(6)) return;
    if (!parts.weights.empty() && random.oneIn(8)) {
        random.pick(parts.weights) ^= static_cast<uint8_t>(1u << random.below(8));
        return;
    }
    if (random.oneIn(2)) {
        editTables(parts.model, 1, random);
        return;
    }
    const auto net = unpack(parts.model);
    editStructure(*net, *net, parts.weights, random);
    parts.model = pack(*net);
}

void editSettings(Settings& settings, Random& random) {
    const uint64_t bits = random.next();
    std::memcpy(settings.data() + (random.oneIn(2) ? 8 : 0), &bits, sizeof bits);
}

}  // namespace

void keepNet(const uint8_t* data, size_t size) {
    keptNets().add({data, data + size});
}

size_t mutateNet(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
    Random random(seed);
    if (!keptNets().empty() && random.oneIn(2)) {
        const std::vector<uint8_t>& kept = keptNets().pick(random);
        Parts parts(splitInput(kept.data(), kept.size()));
        if (random.oneIn(3)) editSettings(parts.settings, random);
        editLittle(parts, random);
        const size_t made = put(parts.joined(), data, maxSize);
        if (made) return made;
    }
    Parts parts(splitInput(data, size));
    if (random.oneIn(3)) editSettings(parts.settings, random);
    if (!parts.weights.empty() && random.oneIn(6))
        editBytes(parts.weights, maxSize, random);
    else if (wellFormed(parts.model))
        editNet(parts, splitInput(data, size).model, maxSize, random);
    else
        editBytes(parts.model, maxSize, random);
    const size_t made = put(parts.joined(), data, maxSize);
    return made ? made : LLVMFuzzerMutate(data, size, maxSize);
}

size_t crossNets(const uint8_t* first, size_t firstSize, const uint8_t* second, size_t secondSize, uint8_t* out,
                 size_t maxSize, unsigned seed) {
    Random random(seed);
    Parts parts(splitInput(first, firstSize));
    const NetInput other = splitInput(second, secondSize);
    if (!wellFormed(parts.model) || !wellFormed(other.model)) return 0;
    if (parts.weights.empty()) parts.weights.assign(other.weights.begin(), other.weights.end());
    const auto net = unpack(parts.model);
    const auto spare = unpack(other.model);
    for (size_t k = 1 + random.below(3); k > 0; --k) editStructure(*net, *spare, parts.weights, random);
    parts.model = pack(*net);
    return put(parts.joined(), out, maxSize);
}

}  // namespace fuzz
