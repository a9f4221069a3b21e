// Interp commands on channel-packed tensors, in up to three axes.
// Taps are tables made at resize; a run only walks rows of outputs, which threads share in any order.
#include "ops/interp.h"

#include <vector>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/resize.h"
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

namespace {

constexpr int kMaxRows = 16;  // cubic in depth and height

class InterpExecution final : public Execution {
  public:
    InterpExecution(CpuBackend& backend, const Command& command)
        : backend_(backend), kernels_(resizeKernels(backend.kernels().id)), command_(command) {}

    void onResize() override {
        const InterpCommand& params = *command_.paramsAs<InterpCommand>();
        const Tensor& x = *command_.inputs[0];
        const Tensor& y = *command_.outputs[0];
        const int rank = x.shape.rank();
        if (rank < 2 || rank > 5 || y.shape.rank() != rank)
            fail(Status::ComputeSizeError, "%s: cannot resize %s to %s", command_.name.c_str(),
                 x.shape.text().c_str(), y.shape.text().c_str());
        for (int i = 0; i < 3; ++i) {
            const int axis = rank == 5 ? 2 + i : 1 + i;
            const bool used = axis >= 2 && axis < rank;
            in_[i] = used ? x.shape[axis] : 1;
            out_[i] = used ? y.shape[axis] : 1;
            taps_[i] = makeAxisTaps(params.type, params.axis[i], in_[i], out_[i]);
            // An axis that only copies needs one tap; this is what keeps depth free for pictures.
            if (i < 2 && in_[i] == out_[i] && params.axis[i].a == 1.0f && params.axis[i].b == 0.0f)
                taps_[i] = makeAxisTaps(ResizeType::NearestFloor, params.axis[i], in_[i], out_[i]);
        }
        blocks_ = checkedMul(x.batch(), ceilDiv(x.shape.at(1), kernels_.lanes), "channel blocks");
        row_ = kernels_.nearest;
        if (params.type == ResizeType::Linear) row_ = kernels_.linear;
        if (params.type == ResizeType::Cubic) row_ = kernels_.cubic;
    }

    void onExecute() override {
        ThreadPool& pool = backend_.pool();
        const int64_t rows = out_[0] * out_[1];
        parallelRanges(pool, static_cast<long>(blocks_ * rows), 4 * pool.threads(),
                       [&](long begin, long end) {
                           for (long i = begin; i < end; ++i) runRow(i / rows, i % rows);
                       });
    }

  private:
    void runRow(int64_t block, int64_t row) const noexcept {
        const int lanes = kernels_.lanes;
        const int64_t rowFloats = in_[2] * lanes;
        const float* src = command_.inputs[0]->as<const float>() + block * in_[0] * in_[1] * rowFloats;
        const AxisTaps &depth = taps_[0], &height = taps_[1];
        const auto z = static_cast<size_t>(row / out_[1] * depth.taps),
                   y = static_cast<size_t>(row % out_[1] * height.taps);
        const float* rows[kMaxRows];
        float weights[kMaxRows];
        int count = 0;
        for (size_t dz = 0; dz < static_cast<size_t>(depth.taps); ++dz) {
            for (size_t dy = 0; dy < static_cast<size_t>(height.taps); ++dy, ++count) {
                rows[count] = src + (depth.index[z + dz] * in_[1] + height.index[y + dy]) * rowFloats;
                weights[count] = depth.weight[z + dz] * height.weight[y + dy];
            }
        }
        ResizeRow r;
        r.rows = rows;
        r.rowWeights = weights;
        r.rowCount = count;
        r.index = taps_[2].index.data();
        r.weight = taps_[2].weight.data();
        r.outputs = static_cast<int>(out_[2]);
        r.dst = command_.outputs[0]->as<float>() + (block * out_[0] * out_[1] + row) * out_[2] * lanes;
        row_(r);
    }

    CpuBackend& backend_;
    const ResizeKernels& kernels_;
    Command command_;
    AxisTaps taps_[3];
    int64_t in_[3] = {1, 1, 1}, out_[3] = {1, 1, 1};
    int64_t blocks_ = 0;
    void (*row_)(const ResizeRow&) = nullptr;
};

std::unique_ptr<Execution> createInterp(CpuBackend& backend, const Command& command, std::string& reason) {
    const DataType type = command.inputs[0]->type;
    if (!command.params || type != DataType::Float32) {
        reason = format("%s: resizing of %s is not implemented", command.name.c_str(), dataTypeName(type));
        return nullptr;
    }
    return std::make_unique<InterpExecution>(backend, command);
}

}  // namespace

CpuFamily interpCpu() {
    static constexpr CpuOp kOps[] = {{OpType::Interp, storagePacked, createInterp}};
    return kOps;
}

}  // namespace mnnc::cpu
