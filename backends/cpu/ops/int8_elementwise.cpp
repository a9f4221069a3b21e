// Element-wise operators over int8 tensors: ReLU and ReLU6 by a table; sums, differences and products of equal shapes;
// sums and products with one float per channel, and PReLU.
#include <algorithm>
#include <cmath>

#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/split.h"
#include "ops/activation.h"
#include "ops/binary.h"

namespace mnnc::cpu {

namespace {

// Returns what quantOf() does, but with integers as zero point and limits: kernels need them, files may have others.
TensorQuant wholeQuantOf(const Operand& tensor) {
    TensorQuant quant = quantOf(tensor);
    quant.zero = std::round(quant.zero);
    quant.min = std::ceil(quant.min);
    quant.max = std::floor(quant.max);
    return quant;
}

class Int8BinaryExecution final : public CommandExecution {
  public:
    Int8BinaryExecution(CpuBackend& backend, const Command& command) : CommandExecution(command), backend_(backend) {
        const TensorQuant a = quantOf(in(0)), b = quantOf(in(1)), y = wholeQuantOf(out());
        const auto& binary = params<BinaryParams>();
        args_.op = binary.code == kBinaryAdd   ? Int8Binary::Add
                   : binary.code == kBinarySub ? Int8Binary::Sub
                                               : Int8Binary::Mul;
        args_.scaleA = a.scale;
        args_.zeroA = a.zero;
        args_.scaleB = b.scale;
        args_.zeroB = b.zero;
        args_.inverse = 1.0f / y.scale;
        args_.zero = y.zero;
        args_.lo = binary.relu ? std::max(y.min, y.zero) : y.min;
        args_.hi = y.max;
    }

    void run(const Frame& frame) const override {
        forStorage(frame.pool(), out(), [&](int64_t begin, int64_t end) {
            backend_.kernels().int8->binary(inData<int8_t>(frame, 0) + begin, inData<int8_t>(frame, 1) + begin,
                                            outData<int8_t>(frame) + begin, static_cast<size_t>(end - begin), args_);
        });
    }

    std::string algorithm() const override { return "int8"; }
    uint32_t inPlaceInputs(size_t) const override { return 3; }

  private:
    CpuBackend& backend_;
    Int8BinaryArgs args_{};
};

// y = x * f or x + f with a float for each channel, and perhaps each picture (the gates of squeeze-and-excite); or y =
// x < 0 ? x * f : x with a constant f for each channel.
class Int8ByChannel final : public CommandExecution {
  public:
    Int8ByChannel(CpuBackend& backend, const Command& command)
        : CommandExecution(command), backend_(backend), codes_(command.inputs[0]->type == DataType::Int8 ? 0 : 1) {
        const TensorQuant x = quantOf(in(codes_)), y = wholeQuantOf(out());
        if (const auto* prelu = command.paramsIf<PReluParams>()) slopes_ = &prelu->slopes;
        const auto* binary = command.paramsIf<BinaryParams>();
        product_ = !binary || binary->code == kBinaryMul;
        kernel_ = slopes_ ? backend.kernels().int8->leaky : backend.kernels().int8->affine;
        args_.scaleIn = x.scale;
        args_.zeroIn = x.zero;
        args_.inverse = 1.0f / y.scale;
        args_.zero = y.zero;
        args_.lo = binary && binary->relu ? std::max(y.min, y.zero) : y.min;
        args_.hi = y.max;
    }

    void run(const Frame& frame) const override {
        const Operand& y = out();
        const int64_t channels = y.shape[1], plane = y.plane(), lanes = backend_.kernels().lanes;
        const bool packed = y.channelBlock > 1;
        const int64_t rows = packed ? ceilDiv(channels, lanes) : channels;
        forRows(frame.pool(), y.batch() * rows, plane * (packed ? lanes : 1), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i)
                packed ? packedRow(frame, i / rows, i % rows, i) : plainRow(frame, i / rows, i % rows, i);
        });
    }

    std::string algorithm() const override { return "int8 by channel"; }
    uint32_t inPlaceInputs(size_t) const override { return 1u << codes_; }

  private:
    float valueAt(const Frame& frame, int64_t n, int64_t channel) const {
        if (slopes_) return (*slopes_)[static_cast<size_t>(channel)];
        const Operand& small = in(1 - codes_);
        const int64_t channels = out().shape[1], block = small.channelBlock,
                      stored = block > 1 ? roundUp(channels, block) : channels;
        const bool each = small.elements() > channels;  // every picture has its own floats
        return inData<float>(frame, 1 - codes_)[(each ? n * stored : 0) + channel];
    }
    Int8AffineArgs argsOf(const float* values, const float* neutral) const {
        Int8AffineArgs args = args_;
        args.factor = product_ ? values : neutral;
        args.term = product_ ? neutral : values;
        return args;
    }

    void packedRow(const Frame& frame, int64_t n, int64_t block, int64_t row) const {
        const int64_t lanes = backend_.kernels().lanes, plane = out().plane();
        float values[kMaxLanes] = {}, neutral[kMaxLanes];
        std::fill_n(neutral, kMaxLanes, product_ ? 0.0f : 1.0f);
        for (int64_t l = 0; l < std::min(lanes, out().shape[1] - block * lanes); ++l)
            values[l] = valueAt(frame, n, block * lanes + l);
        kernel_(inData<int8_t>(frame, codes_) + row * plane * lanes, outData<int8_t>(frame) + row * plane * lanes,
                static_cast<size_t>(plane), argsOf(values, neutral));
    }

