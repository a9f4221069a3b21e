// Gives a program its memory in a session, and checks whether it still holds there.
#include "session/bound_program.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "backend/kept_state.h"
#include "base/checked.h"
#include "ops/search_parts.h"
#include "plan/fences.h"
#include "session/kept_states.h"
#include "session/value.h"
#include "tensor/host_copy.h"
#include "tensor/tensor_list.h"

namespace mnnc {

BoundProgram::BoundProgram(SessionContext& context, ProgramPtr program, const BoundProgram* before)
    : context_(context),
      program_(std::move(program)),
      states_(program_->steps.size()),
      toRecord_(program_->steps.size()),
      recordings_(program_->steps.size()),
      constants_(context, DeviceUse::Compute) {
    constexpr const char* kWhat = "values that a plan depends on";
    for (const ProgramGuard& of : program_->guards) {
        Guard& guard = guards_.emplace_back(context);
        if (!of.input.content) continue;
        if (of.isPacked) guard.fresh.reserve(of.bytes, kWhat);
        if (!of.input.onlyOffset) continue;
        std::memcpy(guard.moved.reserve(of.bytes, kWhat), of.content->data(), static_cast<size_t>(of.bytes));
    }
    for (const MovingSlice& slice : program_->movingSlices) addSlice(slice);
    std::unordered_map<const Execution*, std::shared_ptr<ExecutionState>> known;
    for (size_t i = 0; before && i < before->states_.size(); ++i)
        if (before->states_[i]) known.emplace(before->program_->steps[i].execution.get(), before->states_[i]);
    for (size_t i = 0; i < states_.size(); ++i) {
        const ProgramStep& step = program_->steps[i];
        const auto nameOf = [&](size_t call) {
            return call < step.calls.size() ? step.calls[call].record.name : std::string();
        };
        for (size_t k = 0; k < step.toRecord.size(); ++k) {
            DeviceStep& own = toRecord_[i].emplace_back(step.toRecord[k]);
            if (own.execution->kept()) own.state = keptState(*own.execution, nameOf(k));
        }
        const Execution* execution = step.execution.get();
        if (!execution) continue;
        if (execution->kept()) {
            states_[i] = keptState(*execution, nameOf(0));
            continue;
        }
        const auto found = known.find(execution);
        states_[i] = found != known.end() ? found->second : execution->makeState();
    }
}

BoundProgram::~BoundProgram() {
    context_.keep(program_);
}

// The kept data of a step belongs to the session, and all programs of the session share it.
std::shared_ptr<ExecutionState> BoundProgram::keptState(const Execution& execution, const std::string& name) {
    const KeptNeeds& needs = *execution.kept();
    if (keptRows_ != 0 && keptRows_ != needs.rows)
        fail(Status::ComputeSizeError,
             "op '%s': a run adds %lld rows to its state, and %lld rows to the states of others", name.c_str(),
             asLong(needs.rows), asLong(keptRows_));
    keptRows_ = needs.rows;
    int mask = needs.mask;
    for (const OpenInput& open : program_->openInputs)
        if (open.staging != 0 && open.staging == needs.mask) mask = open.number;
    if (mask != 0 && std::find(keptMasks_.begin(), keptMasks_.end(), mask) == keptMasks_.end())
        keptMasks_.push_back(mask);
    return context_.kept->stateFor(needs.form, name);
}

void BoundProgram::beginKept(StageMemory& memory, GraphTensors& tensors) {
    if (keptRows_ == 0) return;
    const int64_t past = context_.kept->length();
    for (const int number : keptMasks_) {
        // An input may have another extent than the program knows.
        const Operand* mask = tensors.isOfGraph(number) ? &tensors[number - 1] : program_->tensors.find(number);
        const int64_t extent = mask->shape[mask->shape.rank() - 1];
        const int64_t wanted = past + keptRows_;
        if (extent != wanted)
            fail(Status::ComputeSizeError,
                 "mask '%s' is %s: its last extent has to be %lld, for the %lld rows that the session keeps and the "
                 "%lld of this run",
                 mask->name.c_str(), mask->shape.text().c_str(), asLong(wanted), asLong(past), asLong(keptRows_));
    }
    context_.kept->begin(keptRows_);
    placeMasks(memory, tensors);
    const Frame& frame = tensors.frame;
    for (const OpenInput& open : program_->openInputs) {
        if (open.staging == 0) continue;
        const Operand& mask = tensors[open.number - 1];
        std::memcpy(frame.data(open.staging), frame.data(open.number), static_cast<size_t>(mask.storageBytes()));
    }
    recordAnew(memory, frame);
}

// Reserves the memory where a device reads masks, enough for all runs up to the capacity of the session's state.
void BoundProgram::placeMasks(StageMemory& memory, GraphTensors& tensors) {
    int64_t bytes = 0;
    const auto forMasks = [&](const auto& each) {
        bytes = 0;
        for (const OpenInput& open : program_->openInputs) {
            if (open.staging == 0) continue;
            each(open.staging, bytes);
            const int64_t own = open.bytes(tensors[open.number - 1], context_.kept->capacity());
            bytes = checkedAdd(bytes, roundUp(own, std::max<int64_t>(64, context_.device->alignment())), "masks");
        }
    };
    forMasks([](int, int64_t) {});
    if (bytes == 0) return;
    DeviceBlock* block = memory.reserveMasks(bytes);
    forMasks([&](int operand, int64_t offset) {
        tensors.frame.place(operand, DevicePlace{block, offset});
        tensors.frame.place(operand, static_cast<char*>(block->host()) + offset);
    });
}

void BoundProgram::addSlice(const MovingSlice& slice) {
    Slice& own = slices_.emplace_back();
    own.node = slice.node;
    for (size_t i = 0; i < slice.inputs.size(); ++i) {
        Tensor& input = own.tensors.emplace_back(slice.inputs[i]);
        if (slice.guards[i] >= 0) {
            const auto of = static_cast<size_t>(slice.guards[i]);
            input.values =
                program_->guards[of].input.onlyOffset ? guards_[of].moved.data() : program_->guards[of].content->data();
        }
        own.inputs.push_back(&input);
    }
    for (const Tensor& output : slice.outputs) own.outputs.push_back(&own.tensors.emplace_back(output));
}

void BoundProgram::bind(StageMemory& memory, GraphTensors& tensors) {
    Frame& frame = tensors.frame;
    MemoryBases bases = memory.reserve(program_->needs);
    const int64_t constantBytes = program_->needs.of(MemoryBlock::Constants);
    if (constantBytes > 0)
        bases.blocks[static_cast<size_t>(MemoryBlock::Constants)] =
            constants_.reserve(constantBytes, "constants on the device");
    frame.grow(program_->operands);
    for (const Placement& placement : program_->placements) placement.bind(frame, bases);
    for (const KnownOperand& known : program_->known) frame.place(known.operand, const_cast<void*>(known.values));
    fenceArena(program_->placements, bases, program_->needs.host);
    follow(tensors);
    placeMasks(memory, tensors);
    // Where the pages lack room for the rows of a run, the run itself adds pages and then records.
    if (keptRows_ > 0 && context_.kept->capacity() - context_.kept->length() < keptRows_) return;
    recordAnew(memory, frame);
}

// Records all steps of the device, unless the memory that they use is that of the present recordings.
void BoundProgram::recordAnew(const StageMemory& memory, const Frame& frame) {
    if (!context_.device) return;
    std::array<uint64_t, kMemoryBlocks + 1> now = {};
    const auto blocks = memory.generations();
    std::copy(blocks.begin(), blocks.end(), now.begin());
    if (keptRows_ > 0) now.back() = context_.kept->generation();
    if (recorded_ && now == recordedFor_) return;
    record(*context_.device, frame);
    recorded_ = true;
    recordedFor_ = now;
}

void BoundProgram::follow(GraphTensors& tensors) noexcept {
    bindViews(tensors.frame, program_->views);
    for (size_t i = 0; i < guards_.size(); ++i)
        guards_[i].data = tensors.data(tensors[program_->guards[i].input.tensor]);
}

// Constants go to the device when the program is bound for the first time.
void BoundProgram::record(DeviceBackend& device, const Frame& frame) {
    if (!recorded_ && !program_->constantUploads.empty()) device.record(program_->constantUploads, frame)->run();
    for (size_t i = 0; i < recordings_.size(); ++i) {
        if (recordings_[i])
            recordings_[i]->recordAgain();
        else if (!toRecord_[i].empty())
            recordings_[i] = device.record(toRecord_[i], frame);
    }
}

bool BoundProgram::upToDate(GraphTensors& tensors) {
    if (!valid_) return false;
    bool moved = false, relocated = false;
    for (size_t i = 0; i < guards_.size(); ++i) {
        const ProgramGuard& planned = program_->guards[i];
        Guard& guard = guards_[i];
        const Operand& tensor = tensors[planned.input.tensor];
        if (!planned.sameKind(tensor)) return false;
        const void* data = tensors.data(tensor);
        relocated |= data != guard.data;
        if (!planned.input.content || tensor.empty()) continue;
        const void* now = data;
        if (tensor.channelBlock != 1) {
            copyToHost(tensor, data, guard.fresh.data(), rowMajor(tensor));
            now = guard.fresh.data();
        }
        const auto bytes = static_cast<size_t>(planned.bytes);
        if (!planned.input.onlyOffset) {
            if (std::memcmp(now, planned.content->data(), bytes) != 0) return false;
        } else if (std::memcmp(now, guard.moved.data(), bytes) != 0) {
            std::memcpy(guard.moved.data(), now, bytes);
            moved = true;
        }
    }
    if (relocated) follow(tensors);
    if (!moved) return true;
    valid_ = false;  // becomes true again below if all shapes are unchanged
    for (Slice& slice : slices_)
        if (!sameShapes(slice)) return false;
    return valid_ = true;
}

bool BoundProgram::sameShapes(Slice& slice) const {
    const Node& node = *slice.node;
    if (findSearchParts(node.type) && !node.fixed.empty()) return false;  // its output has room for any number
    node.def->shape({node, slice.inputs, slice.outputs});
    const Tensor &now = *slice.outputs[0], &planned = *program_->tensors.find(now.number);
    return now.shape == planned.shape && sameList(now.list, planned.list);
}

}  // namespace mnnc
