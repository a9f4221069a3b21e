// Reduction on the CPU: groups of adjacent reduced axes, one after the other, each as [outer][length][inner]. A packed
// tensor that is reduced over its whole plane has the same form with inner = one channel block.
#include "ops/reduction.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/elementwise/elementwise.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/reduction_integers.h"
#include "backends/cpu/ops/split.h"
#include "base/error.h"

namespace mnnc::cpu {
namespace {

constexpr int64_t kColumns = 256;   // columns that are reduced together
constexpr int64_t kRunLength = 64;  // rows added in float before the sum goes to double
constexpr size_t kMapped = 1024;    // elements of a row that are mapped together

using Step = ReductionStep;

class Reduction final : public Execution {
  public:
    Reduction(const CpuBackend& backend, const Command& command)
        : kernels_(rowKernels(backend.kernels().id)),
          unary_(unaryKernels(backend.kernels().id)),
          input_(*command.inputs[0]),
          output_(*command.outputs[0]),
          axes_(command.paramsAs<ReductionParams>().axes),
          operation_(command.paramsAs<ReductionParams>().operation) {}

    void prepare() override {
        steps_.clear();
        requestScratch(0);
        if (input_.empty()) return;
        reduced_ = input_.elements() / output_.elements();
        if (input_.channelBlock > 1) {
            steps_.push_back({input_.batch() * ceilDiv(input_.shape[1], int64_t{input_.channelBlock}), input_.plane(),
                              input_.channelBlock});
            return;
        }
        // Collects the axes as alternating runs of kept and reduced ones.
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

    void run(const Frame& frame) const override {
        if (output_.empty()) return;
        const bool floats = input_.type == DataType::Float32;
        if (!input_.empty())
            floats ? runFloats(frame) : runIntegers(frame);
        else if (floats)
            std::fill_n(frame.data<float>(output_), output_.elements(), emptyFloat(operation_));
        else
            fillReducedIntegers({frame.data<void>(output_), output_.type}, output_.elements(), operation_);
    }

  private:
    // Returns the result for no elements, see https://onnx.ai/onnx/operators/onnx__ReduceMax.html and the like; the
    // mean is undefined.
    static float emptyFloat(Reduce operation) {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        switch (operation) {
            case Reduce::Mean:
                return std::numeric_limits<float>::quiet_NaN();
            case Reduce::Max:
                return -kInfinity;
            case Reduce::Min:
                return kInfinity;
            case Reduce::Prod:
            case Reduce::All:
                return 1;
            default:
                return 0;
        }
    }

    // Step i reads the result of step i - 1. Calls body(step, source, target, operation, whether it is the last one).
    template <typename Body>
    void eachStep(const Frame& frame, const Body& body) const {
        const void* source = frame.data<const void>(input_);
        char* next = static_cast<char*>(frame.scratch());
        for (size_t i = 0; i < steps_.size(); ++i) {
            const bool last = i + 1 == steps_.size();
            void* target = last ? frame.data<void>(output_) : next;
            if (!last) next += roundUp(steps_[i].outer * steps_[i].inner, 16) * 4;
            body(steps_[i], source, target, operationOf(i), last);
            source = target;
        }
    }

    // After the first step, a sum of magnitudes or squares is a plain sum.
    Reduce operationOf(size_t step) const {
        const bool mapped = operation_ == Reduce::AbsSum || operation_ == Reduce::SquareSum;
        return step > 0 && mapped ? Reduce::Sum : operation_;
    }

    void runFloats(const Frame& frame) const {
        eachStep(frame, [&](const Step& step, const void* x, void* y, Reduce operation, bool) {
            runFloat(step, static_cast<const float*>(x), static_cast<float*>(y), operation, frame.pool());
        });
    }

    void runFloat(const Step& s, const float* x, float* y, Reduce operation, ThreadPool& pool) const {
        if (s.inner == 1) {
            forRows(pool, s.outer, s.length, [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) y[r] = rowFloat(x + r * s.length, s.length, operation);
            });
            return;
        }
        const int64_t groups = ceilDiv(s.inner, kColumns);
        forRows(pool, s.outer * groups, s.length * std::min(s.inner, kColumns), [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
                const int64_t outer = i / groups, column = i % groups * kColumns;
                columnsFloat(s, x + outer * s.length * s.inner + column, y + outer * s.inner + column,
                             std::min(kColumns, s.inner - column), operation);
            }
        });
    }

    UnaryFn mapOf(Reduce operation) const {
        constexpr int kAbs = 0, kSquare = 4;
        if (operation == Reduce::AbsSum) return unary_.byCode[kAbs];
        return operation == Reduce::SquareSum ? unary_.byCode[kSquare] : nullptr;
    }

    float rowFloat(const float* x, int64_t length, Reduce operation) const {
        const size_t n = static_cast<size_t>(length);
        switch (operation) {
            case Reduce::Mean:
                return kernels_.sum(x, n) / static_cast<float>(length);
            case Reduce::Max:
                return kernels_.max(x, n);
            case Reduce::Min:
                return kernels_.min(x, n);
            case Reduce::Prod:
                return kernels_.prod(x, n);
            case Reduce::Any:
                return std::any_of(x, x + n, [](float value) { return value != 0; });
            case Reduce::All:
                return std::all_of(x, x + n, [](float value) { return value != 0; });
            case Reduce::AbsSum:
            case Reduce::SquareSum:
                return sumOfMapped(x, n, mapOf(operation));
            default:
                return kernels_.sum(x, n);
        }
    }

