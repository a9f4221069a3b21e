// Slices whose place is known only in a run: SliceTf and StridedSlice as commands that read their index inputs in each
// run. The stage has checked that the shape is the planned one; a callback may have skipped the producer
// of the indices since, so places are checked again.
#include <array>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/strided_copy.h"
#include "base/error.h"
#include "ops/strided_slice.h"
#include "tensor/element_types.h"
#include "tensor/region_builder.h"

namespace mnnc::cpu {

namespace {

// A box to copy, outermost axis first; strides count elements.
struct Box {
    std::array<BoxAxis, kMaxRank> axis;
    size_t rank = 0;

    // Axes that are contiguous in source and destination are merged into one.
    void push(const BoxAxis& inner) {
        if (inner.size == 1) return;
        if (rank > 0) {
            BoxAxis& outer = axis[rank - 1];
            if (outer.src == inner.src * inner.size && outer.dst == inner.dst * inner.size) {
                outer = {outer.size * inner.size, inner.src, inner.dst};
                return;
            }
        }
        axis[rank++] = inner;
    }
};

template <typename T>
void copyBox(const T* src, T* dst, const Box& box, ThreadPool& pool) {
    const BoxAxis inner = box.rank ? box.axis[box.rank - 1] : BoxAxis{1, 1, 1};
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < box.rank; ++i) rows *= box.axis[i].size;
    const bool threaded = rows * inner.size * static_cast<int64_t>(sizeof(T)) >= kThreadedBytes;
    parallelRanges(pool, static_cast<int64_t>(rows), threaded ? 4 * pool.threads() : 1,
                   [&](int64_t begin, int64_t end) {
                       for (int64_t row = begin; row < end; ++row) {
                           int64_t rest = row, from = 0, to = 0;
                           for (size_t i = box.rank; i-- > 1;) {
                               const BoxAxis& axis = box.axis[i - 1];
                               from += rest % axis.size * axis.src;
                               to += rest % axis.size * axis.dst;
                               rest /= axis.size;
                           }
                           copyRow(src + from, inner.src, dst + to, inner.dst, inner.size);
                       }
                   });
}

class DynamicSlice : public CommandExecution {
  public:
    explicit DynamicSlice(const Command& command) : CommandExecution(command), strides_(rowMajorStrides(in(0).shape)) {}

    void run(const Frame& frame) const final {
        int64_t from = 0;
        const Box box = place(frame, from);
        withBits(out().type,
                 [&]<typename T>(T) { copyBox(inData<T>(frame, 0) + from, outData<T>(frame), box, frame.pool()); });
    }

  protected:
    // Returns the box that this run copies, and in `from` its first element of the input.
    virtual Box place(const Frame& frame, int64_t& from) const = 0;

    int64_t stride(size_t axis) const { return strides_[axis]; }  // of the input

  private:
    const Strides strides_;
};

class DynamicSliceTf final : public DynamicSlice {
  public:
    using DynamicSlice::DynamicSlice;

  private:
    Box place(const Frame& frame, int64_t& from) const override {
        const auto* begins = inData<int32_t>(frame, 1);
        const Shape &shape = in(0).shape, &size = out().shape;
        Box box;
        int64_t to = size.elements();
        for (int i = 0; i < shape.rank(); ++i) {
            const int64_t begin = begins[i] < 0 ? begins[i] + shape[i] : begins[i];
            if (begin < 0 || begin > shape[i] - size[i])
                fail(Status::InputDataError, "op '%s': a slice of %lld from %d on does not lie in axis %d of %s",
                     command().name.c_str(), asLong(size[i]), begins[i], i, shape.text().c_str());
            const auto axis = static_cast<size_t>(i);
            from += begin * stride(axis);
            to /= size[i];
            box.push({size[i], stride(axis), to});
        }
        return box;
    }
};

class MovingStridedSlice final : public DynamicSlice {
  public:
    using DynamicSlice::DynamicSlice;

  private:
    Box place(const Frame& frame, int64_t& from) const override {
        const auto list = [&](size_t i) {
            return std::span(inData<int32_t>(frame, i), static_cast<size_t>(in(i).elements()));
        };
        const auto& slice = params<StridedSliceParams>();
        const char* name = command().name.c_str();
        const StridedSlicePlan plan =
            planStridedSlice(name, slice, in(0).shape, stridedSliceIndices(slice, command().inputs.size(), list));
        if (!(plan.shape == out().shape))
            fail(Status::InputDataError, "op '%s': the slice has shape %s now, it was planned as %s", name,
                 plan.shape.text().c_str(), out().shape.text().c_str());
        Box box;
        int64_t to = out().elements();
        for (size_t i = 0; i < plan.axes().size(); ++i) {
            const StridedSlicePlan::Axis& axis = plan.axis[i];
            to /= axis.size;
            from += axis.begin * stride(i);
            box.push({axis.size, stride(i) * axis.step, to});
        }
        return box;
    }
};

}  // namespace

constexpr CpuOp kDynamicSliceCpu[] = {{OpType::SliceTf, nullptr, makeExecution<DynamicSliceTf>},
                                      {OpType::StridedSlice, nullptr, makeExecution<MovingStridedSlice>}};
extern constinit const CpuFamily dynamicSliceCpu = kDynamicSliceCpu;

}  // namespace mnnc::cpu
