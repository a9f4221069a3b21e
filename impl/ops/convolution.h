// Parameters and window arithmetic of the 2-D convolutions and deconvolutions, including int8 ones. Weights stay in the
// model's bytes until an execution reads them.
#pragma once
#include <vector>

#include "ir/epilogue.h"
#include "model/stored_floats.h"
#include "model/weight_codes.h"
#include "ops/op_def.h"

namespace mnnc {

// Limits of the extents of a window (kernel, stride, dilation) and of pads, in one axis.
constexpr int kMaxWindowExtent = 1 << 20, kMaxPad = 1 << 28;

enum class ConvPad : uint8_t { Explicit = 0, Valid = 1, Same = 2 };

// The file's description of a convolution over int8 codes.
struct ConvInt8Info {
    bool codes = false;        // the weights exist only as codes with one scale per output channel
    bool minima = false;       // and with one minimum per output channel
    bool folded = false;       // old form: an integer bias and a factor contain zero points and scales
    bool floatOutput = false;  // the result is not converted back to int8
    float scaleIn = 0, scaleOut = 0;
    int zeroIn = 0, zeroOut = 0, min = -128, max = 127;
};
// Scales of the old form, per output channel.
struct FoldedScales {
    std::vector<int32_t> bias;
    std::vector<float> scale;
};

// Refers to the bytes of the model it was parsed from and must not outlive them.
struct ConvParams : ParamsOf<ConvParams> {
    int kernelX = 1, kernelY = 1;
    int strideX = 1, strideY = 1;
    int dilateX = 1, dilateY = 1;
    ConvPad padMode = ConvPad::Explicit;
    int padX = 0, padY = 0;
    std::vector<int> pads;     // empty, [top, left], or [top, left, bottom, right]
    std::vector<int> outPads;  // empty, or [height, width]
    int group = 1;
    int inputCount = 0;   // 0: the file has none
    int outputCount = 0;  // 0: the tensor of the weights gives it; a file may state it for such weights, too
    Epilogue epilogue;    // the clamp of the file's ReLU or ReLU6; the geometry moves it to the command
    bool hasOutputShape = false;

    const Model* model = nullptr;  // null: the parameters belong to no model
    const wire::Op* op = nullptr;
    const wire::Convolution2D* table = nullptr;
    int64_t storedWeights = -1;  // the number of weights in the file; -1: none, or known only after decoding

    // The convolutions of the file that a rewrite joined to this one, one per group in order (op and table are null
    // then); empty: the convolution is one operator of the file.
    std::vector<std::shared_ptr<const ConvParams>> parts;

    // Returns the number of the operator's inputs without the output shape of a deconvolution: 1, or 2 to 3 with
    // weights as tensors. (A command of the operator has no output-shape input.)
    int tensorInputs(size_t inputCountOfOp) const {
        return static_cast<int>(inputCountOfOp) - (hasOutputShape ? 1 : 0);
    }
    int64_t modelBytes() const;  // of the whole model and its file of weights; 0: no model
    FloatView weights(int64_t expectedCount, int64_t outputChannels, const char* name) const;
    // The same weights, read in pieces.
    FloatSource weightSource(int64_t expectedCount, int64_t outputChannels, const char* name) const;
    FloatView bias(int64_t outputChannels, const char* name) const;
    // Returns the weights as the codes that the file stores; quantizedForm() is empty where they are stored otherwise,
    // or come from several operators.
    std::optional<QuantizedForm> quantizedForm(int64_t expectedCount, int64_t outputChannels, const char* name) const;
    QuantizedWeights quantizedWeights(int64_t expectedCount, int64_t outputChannels, const char* name) const;
    // The same codes, read in parts.
    QuantizedSource quantizedSource(int64_t expectedCount, int64_t outputChannels, const char* name) const;

    ConvInt8Info int8;
    FoldedScales foldedScales(int64_t outputChannels, const char* name) const;

  private:
    WeightFiles files() const;
};

// Returns whether two convolutions differ in nothing but their weights and biases.
inline bool sameButWeights(const ConvParams& a, const ConvParams& b) {
    return a.kernelX == b.kernelX && a.kernelY == b.kernelY && a.strideX == b.strideX && a.strideY == b.strideY &&
           a.dilateX == b.dilateX && a.dilateY == b.dilateY && a.padMode == b.padMode && a.padX == b.padX &&
           a.padY == b.padY && a.pads == b.pads && a.outPads == b.outPads && a.group == b.group &&
           a.inputCount == b.inputCount && a.outputCount == b.outputCount && a.hasOutputShape == b.hasOutputShape &&
           a.int8.scaleIn == b.int8.scaleIn && a.int8.zeroIn == b.int8.zeroIn && a.epilogue.lo == b.epilogue.lo &&
           a.epilogue.hi == b.epilogue.hi;
}

// Reads the table of a 2-D convolution, or of an operator with the same table.
ParamsPtr parseConvolution(const wire::Op& op, const ParseContext& context);

// The geometry of one convolution over known extents; all values fit an int.
struct ConvWindow {
    int64_t batch = 0, ic = 0, ih = 0, iw = 0, oc = 0, oh = 0, ow = 0;
    int64_t kh = 1, kw = 1;
    int64_t groups = 1;
    int64_t padTop = 0, padLeft = 0;  // negative: the first rows are skipped
    int64_t weightCount = 0;
};

// `input`: [n, c, spatial...]. `weight`: the weight tensor or null. `outputSize`: height and width when they are given
// (by an output-shape input, or because the output already has its shape), or null. Throws Error naming `name`.
ConvWindow convWindow(OpType type, const ConvParams& params, const Shape& input, const Tensor* weight,
                      const int64_t* outputSize, const char* name);

inline bool isDeconvolution(OpType type) {
    return type == OpType::Deconvolution || type == OpType::DeconvolutionDepthwise;
}
inline bool isDepthwise(OpType type) {
    return type == OpType::ConvolutionDepthwise || type == OpType::DeconvolutionDepthwise ||
           type == OpType::DepthwiseConvInt8;
}
inline bool isInt8Convolution(OpType type) {
    return type == OpType::ConvInt8 || type == OpType::DepthwiseConvInt8;
}

}  // namespace mnnc