    float sumOfMapped(const float* x, size_t n, UnaryFn map) const {
        alignas(64) float part[kMapped];
        double sum = 0;
        for (size_t first = 0; first < n; first += kMapped) {
            const size_t count = std::min(kMapped, n - first);
            map(x + first, part, count);
            sum += static_cast<double>(kernels_.sum(part, count));
        }
        return static_cast<float>(sum);
    }

    void columnsFloat(const Step& s, const float* x, float* y, int64_t columns, Reduce operation) const {
        const size_t n = static_cast<size_t>(columns);
        switch (operation) {
            case Reduce::Max:
                return foldColumns(s, x, y, n, kernels_.maxTo);
            case Reduce::Min:
                return foldColumns(s, x, y, n, kernels_.minTo);
            case Reduce::Prod:
                return foldColumns(s, x, y, n, kernels_.mulTo);
            case Reduce::Any:
            case Reduce::All:
                return logicalColumns(s, x, y, n, operation == Reduce::All);
            default:
                return sumColumns(s, x, y, n, operation);
        }
    }

    void foldColumns(const Step& s, const float* x, float* y, size_t n,
                     void (*fold)(float*, const float*, size_t)) const {
        std::memcpy(y, x, n * 4);
        for (int64_t r = 1; r < s.length; ++r) fold(y, x + r * s.inner, n);
    }

    void logicalColumns(const Step& s, const float* x, float* y, size_t n, bool all) const {
        for (size_t c = 0; c < n; ++c) {
            bool result = all;
            for (int64_t r = 0; r < s.length && result == all; ++r)
                result = x[r * s.inner + static_cast<int64_t>(c)] != 0;
            y[c] = result;
        }
    }

    void sumColumns(const Step& s, const float* x, float* y, size_t n, Reduce operation) const {
        const UnaryFn map = mapOf(operation);
        double sum[kColumns] = {};
        alignas(64) float run[kColumns], mapped[kColumns];
        const auto row = [&](int64_t r) {
            if (!map) return x + r * s.inner;
            map(x + r * s.inner, mapped, n);
            return static_cast<const float*>(mapped);
        };
        for (int64_t first = 0; first < s.length; first += kRunLength) {
            std::memcpy(run, row(first), n * 4);
            const int64_t end = std::min(s.length, first + kRunLength);
            for (int64_t r = first + 1; r < end; ++r) kernels_.addTo(run, row(r), n);
            for (size_t c = 0; c < n; ++c) sum[c] += static_cast<double>(run[c]);
        }
        const double scale = operation == Reduce::Mean ? 1.0 / static_cast<double>(s.length) : 1.0;
        for (size_t c = 0; c < n; ++c) y[c] = static_cast<float>(sum[c] * scale);
    }

    // Between the first and the last step the values are int32.
    void runIntegers(const Frame& frame) const {
        eachStep(frame, [&](const Step& step, const void* x, void* y, Reduce operation, bool last) {
            // A mean is divided only once.
            if (operation == Reduce::Mean && !last) operation = Reduce::Sum;
            const DataType from = x == frame.data<const void>(input_) ? input_.type : DataType::Int32;
            reduceIntegers(frame.pool(), step, {x, from}, {y, last ? output_.type : DataType::Int32}, operation,
                           reduced_);
        });
    }

    const RowKernels& kernels_;
    const UnaryKernels& unary_;
    const Operand& input_;
    const Operand& output_;
    const std::vector<int> axes_;
    const Reduce operation_;
    std::vector<Step> steps_;
    int64_t reduced_ = 1;  // elements that one result is made from
};

StorageChoice storageReduction(const CpuBackend& backend, const Command& command) {
    const Operand& input = *command.inputs[0];
    const auto& axes = command.paramsAs<ReductionParams>().axes;
    const int rank = input.shape.rank();
    if (input.channelBlock == 1 || input.type != DataType::Float32 || rank < 3 ||
        static_cast<int>(axes.size()) != rank - 2 || axes[0] != 2)
        return {};
    return {.inputBlock = backend.channelBlock(), .outputBlock = backend.channelBlock()};
}

std::unique_ptr<Execution> createReduction(CpuBackend& backend, const Command& command, std::string& reason) {
    const Reduce operation = command.paramsAs<ReductionParams>().operation;
    const DataType type = command.inputs[0]->type;
    if (type == DataType::BFloat16 || (type == DataType::Int8 && command.inputs[0]->quant.known()))
        return refuse(
            reason, format("reduction code %d does not exist for %s", static_cast<int>(operation), dataTypeName(type)));
    return std::make_unique<Reduction>(backend, command);
}

}  // namespace

constexpr CpuOp kReductionCpu[] = {{OpType::Reduction, storageReduction, createReduction}};
extern constinit const CpuFamily reductionCpu = kReductionCpu;

}  // namespace mnnc::cpu
