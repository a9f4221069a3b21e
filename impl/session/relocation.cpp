// Moves tensors of the present plan, with all views of them, to other memory.
#include <algorithm>
#include <cstring>

#include "plan/storage_location.h"
#include "session/pipeline.h"

namespace mnnc {

void Stage::follow() noexcept {
    if (planned()) program_->follow(tensors_);
}

void* Stage::arenaPlace(int operand) noexcept {
    if (!planned()) return nullptr;
    for (const Placement& placement : (*program_)->placements)
        if (placement.operand == operand && placement.onHost) return memory_.bases().host + placement.offset;
    return nullptr;
}

bool Stage::makes(int tensor) const noexcept {
    return madeHere_[static_cast<size_t>(tensor)];
}

bool Pipeline::relocate(const Operand& root, void* to) noexcept {
    if (tensors_.frame.data(root.number) == to) return false;
    tensors_.frame.place(root.number, to);
    for (const auto& stage : stages_) stage->follow();
    return true;
}

bool Pipeline::placeInput(size_t index, void* data) noexcept {
    return relocate(input(index), data ? data : inputMemory(index));
}

bool Pipeline::placeOutput(const Operand& root, void* data) noexcept {
    for (size_t i = 0; i < stages_.size(); ++i) {
        void* home = stages_[i]->arenaPlace(root.number);
        if (!home) continue;
        const void* now = tensors_.frame.data(root.number);
        void* to = data ? data : home;
        // When a run is planning a later stage, the values already exist.
        if (i < stagesRun_ && now != to) std::memcpy(to, now, static_cast<size_t>(root.storageBytes()));
        return relocate(root, to);
    }
    return data && relocate(root, data);
}

bool Pipeline::settled(int id) const noexcept {
    const Usage usage = tensors_[id].usage;
    return usage == Usage::Input || usage == Usage::Constant || stages_[0]->makes(id);
}

bool Pipeline::isMade(int id) const noexcept {
    return std::any_of(stages_.begin(), stages_.end(),
                       [&](const auto& stage) { return stage->planned() && stage->makes(id); });
}

ConstStorageLocation Pipeline::outputStorage(size_t index) const noexcept {
    if (!isMade(outputId(index))) return {nullptr, 0};
    ConstStorageLocation place = storageLocation(&tensors_[outputId(index)]);
    // A tensor that a stage reads from an earlier one may be a view there.
    while (tensors_.isOfGraph(place.root->number)) {
        const Operand& made = tensors_[place.root->number - 1];
        if (&made == place.root) break;
        const ConstStorageLocation there = storageLocation(&made);
        place = {there.root, place.offset + there.offset};
        if (&made == there.root) break;
    }
    return place;
}

bool Pipeline::outputMayLieIn(size_t input) const noexcept {
    const Operand* tensor = &tensors_[inputIds_[input]];
    for (size_t i = 0; i < outputCount(); ++i) {
        const Operand* root = outputStorage(i).root;
        if (root == tensor || !settled(outputId(i))) return true;
    }
    return false;
}

// Returns whether the bytes of a tensor are in row-major order, as they also are in complete blocks of one pixel.
static bool isRowMajor(const Operand& tensor) {
    return tensor.channelBlock == 1 || packsToItself(tensor, tensor.channelBlock);
}

const Operand* Pipeline::movableRoot(size_t index) const {
    const auto [root, offset] = outputStorage(index);
    const Operand& tensor = output(index);
    if (!root || !data(tensor) || offset != 0 || tensor.hasConstantValue || root->hasConstantValue ||
        root->usage != Usage::Normal || root->onDevice || tensors_.frame.device(*root).block || !isRowMajor(*root) ||
        !isRowMajor(tensor) || root->storageBytes() != tensor.storageBytes())
        return nullptr;
    // Control flow chooses the place of its results itself.
    return !tensors_.isOfGraph(root->number) || isMade(root->number - 1) ? root : nullptr;
}

}  // namespace mnnc
