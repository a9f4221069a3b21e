#include "rewrite/pointwise_depthwise.h"

#include <unordered_map>

#include "ops/pointwise_depthwise.h"

namespace mnnc {

namespace {

constexpr size_t kNone = SIZE_MAX;

// One float in, one float out, nothing added.
bool isPlain(const Command& command) {
    return command.params && command.inputs.size() == 1 && command.outputs.size() == 1 &&
           !command.epilogue.residual && command.views.empty() &&
           command.inputs[0]->type == DataType::Float32 && command.outputs[0]->type == DataType::Float32;
}

}  // namespace

void joinPointwiseDepthwise(const std::vector<Command*>& commands, const Backend& backend,
                            const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners) {
    struct Use {
        size_t maker = kNone;
        int makers = 0, readers = 0;
    };
    std::unordered_map<const Tensor*, Use> uses;
    for (size_t i = 0; i < commands.size(); ++i) {
        if (owners[i] != i) continue;
        for (const Tensor* output : commands[i]->outputs) {
            uses[output].maker = i;
            ++uses[output].makers;
        }
        for (const Tensor* input : commands[i]->inputs) ++uses[input].readers;
    }
    for (size_t i = 0; i < commands.size(); ++i) {
        Command& depthwise = *commands[i];
        if (owners[i] != i || depthwise.type != OpType::ConvolutionDepthwise || !isPlain(depthwise)) continue;
        const Use& between = uses.at(depthwise.inputs[0]);
        if (between.makers != 1 || between.readers != 1 || between.maker >= i || kept(depthwise.inputs[0]))
            continue;
        const Command& pointwise = *commands[between.maker];
        if (pointwise.type != OpType::Convolution || !isPlain(pointwise)) continue;
        if (uses.at(pointwise.inputs[0]).makers > 1) continue;  // it will be read later than before
        Command joined;
        joined.type = OpType::PointwiseDepthwise;
        joined.name = depthwise.name;
        joined.inputs = pointwise.inputs;
        joined.outputs = depthwise.outputs;
        auto params = std::make_shared<PointwiseDepthwiseParams>();
        params->pointwise = pointwise;
        params->depthwise = depthwise;
        joined.params = std::move(params);
        if (!backend.canFuse(joined)) continue;
        depthwise = std::move(joined);
        owners[between.maker] = i;
    }
}

}  // namespace mnnc
