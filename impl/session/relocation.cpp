// Tensors of a plan that stands move to other memory, with all views of them.
#include "plan/storage_location.h"
#include "session/pipeline.h"

namespace mnnc {

// `root` has moved: so do the views of it that this stage made, and the addresses that its plan depends on.
void Stage::follow(const Tensor& root) noexcept {
    if (!planned()) return;
    for (Tensor* view : plan_->views) {
        if (!frame_.data<void>(*view)) continue;
        const StorageLocation place = storageLocation(view);
        if (place.root == &root) frame_.place(view->number, frame_.data<char>(root) + place.offset);
    }
    for (PlanGuard& guard : plan_->guards) {
        Tensor& tensor = tensors_[static_cast<size_t>(guard.input.tensor)];
        if (rootOf(&tensor) == &root) guard.data = frame_.data<void>(tensor);
    }
}

bool Stage::makes(int tensor) const noexcept {
    for (const Item& item : items_)
        for (const int id : item.op->node->outputs)
            if (id == tensor) return !item.control;
    return false;
}

void Pipeline::relocate(const Tensor& root, void* to) noexcept {
    frame_.place(root.number, to);
    for (const auto& stage : stages_) stage->follow(root);
}

bool Pipeline::settled(int id) const noexcept {
    const Tensor& tensor = tensors_[static_cast<size_t>(id)];
    return tensor.usage == Usage::Input || tensor.usage == Usage::Constant || stages_[0]->makes(id);
}

StorageLocation Pipeline::outputStorage(size_t index) noexcept {
    const int id = outputId(index);
    for (const auto& stage : stages_)
        if (stage->planned() && stage->makes(id)) return storageLocation(&tensors_[static_cast<size_t>(id)]);
    return {nullptr, 0};
}

// Whether its bytes lie as in a row-major tensor, as those of blocks do that are whole and have one pixel.
static bool isRowMajor(const Tensor& tensor) {
    return tensor.channelBlock == 1 || packsToItself(tensor, tensor.channelBlock);
}

Tensor* Pipeline::movableRoot(size_t index) {
    const auto [root, offset] = outputStorage(index);
    const Tensor& tensor = output(index);
    if (!root || !data(tensor) || offset != 0 || tensor.hasConstantValue || root->hasConstantValue ||
        root->usage != Usage::Normal || root->onDevice || frame_.device(*root).block || !isRowMajor(*root) ||
        !isRowMajor(tensor) || root->storageBytes() != tensor.storageBytes())
        return nullptr;
    // Control flow puts its results where it likes.
    if (!std::less<>()(root, tensors_.data()) && std::less<>()(root, tensors_.data() + tensors_.size())) {
        const int id = static_cast<int>(root - tensors_.data());
        for (const auto& stage : stages_)
            if (stage->planned() && stage->makes(id)) return root;
        return nullptr;
    }
    return root;
}

}  // namespace mnnc
