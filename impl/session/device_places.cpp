// Places inputs and outputs of the present plan in buffers of a device.
#include "plan/storage_location.h"
#include "session/pipeline.h"

namespace mnnc {

// Returns whether an execution of the host reads the tensor, or a view of it.
bool Stage::hostReads(const Operand& root) const noexcept {
    for (const ProgramStep& step : (*program_)->steps) {
        if (step.onDevice) continue;
        for (const OpCall& call : step.calls)
            for (Operand* input : call.inputs)
                if (rootOf(input)->number == root.number) return true;
    }
    return false;
}

// Returns whether the tensor, or a view of it, is uploaded through separate memory.
bool Stage::readsThrough(const Operand& root) const noexcept {
    for (const StagedTensor& staged : (*program_)->staged)
        if (rootOf(staged.host)->number == root.number) return true;
    return false;
}

void Stage::readThrough(const Operand& root, DeviceBlock* block) noexcept {
    for (const StagedTensor& staged : (*program_)->staged)
        if (rootOf(staged.host)->number == root.number) place(*staged.staging, block);
}

// Returns whether the plan places the tensor in memory that both the device and the host see.
bool Stage::placedOnDevice(const Operand& root) const noexcept {
    for (const Placement& placement : (*program_)->placements)
        if (placement.operand == root.number && !placement.onHost) return true;
    return false;
}

// block null: the tensor lies where the plan places it, and the host sees it.
void Stage::place(const Operand& tensor, DeviceBlock* block) noexcept {
    if (!block && tensors_.frame.data<void>(tensor)) return;
    if (block) {
        tensors_.frame.place(tensor.number, DevicePlace{block, 0});
        tensors_.frame.place(tensor.number, nullptr);
    } else {
        for (const Placement& placement : (*program_)->placements)
            if (placement.operand == tensor.number) placement.bind(tensors_.frame, memory_.bases());
    }
    bindViews(tensors_.frame, (*program_)->views);
}

bool Pipeline::deviceReads(size_t index) noexcept {
    if (!singleStage() || !stages_[0]->planned()) return false;
    const Operand& tensor = input(index);
    for (size_t i = 0; i < outputCount(); ++i)
        if (rootOf(&tensors_[outputId(i)])->number == tensor.number) return false;
    return context_.device && tensor.usage == Usage::Input && !tensor.aliasOf && !tensor.empty() &&
           !stages_[0]->hostReads(tensor) && !(*stages_[0]->program())->openInput(tensor.number);
}

bool Pipeline::deviceMakes(size_t index) noexcept {
    if (!singleStage() || !stages_[0]->planned()) return false;
    const auto [root, offset] = outputStorage(index);
    const Operand& tensor = output(index);
    return context_.device && root && offset == 0 && tensors_.frame.device(*root).block && !root->onDevice &&
           root->channelBlock == 1 && tensor.channelBlock == 1 && root->storageBytes() == tensor.storageBytes() &&
           stages_[0]->placedOnDevice(*root) && !stages_[0]->hostReads(*root) && !stages_[0]->readsThrough(*root);
}

void Pipeline::readFrom(size_t index, DeviceBlock* block) noexcept {
    if (context_.device && stages_[0]->planned()) stages_[0]->readThrough(input(index), block);
}

void Pipeline::makeIn(size_t index, DeviceBlock* block) noexcept {
    if (!context_.device || !stages_[0]->planned()) return;
    const Operand* root = outputStorage(index).root;
    if (root && stages_[0]->placedOnDevice(*root)) stages_[0]->place(*root, block);
}

}  // namespace mnnc
