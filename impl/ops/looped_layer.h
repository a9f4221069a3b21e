// A recurrent layer that a converter wrote as a convolution of all inputs and a loop over a convolution of the state
// (rewrite_recurrent_loops.cpp); it becomes one LSTM or RNNSequenceGRU.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "ops/convolution.h"
#include "tensor/stored_content.h"

namespace mnnc {

// The weights of a 1 x 1 convolution, [outputs][inputs], which are read on demand.
class ConvolutionContent final : public StoredContent {
  public:
    ConvolutionContent(std::shared_ptr<const ConvParams> params, std::string name)
        : params_(std::move(params)), name_(std::move(name)) {}
    std::shared_ptr<const void> load() const override;
    FloatSource floats() const override;
    FloatView bias() const { return params_->bias(params_->outputCount, name_.c_str()); }
    int64_t inputs() const noexcept { return params_->inputCount; }
    int64_t outputs() const noexcept { return params_->outputCount; }

  private:
    const std::shared_ptr<const ConvParams> params_;
    const std::string name_;
    mutable std::mutex mutex_;
    mutable std::weak_ptr<const void> loaded_;
};

// Operands of the node: the sequence [steps, batch, inputs], the first states and, for an LSTM, the first cell states,
// with the values of one row or of all rows of the batch. Results: all states, the last ones and, for an LSTM, the last
// cell states, each with the shape that the loop produces.
struct LoopedLayer {
    // Rows in the order of ONNX: LSTM i, o, f, c; GRU z, r, h.
    std::shared_ptr<const ConvolutionContent> inputs, states;
    // Runs from the last step to the first; the results are in the order in which they are computed.
    bool backwards = false;
};

// Returns a constant tensor with values from the model.
Tensor* modelConstant(const OpContext& context, const Shape& shape, const std::vector<float>& values);

void shapeLoopedLayer(const ShapeContext& context);
void geometryLoopedLayer(const OpContext& context);
double loopedLayerFlops(const ShapeContext& context);

}  // namespace mnnc
