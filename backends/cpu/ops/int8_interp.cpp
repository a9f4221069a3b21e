// Interp over int8 tensors, channel-packed: nearest neighbours are copied and requantised to the result's scale, linear
// ones are weighted in float.
#include <cstring>

#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/kernels/plane_cut.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/resizer.h"

namespace mnnc::cpu {

namespace {

class Int8Interp final : public Execution {
  public:
    Int8Interp(CpuBackend& backend, const Command& command)
        : backend_(backend), kernels_(*backend.kernels().int8), command_(command) {}

    void prepare() override {
        resizer_.plan(backend_.kernels(), command_);
        const Operand& x = *command_.inputs[0];
        blocks_ = checkedMul(x.batch(), ceilDiv(x.shape.at(1), int64_t{kernels_.lanes}), "channel blocks");
        linear_ = command_.paramsAs<InterpCommand>().type == ResizeType::Linear;
        const TensorQuant from = quantOf(x), to = quantOf(*command_.outputs[0]);
        args_ = {};
        args_.index = resizer_.columns().index.data();
        args_.weight = resizer_.columns().weight.data();
        args_.outputs = static_cast<int>(resizer_.rowFloats() / kernels_.lanes);
        args_.zeroIn = from.zero;
        args_.ratio = from.scale / to.scale;
        args_.zero = to.zero;
        args_.lo = to.min;
        args_.hi = to.max;
    }

    void run(const Frame& frame) const override {
        const auto* src = frame.data<const int8_t>(*command_.inputs[0]);
        auto* dst = frame.data<int8_t>(*command_.outputs[0]);
        const int64_t rows = resizer_.rows(), length = resizer_.rowFloats();
        const bool byPixels = sharedByPixels(rows * length / kernels_.lanes, command_.inputs[0]->shape.at(1));
        forPlaneRows(frame.pool(), blocks_, rows, byPixels, [&](int64_t block, int64_t begin, int64_t end) {
            for (int64_t y = begin; y < end; ++y)
                makeRow(src + block * resizer_.sourceFloats(), y, dst + (block * rows + y) * length);
        });
    }

    std::string algorithm() const override { return linear_ ? "int8 linear" : "int8 nearest"; }

  private:
    void makeRow(const int8_t* src, int64_t row, int8_t* dst) const {
        int64_t offsets[Resizer::kMaxRows];
        const int8_t* rows[Resizer::kMaxRows];
        float weights[Resizer::kMaxRows];
        const int count = resizer_.rowsOf(row, offsets, weights);
        for (int i = 0; i < count; ++i) rows[i] = src + offsets[i];
        if (linear_) {
            Int8ResizeArgs args = args_;
            args.rows = rows;
            args.rowWeights = weights;
            args.rowCount = count;
            args.dst = dst;
            return kernels_.resizeLinear(args);
        }
        switch (kernels_.lanes) {
            case 16:
                return copyColumns<16>(rows[0], dst);
            case 8:
                return copyColumns<8>(rows[0], dst);
            default:
                return copyColumns<4>(rows[0], dst);
        }
    }

    template <int P>
    void copyColumns(const int8_t* row, int8_t* dst) const {
        for (int x = 0; x < args_.outputs; ++x) std::memcpy(dst + int64_t{x} * P, row + int64_t{args_.index[x]} * P, P);
    }

    CpuBackend& backend_;
    const Int8Kernels& kernels_;
    Command command_;
    Resizer resizer_;
    Int8ResizeArgs args_{};
    bool linear_ = false;
    int64_t blocks_ = 0;
};

}  // namespace

// Nearest neighbours also need one scale on both sides, see createInt8Interp(); the plan arranges that where it can.
bool quantizesInterp(const Command& command) {
    const auto* params = command.paramsIf<InterpCommand>();
    const Operand& out = *command.outputs[0];
    return params && command.inputs.size() == 1 && params->type != ResizeType::Cubic && out.format != Format::NHWC &&
           out.shape.rank() >= 2 && out.shape.rank() <= 5;
}

std::unique_ptr<Execution> createInt8Interp(CpuBackend& backend, const Command& command, std::string& reason) {
    const auto* params = command.paramsIf<InterpCommand>();
    const Operand &in = *command.inputs[0], &out = *command.outputs[0];
    const bool scales = (params && params->type == ResizeType::Linear) || quantOf(in).sameStep(quantOf(out));
    if (!quantizesInterp(command) || !scales || out.type != DataType::Int8)
        return refuse(reason, format("%s: such a resizing of int8 is not implemented", command.name.c_str()));
    return std::make_unique<Int8Interp>(backend, command);
}

}  // namespace mnnc::cpu
