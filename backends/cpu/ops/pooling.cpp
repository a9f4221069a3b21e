// Max and average pooling on channel-packed tensors, in up to three axes. Work is cut into rows of outputs of one
// channel block; the results do not depend on the thread that computes a row.
#include "ops/pooling.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/plane_cut.h"
#include "backends/cpu/kernels/resample/pooling.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/pool_axis.h"

namespace mnnc::cpu {

namespace {

class PoolExecution final : public Execution {
  public:
    PoolExecution(CpuBackend& backend, const Command& command)
        : kernels_(poolKernels(backend.kernels().id)), command_(command) {}

    void prepare() override {
        const PoolParams& params = command_.paramsAs<PoolParams>();
        const Operand& x = *command_.inputs[0];
        average_ = params.average;
        window_ = poolWindow(params, x.shape, command_.name.c_str());
        for (int i = 0; i < 3; ++i) tables_[i] = AxisTable(window_.axis[i], average_);
        inPlane_ = outPlane_ = 1;
        for (const PoolAxis& axis : window_.axis) {
            inPlane_ = checkedMul(inPlane_, axis.in, "pooled plane");
            outPlane_ = checkedMul(outPlane_, axis.out, "pooled plane");
        }
        blocks_ = checkedMul(x.batch(), ceilDiv(x.shape.at(1), int64_t{kernels_.lanes}), "channel blocks");
        rows_ = static_cast<int64_t>(window_.axis[0].out) * window_.axis[1].out;
    }

    void run(const Frame& frame) const override {
        const bool byPixels = sharedByPixels(outPlane_, command_.inputs[0]->shape.at(1));
        forPlaneRows(frame.pool(), blocks_, rows_, byPixels, [&](int64_t block, int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) runRow(frame, block, row);
        });
    }

  private:
    void runRow(const Frame& frame, int64_t block, int64_t row) const noexcept {
        const int lanes = kernels_.lanes;
        const PoolAxis& across = window_.axis[2];
        const auto z = static_cast<size_t>(row / window_.axis[1].out),
                   y = static_cast<size_t>(row % window_.axis[1].out);
        const int64_t at = (block * outPlane_ + row * across.out) * lanes;
        PoolRow r;
        r.src = frame.data<const float>(*command_.inputs[0]) + block * inPlane_ * lanes;
        r.dst = frame.data<float>(*command_.outputs[0]) + at;
        r.index = command_.outputs.size() > 1 ? frame.data<int32_t>(*command_.outputs[1]) + at : nullptr;
        r.height = window_.axis[1].in;
        r.width = across.in;
        r.depthTaps = tables_[0].taps[z];
        r.heightTaps = tables_[1].taps[y];
        r.widthTaps = tables_[2].taps.data();
        r.rowCount = tables_[0].counts[z] * tables_[1].counts[y];
        r.widthCounts = tables_[2].counts.data();
        r.outputs = across.out;
        if (average_)
            kernels_.average(r);
        else if (r.index)
            kernels_.maximumIndex(r);
        else
            kernels_.maximum(r);
    }

    const PoolKernels& kernels_;
    Command command_;
    bool average_ = false;
    PoolWindow window_;
    AxisTable tables_[3];
    int64_t blocks_ = 0, rows_ = 0;
    int64_t inPlane_ = 1, outPlane_ = 1;
};

std::unique_ptr<Execution> createPooling(CpuBackend& backend, const Command& command, std::string& reason) {
    const DataType type = command.inputs[0]->type;
    if (type == DataType::Int8) return createInt8Pooling(backend, command, reason);
    if (!command.params || type != DataType::Float32)
        return refuse(reason, format("%s: pooling of %s is not implemented", command.name.c_str(), dataTypeName(type)));
    return std::make_unique<PoolExecution>(backend, command);
}

}  // namespace

constexpr CpuOp kPoolingCpu[] = {
    {OpType::Pooling, storagePacked, createPooling, nullptr, quantizesPooling},
    {OpType::Pooling3D, storagePacked, createPooling, nullptr, quantizesPooling},
};
extern constinit const CpuFamily poolingCpu = kPoolingCpu;

}  // namespace mnnc::cpu
