// Reduction on the CPU: groups of adjacent reduced axes, one after the other, each as [outer][length][inner].
// A packed tensor reduced over its whole plane is the same thing with inner = one channel block.
#include "ops/reduction.h"

#include <cstring>

#include "backends/cpu/kernels/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/split.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

constexpr int64_t kColumns = 256;   // columns worked on together
constexpr int64_t kRunLength = 64;  // rows added in float before the sum goes to double

struct Step {
    int64_t outer = 1, length = 1, inner = 1;
};

class Reduction final : public Execution {
  public:
    Reduction(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          kernels_(rowKernels(backend.kernels().id)),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          axes_(command.paramsAs<ReductionParams>().axes),
          operation_(command.paramsAs<ReductionParams>().operation) {}

    void onResize() override {
        steps_.clear();
        requestScratch(0);
        if (input_.empty()) return;
        if (input_.pack > 1) {
            steps_.push_back(
                {input_.batch() * ceilDiv(input_.shape[1], input_.pack), input_.plane(), input_.pack});
            return;
        }
        // Alternating runs of kept and reduced axes.
        std::vector<std::pair<int64_t, bool>> runs;
        for (int axis = 0; axis < input_.shape.rank(); ++axis) {
            if (input_.shape[axis] == 1) continue;
            const bool reduced = std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
            if (!runs.empty() && runs.back().second == reduced)
                runs.back().first *= input_.shape[axis];
            else
                runs.emplace_back(input_.shape[axis], reduced);
        }
        int64_t inner = 1, left = input_.elements(), scratchFloats = 0;
        for (size_t i = runs.size(); i-- > 0;) {
            if (!runs[i].second) {
                inner *= runs[i].first;
                continue;
            }
            steps_.push_back({left / runs[i].first / inner, runs[i].first, inner});
            left /= runs[i].first;
            scratchFloats += roundUp(left, 16);
        }
        if (steps_.empty()) steps_.push_back({left, 1, 1});  // only extents of 1 are reduced
        if (steps_.size() > 1) requestScratch(scratchFloats * 4);
    }

    void onExecute() override {
        if (output_.empty()) return;
        if (input_.empty()) return fillEmpty();
        const void* source = input_.data;
        char* next = static_cast<char*>(scratch());
        for (size_t i = 0; i < steps_.size(); ++i) {
            const Step& step = steps_[i];
            const bool last = i + 1 == steps_.size();
            void* target = last ? output_.data : next;
            if (!last) next += roundUp(step.outer * step.inner, 16) * 4;
            if (input_.type == DataType::Float32)
                runFloat(step, static_cast<const float*>(source), static_cast<float*>(target));
            else
                runInt(step, static_cast<const int32_t*>(source), static_cast<int32_t*>(target));
            source = target;
        }
    }

  private:
    void fillEmpty() const {
        const int64_t n = output_.elements();
        for (int64_t i = 0; i < n; ++i) {
            if (input_.type == DataType::Float32)
                output_.as<float>()[i] = operation_ == Reduce::Prod ? 1.0f : 0.0f;
            else
                output_.as<int32_t>()[i] = operation_ == Reduce::Prod ? 1 : 0;
        }
    }

    void runFloat(const Step& s, const float* x, float* y) const {
        if (s.inner == 1) {
            forRows(backend_.pool(), s.outer, s.length, [&](long begin, long end) {
                for (long r = begin; r < end; ++r) y[r] = rowFloat(x + r * s.length, s.length);
            });
            return;
        }
        const int64_t groups = ceilDiv(s.inner, kColumns);
        forRows(backend_.pool(), s.outer * groups, s.length * std::min(s.inner, kColumns),
                [&](long begin, long end) {
                    for (long i = begin; i < end; ++i) {
                        const int64_t outer = i / groups, column = i % groups * kColumns;
                        columnsFloat(s, x + outer * s.length * s.inner + column, y + outer * s.inner + column,
                                     std::min(kColumns, s.inner - column));
                    }
                });
    }

    float rowFloat(const float* x, int64_t length) const {
        const size_t n = static_cast<size_t>(length);
        switch (operation_) {
            case Reduce::Mean:
                return kernels_.sum(x, n) / static_cast<float>(length);
            case Reduce::Max:
                return kernels_.max(x, n);
            case Reduce::Min:
                return kernels_.min(x, n);
            case Reduce::Prod:
                return kernels_.prod(x, n);
            default:
                return kernels_.sum(x, n);
        }
    }

    void columnsFloat(const Step& s, const float* x, float* y, int64_t columns) const {
        const size_t n = static_cast<size_t>(columns);
        if (operation_ != Reduce::Sum && operation_ != Reduce::Mean) {
            const auto fold = operation_ == Reduce::Max   ? kernels_.maxTo
                              : operation_ == Reduce::Min ? kernels_.minTo
                                                          : kernels_.mulTo;
            std::memcpy(y, x, n * 4);
            for (int64_t r = 1; r < s.length; ++r) fold(y, x + r * s.inner, n);
            return;
        }
        double sum[kColumns] = {};
        alignas(64) float run[kColumns];
        for (int64_t first = 0; first < s.length; first += kRunLength) {
            std::memcpy(run, x + first * s.inner, n * 4);
            const int64_t end = std::min(s.length, first + kRunLength);
            for (int64_t r = first + 1; r < end; ++r) kernels_.addTo(run, x + r * s.inner, n);
            for (size_t c = 0; c < n; ++c) sum[c] += static_cast<double>(run[c]);
        }
        const double scale = operation_ == Reduce::Mean ? 1.0 / static_cast<double>(s.length) : 1.0;
        for (size_t c = 0; c < n; ++c) y[c] = static_cast<float>(sum[c] * scale);
    }

    void runInt(const Step& s, const int32_t* x, int32_t* y) const {
        for (int64_t o = 0; o < s.outer; ++o)
            for (int64_t i = 0; i < s.inner; ++i)
                y[o * s.inner + i] = columnInt(x + o * s.length * s.inner + i, s.length, s.inner);
    }

    int32_t columnInt(const int32_t* x, int64_t length, int64_t stride) const {
        int32_t best = x[0];
        uint32_t sum = 0, product = 1;  // arithmetic wraps
        bool any = false, all = true;
        for (int64_t r = 0; r < length; ++r) {
            const int32_t v = x[r * stride];
            switch (operation_) {
                case Reduce::Max:
                    best = std::max(best, v);
                    break;
                case Reduce::Min:
                    best = std::min(best, v);
                    break;
                case Reduce::Prod:
                    product *= static_cast<uint32_t>(v);
                    break;
                case Reduce::Any:
                    any = any || v > 0;
                    break;
                case Reduce::All:
                    all = all && v != 0;
                    break;
                default:
                    sum += static_cast<uint32_t>(v);
                    break;
            }
        }
        switch (operation_) {
            case Reduce::Max:
            case Reduce::Min:
                return best;
            case Reduce::Prod:
                return static_cast<int32_t>(product);
            case Reduce::Any:
                return any;
            case Reduce::All:
                return all;
            case Reduce::Mean:
                return static_cast<int32_t>(static_cast<int32_t>(sum) / length);
            default:
                return static_cast<int32_t>(sum);
        }
    }

    const CpuBackend& backend_;
    const RowKernels& kernels_;
    const Tensor& input_;
    const Tensor& output_;
    const std::vector<int> axes_;
    const Reduce operation_;
    std::vector<Step> steps_;
};

StorageChoice storageReduction(const CpuBackend& backend, const Command& command) {
    const Tensor& input = *command.inputs[0];
    const auto& axes = command.paramsAs<ReductionParams>().axes;
    const int rank = input.shape.rank();
    if (input.pack == 1 || input.type != DataType::Float32 || rank < 3 ||
        static_cast<int>(axes.size()) != rank - 2 || axes[0] != 2)
        return {};
    return {.inputPack = backend.pack(), .outputPack = backend.pack()};
}

std::unique_ptr<Execution> createReduction(CpuBackend& backend, const Command& command, std::string& reason) {
    const Reduce operation = command.paramsAs<ReductionParams>().operation;
    const DataType type = command.inputs[0]->type;
    const bool logical = operation == Reduce::Any || operation == Reduce::All;
    if (operation == Reduce::AbsSum || operation == Reduce::SquareSum ||
        !(type == DataType::Int32 || (type == DataType::Float32 && !logical))) {
        reason = format("reduction code %d does not exist for %s", static_cast<int>(operation),
                        dataTypeName(type));
        return nullptr;
    }
    return std::make_unique<Reduction>(backend, command);
}

}  // namespace

CpuFamily reductionCpu() {
    static constexpr CpuOp kOps[] = {{OpType::Reduction, storageReduction, createReduction}};
    return kOps;
}

}  // namespace mnnc::cpu
