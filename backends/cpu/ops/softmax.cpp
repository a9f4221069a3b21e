// Softmax on the CPU, row-major: by row when the axis is the innermost, else by groups of columns.
#include "ops/softmax.h"

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/float_input.h"
#include "backends/cpu/ops/split.h"

namespace mnnc::cpu {
namespace {

class Softmax final : public Execution {
  public:
    Softmax(const CpuBackend& backend, const Command& command)
        : kernels_(rowKernels(backend.kernels().id)),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          axis_(command.paramsAs<SoftmaxParams>().axis) {}

    void prepare() override {
        const Shape& shape = input_.shape;
        const int rank = shape.rank();
        outer_ = length_ = inner_ = 1;
        if (rank == 0) return;
        const int axis = normalizeAxis(axis_, rank, "Softmax");
        outer_ = shape.elements(0, axis);
        length_ = shape[axis];
        inner_ = shape.elements(axis + 1, rank);
    }

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        const float* x = frame.data<const float>(input_);
        float* y = frame.data<float>(output_);
        if (inner_ == 1) {
            forRows(frame.pool(), outer_, length_ * 4, [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r)
                    kernels_.softmax(x + r * length_, y + r * length_, static_cast<size_t>(length_));
            });
            return;
        }
        const int64_t width = static_cast<int64_t>(kMaxColumns), groups = ceilDiv(inner_, width);
        forRows(frame.pool(), outer_ * groups, length_ * std::min(inner_, width) * 4, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t column = i % groups * width, at = i / groups * length_ * inner_ + column;
                kernels_.softmaxColumns(x + at, y + at, static_cast<size_t>(length_), static_cast<size_t>(inner_),
                                        static_cast<size_t>(std::min(width, inner_ - column)));
            }
        });
    }

    // The output may share the input's memory: rows and columns are read before they are written.
    uint32_t inPlaceInputs(size_t) const override { return 1; }

  private:
    const RowKernels& kernels_;
    const Operand& input_;
    const Operand& output_;
    const int axis_;
    int64_t outer_ = 1, length_ = 1, inner_ = 1;
};

}  // namespace

constexpr CpuOp kSoftmaxCpu[] = {{OpType::Softmax, nullptr, makeFloatExecution<Softmax>}};
extern constinit const CpuFamily softmaxCpu = kSoftmaxCpu;

}  // namespace mnnc::cpu
