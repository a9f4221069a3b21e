// Lists what a program computes, and takes its checksum.
#include "session/program.h"

#include <algorithm>
#include <bit>

#include "base/fnv_hash.h"

namespace mnnc {

namespace {

class Checksum {
  public:
    template <typename... Words>
    void add(Words... words) noexcept {
        (hash_.addWord(word(words)), ...);
    }
    uint64_t value() const noexcept { return hash_.value(); }

  private:
    static uint64_t word(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }
    static uint64_t word(float number) noexcept { return std::bit_cast<uint32_t>(number); }
    template <typename T>
    static uint64_t word(T number) noexcept {
        return static_cast<uint64_t>(number);
    }

    FnvHash hash_;
};

uint64_t checksumOf(const Operand& operand) noexcept {
    Checksum sum;
    sum.add(operand.number, operand.type, operand.format, operand.usage, operand.hasConstantValue, operand.values,
            operand.channelBlock, operand.onDevice, operand.wide, static_cast<const void*>(operand.aliasOf),
            operand.aliasOffset, operand.quant.scale, operand.quant.zero, static_cast<const void*>(operand.list.get()));
    for (const int64_t extent : operand.shape) sum.add(extent);
    return sum.value();
}

}  // namespace

void Program::appendRecords(std::vector<OpRecord>& records) const {
    for (const ProgramStep& step : steps)
        for (const OpCall& call : step.calls)
            if (!call.inserted) records.push_back(call.record);
}

bool Program::takesShape(const Tensor& input, const Shape& shape) const noexcept {
    if (input.shape == shape) return true;
    const OpenInput* open = openInput(input.number);
    if (!open || shape.rank() != input.shape.rank()) return false;
    const int last = shape.rank() - 1;
    return std::equal(shape.begin(), shape.begin() + last, input.shape.begin()) && shape[last] >= open->minExtent &&
           shape[last] <= open->maxExtent;
}

uint64_t Program::checksum() const noexcept {
    Checksum sum;
    uint64_t operandSum = 0;
    tensors.forEach([&](const Operand& operand) { operandSum += checksumOf(operand); });
    sum.add(operandSum, operands, needs.host);
    for (const ProgramStep& step : steps)
        sum.add(static_cast<const void*>(step.execution.get()), step.toRecord.size(), step.control, step.onDevice,
                step.scratch, step.calls.size());
    for (const Placement& placement : placements)
        sum.add(placement.operand, placement.bytes, placement.onHost, placement.hostSeesIt, placement.block,
                placement.offset);
    for (const PlacedView& view : views) sum.add(view.operand, view.root, view.offset, view.values);
    for (const KnownOperand& operand : known) sum.add(operand.operand, operand.values);
    return sum.value();
}

}  // namespace mnnc