    void plainRow(const Frame& frame, int64_t n, int64_t channel, int64_t row) const {
        const int64_t lanes = backend_.kernels().lanes, plane = out().plane(), blocks = plane / lanes,
                      rest = plane % lanes;
        float values[kMaxLanes], neutral[kMaxLanes];
        std::fill_n(neutral, kMaxLanes, product_ ? 0.0f : 1.0f);
        std::fill_n(values, kMaxLanes, valueAt(frame, n, channel));
        const Int8AffineArgs args = argsOf(values, neutral);
        const int8_t* x = inData<int8_t>(frame, codes_) + row * plane;
        int8_t* y = outData<int8_t>(frame) + row * plane;
        kernel_(x, y, static_cast<size_t>(blocks), args);
        if (rest == 0) return;
        int8_t tail[kMaxLanes] = {};
        std::copy_n(x + blocks * lanes, rest, tail);
        kernel_(tail, tail, 1, args);
        std::copy_n(tail, rest, y + blocks * lanes);
    }

    CpuBackend& backend_;
    const size_t codes_;  // the input that is int8
    const std::vector<float>* slopes_ = nullptr;
    bool product_ = false;
    decltype(Int8Kernels::affine) kernel_;
    Int8AffineArgs args_{};
};

// Returns the operand that has one value for each channel of the other one, and perhaps for each picture; -1: none.
int channelOperand(const Command& command) {
    const Shape& y = command.outputs[0]->shape;
    for (const size_t i : {size_t{1}, size_t{0}}) {
        const Shape &small = command.inputs[i]->shape, &big = command.inputs[1 - i]->shape;
        if (!(big == y) || small.rank() != y.rank() || y.rank() < 2 || small[1] != y[1]) continue;
        if ((small[0] == 1 || small[0] == y[0]) && small.elements() == small[0] * small[1]) return static_cast<int>(i);
    }
    return -1;
}

}  // namespace

std::unique_ptr<Execution> createInt8Activation(CpuBackend& backend, const Command& command, std::string& reason) {
    if (!quantizesActivation(command))
        return refuse(reason, format("%s over int8 is not implemented", opTypeName(command.type)));
    if (command.type == OpType::PReLU) return std::make_unique<Int8ByChannel>(backend, command);
    float values[kCodes];
    valuesOfCodes(quantOf(*command.inputs[0]), values);
    for (float& x : values) {
        if (command.type == OpType::ReLU) {
            x = std::max(x, 0.0f);
        } else {
            const auto& clip = command.paramsAs<ClipParams>();
            x = std::min(std::max(x, clip.lo), clip.hi);
        }
    }
    return createInt8Table(backend, command, 0, values);
}

bool quantizesActivation(const Command& command) {
    if (const auto* prelu = command.paramsIf<PReluParams>()) {
        const Operand& y = *command.outputs[0];
        return y.format != Format::NHWC && y.shape.rank() >= 2 &&
               prelu->slopes.size() == static_cast<size_t>(y.shape[1]);
    }
    if (command.type == OpType::ReLU) return command.params && command.paramsAs<ReluParams>().slope == 0;
    return command.type == OpType::ReLU6 && command.params;
}

std::unique_ptr<Execution> createInt8Binary(CpuBackend& backend, const Command& command, std::string& reason) {
    const DataType a = command.inputs[0]->type, b = command.inputs[1]->type;
    const bool made = command.outputs[0]->type == DataType::Int8;
    const int small = channelOperand(command);
    if (made && a != b && small >= 0 && command.inputs[static_cast<size_t>(small)]->type == DataType::Float32 &&
        quantizesBinary(command))
        return std::make_unique<Int8ByChannel>(backend, command);
    const bool equal = command.inputs[0]->shape == command.inputs[1]->shape;
    if (!made || !equal || a != DataType::Int8 || b != DataType::Int8 || !quantizesBinary(command))
        return refuse(reason,
                      format("op '%s': such a binary operation over int8 is not implemented", command.name.c_str()));
    return std::make_unique<Int8BinaryExecution>(backend, command);
}

bool quantizesBinary(const Command& command) {
    const auto* params = &command.paramsAs<BinaryParams>();
    const Operand& out = *command.outputs[0];
    if (command.operands() != 2 || params->code < kBinaryAdd || params->code > kBinaryMul) return false;
    const bool equal = std::all_of(command.inputs.begin(), command.inputs.end(),
                                   [&](const Operand* input) { return input->shape == out.shape; });
    // NCHW and NC4HW4 name the same order of elements: passes exchange tensors of one for those of the other.
    const bool sameOrder = std::all_of(command.inputs.begin(), command.inputs.end(), [&](const Operand* input) {
        return (input->format == Format::NHWC) == (out.format == Format::NHWC);
    });
    return sameOrder &&
           (equal || (params->code != kBinarySub && out.format != Format::NHWC && channelOperand(command) >= 0));
}

}  // namespace mnnc::cpu
