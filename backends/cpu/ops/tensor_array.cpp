// TensorArrayRead and TensorArrayWrite at an index that is known only in a run (a loop counter). The stage has checked
// that the shapes are the planned ones; a callback may have skipped the producer of the index since, so it is checked
// again.
#include "ops/tensor_array.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/families.h"
#include "base/error.h"

namespace mnnc::cpu {

namespace {

// The base of both keeps the shapes of the sequence for which they are planned.
class ElementAccess : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void prepare() override {
        list_ = flow().list;
        if (!list_) fail(Status::Internal, "op '%s': the shapes of the sequence are not known", command().name.c_str());
    }

  protected:
    const Operand& flow() const { return *command().inputs.back(); }
    int64_t index(const Frame& frame) const {
        const int64_t index = *inData<int32_t>(frame, 1);
        return index < 0 && command().type == OpType::TensorArrayRead ? index + list_->size() : index;
    }
    int64_t bytes(int64_t elements) const { return elements * static_cast<int64_t>(elementBytes(out().type)); }
    [[noreturn]] void failIndex(int64_t index) const {
        fail(Status::InputDataError, "op '%s': element %lld is outside of a sequence of %lld", command().name.c_str(),
             asLong(index), asLong(list_->size()));
    }
    static void copy(char* to, const char* from, int64_t bytes) {
        if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    }

    std::shared_ptr<const TensorList> list_;
};

class ReadElement final : public ElementAccess {
  public:
    using ElementAccess::ElementAccess;
    void run(const Frame& frame) const override {
        const int64_t at = index(frame);
        if (at < 0 || at >= list_->size() || list_->at(at).elementSize() != out().elements()) failIndex(at);
        copy(outData<char>(frame), frame.data<const char>(flow()) + bytes(list_->offset(at)), bytes(out().elements()));
    }
};

class WriteElement final : public ElementAccess {
  public:
    using ElementAccess::ElementAccess;
    void prepare() override {
        ElementAccess::prepare();
        result_ = out().list;
        if (!result_)
            fail(Status::Internal, "op '%s': the shapes of the sequence are not known", command().name.c_str());
    }
    uint32_t inPlaceInputs(size_t) const override { return *list_ == *result_ ? 1u << 3 : 0; }
    void run(const Frame& frame) const override {
        const int64_t at = index(frame);
        const int64_t value = in(2).elements();
        if (at < 0 || at >= result_->size() || result_->at(at).elementSize() != value) failIndex(at);
        char* to = outData<char>(frame);
        const int64_t place = result_->offset(at);
        if (frame.data<const char>(flow()) != to) {
            const int64_t size = list_->size();
            if (list_->anyKnown()) {
                const int64_t kept = list_->offset(std::min(at, size)), rest = list_->offset(std::min(at + 1, size));
                const int64_t behind = list_->total() - rest;
                if (kept != place || place + value + behind != result_->total()) failIndex(at);
                const char* from = frame.data<const char>(flow());
                copy(to, from, bytes(kept));
                copy(to + bytes(place + value), from + bytes(rest), bytes(behind));
            } else {
                std::memset(to, 0, static_cast<size_t>(bytes(result_->total())));
            }
        }
        copy(to + bytes(place), inData<char>(frame, 2), bytes(value));
    }

  private:
    std::shared_ptr<const TensorList> result_;
};

}  // namespace

constexpr CpuOp kTensorArrayCpu[] = {
    {OpType::TensorArrayRead, nullptr, makeExecution<ReadElement>},
    {OpType::TensorArrayWrite, nullptr, makeExecution<WriteElement>},
};
extern constinit const CpuFamily tensorArrayCpu = kTensorArrayCpu;

}  // namespace mnnc::cpu
