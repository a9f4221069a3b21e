// Interp commands on channel-packed tensors, in up to three axes: threads divide the rows of outputs.
#include "backends/cpu/kernels/plane_cut.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/resizer.h"

namespace mnnc::cpu {

namespace {

class InterpExecution final : public Execution {
  public:
    InterpExecution(CpuBackend& backend, const Command& command) : backend_(backend), command_(command) {}

    void prepare() override {
        resizer_.plan(backend_.kernels(), command_);
        const Operand& x = *command_.inputs[0];
        blocks_ = checkedMul(x.batch(), ceilDiv(x.shape.at(1), int64_t{backend_.kernels().lanes}), "channel blocks");
    }

    void run(const Frame& frame) const override {
        const auto* src = frame.data<const float>(*command_.inputs[0]);
        auto* dst = frame.data<float>(*command_.outputs[0]);
        const int64_t rows = resizer_.rows(), length = resizer_.rowFloats();
        const bool byPixels = sharedByPixels(rows * length / backend_.kernels().lanes, command_.inputs[0]->shape.at(1));
        forPlaneRows(frame.pool(), blocks_, rows, byPixels, [&](int64_t block, int64_t begin, int64_t end) {
            for (int64_t y = begin; y < end; ++y)
                resizer_.makeRow(src + block * resizer_.sourceFloats(), y, dst + (block * rows + y) * length);
        });
    }

  private:
    CpuBackend& backend_;
    Command command_;
    Resizer resizer_;
    int64_t blocks_ = 0;
};

std::unique_ptr<Execution> createInterp(CpuBackend& backend, const Command& command, std::string& reason) {
    const DataType type = command.inputs[0]->type;
    if (type == DataType::Int8 && command.params) return createInt8Interp(backend, command, reason);
    if (!command.params || type != DataType::Float32)
        return refuse(reason,
                      format("%s: resizing of %s is not implemented", command.name.c_str(), dataTypeName(type)));
    return std::make_unique<InterpExecution>(backend, command);
}

}  // namespace

constexpr CpuOp kInterpCpu[] = {{OpType::Interp, storagePacked, createInterp, nullptr, quantizesInterp}};
extern constinit const CpuFamily interpCpu = kInterpCpu;

}  // namespace mnnc::cpu
