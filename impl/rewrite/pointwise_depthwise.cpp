#include "rewrite/pointwise_depthwise.h"

#include "ops/pointwise_depthwise.h"
#include "rewrite/tensor_uses.h"

namespace mnnc {

void joinPointwiseDepthwise(const std::vector<Command*>& commands, const Backend& backend,
                            const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners) {
    const TensorUses uses(commands, owners);
    for (size_t i = 0; i < commands.size(); ++i) {
        Command& depthwise = *commands[i];
        if (owners[i] != i || depthwise.type != OpType::ConvolutionDepthwise || !isPlain(depthwise)) continue;
        const TensorUses::Use& between = uses.of(depthwise.inputs[0]);
        if (between.makers != 1 || between.readers != 1 || between.maker >= i || kept(depthwise.inputs[0]))
            continue;
        const Command& pointwise = *commands[between.maker];
        if (pointwise.type != OpType::Convolution || !isPlain(pointwise)) continue;
        if (uses.of(pointwise.inputs[0]).makers > 1) continue;  // it will be read later than before
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
