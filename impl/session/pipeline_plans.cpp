// Makes plans of a graph, keeps those that are not in use, and finds them again.
#include <algorithm>
#include <cstring>
#include <new>

#include "session/control_node.h"
#include "session/exchange_state.h"
#include "session/pipeline.h"
#include "tensor/tensor_list.h"

namespace mnnc {

namespace {

// Whether the exception under way is one that more memory would have prevented. Only while one is handled.
bool isLackOfMemory() noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return error.status() == Status::OutOfMemory || error.status() == Status::LimitExceeded;
    } catch (const std::bad_alloc&) {
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace

bool InputDescription::operator==(const InputDescription& other) const noexcept {
    return shape == other.shape && type == other.type && format == other.format && sameList(list, other.list);
}

void Pipeline::describeInput(size_t index, const Shape& shape, DataType type, Format format,
                             const std::shared_ptr<const TensorList>& list) {
    InputDescription& wanted = wanted_[index];
    if (wanted.shape == shape && wanted.type == type && wanted.format == format &&
        sameList(wanted.list, list))
        return;
    wanted = {shape, type, format, list};
    described_ = wanted_ == planned_;
}

void Pipeline::prepare() {
    if (prepared()) return;
    if (described_ && !stale_) return bind();  // the plan lost its memory
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const KeptPlan& kept) { return kept.inputs == wanted_; });
    if (found == kept_.end()) return planFirst();
    kept_.splice(kept_.begin(), kept_, found);
    exchange(*found);
    try {
        bind();
    } catch (...) {
        exchange(*found);
        bindOrLose();
        throw;
    }
    described_ = true;
    zeroInputs(found->inputs);
}

void Pipeline::exchangeTensors(std::vector<Tensor>& tensors) noexcept {
    for (size_t i = 0; i < tensors.size(); ++i) exchangeState(tensors_[i], tensors[i]);
}

void Pipeline::exchange(KeptPlan& kept) noexcept {
    ready_ = false;
    for (size_t i = 0; i < stages_.size(); ++i)
        kept.stages[i] = stages_[i]->exchange(std::move(kept.stages[i]));
    exchangeTensors(kept.tensors);
    planned_.swap(kept.inputs);
}

// Addresses of tensors change here and nowhere else but in plans.
void Pipeline::bind() {
    ready_ = false;
    for (size_t i = 0; i < inputIds_.size(); ++i)
        inputMemory_[i].reserve(input(i).storageBytes(), "an input");
    bindInputs();
    for (const auto& stage : stages_) stage->bind();
    ready_ = true;
}

void Pipeline::bindInputs() noexcept {
    for (size_t i = 0; i < inputIds_.size(); ++i) frame_.place(input(i).number, inputMemory_[i].data());
}

// After a failure, which the caller reports.
void Pipeline::bindOrLose() noexcept {
    try {
        bind();
    } catch (...) {
        ready_ = false;
    }
}

bool Pipeline::makeRoom() noexcept {
    if (kept_.empty()) return false;
    kept_.clear();
    return true;
}

void Pipeline::planFirst() {
    // The plan in use becomes a kept one. At most two are alive in addition to those that stay.
    while (!kept_.empty() && kept_.size() + 2 > std::max<size_t>(context_.planCache, 2)) kept_.pop_back();
    for (;;) {
        try {
            KeptPlans before;
            tryPlanFirst(before);
            if (before.front().stages[0] && context_.planCache > 1 && !stale_)
                kept_.splice(kept_.begin(), before);
            stale_ = false;
            return;
        } catch (...) {
            if (!isLackOfMemory() || !makeRoom()) throw;
        }
    }
}

// `before` gets the plan that was in use.
void Pipeline::tryPlanFirst(KeptPlans& before) {
    KeptPlan& old = before.emplace_back();
    old.tensors = tensors_;
    old.inputs = wanted_;
    old.stages.resize(stages_.size());
    const bool hadPlan = stages_[0]->hasPlan();
    std::vector<GrownInput> grown;
    grown.reserve(inputIds_.size());
    std::vector<int64_t> sizes;
    ready_ = false;
    try {
        for (size_t i = 0; i < inputIds_.size(); ++i) {
            Tensor& tensor = input(i);
            tensor.shape = wanted_[i].shape;
            tensor.type = wanted_[i].type;
            tensor.format = wanted_[i].format;
            tensor.list = wanted_[i].list;
            const int64_t bytes = tensor.storageBytes();
            const bool fits = bytes <= inputMemory_[i].size() && inputMemory_[i].data();
            BudgetedBuffer& buffer =
                fits ? inputMemory_[i] : grown.emplace_back(GrownInput{i, BudgetedBuffer(context_)}).memory;
            frame_.place(tensor.number, buffer.reserve(bytes, "an input"));
        }
        stages_[0]->plan(old.stages[0], nullptr, !stale_);
        checkVariables();
    } catch (...) {
        exchangeTensors(old.tensors);
        if (hadPlan) bindOrLose();
        throw;
    }
    // From here on nothing throws.
    for (GrownInput& one : grown) inputMemory_[one.input].swap(one.memory);
    for (size_t later = 1; later < stages_.size(); ++later)
        old.stages[later] = stages_[later]->exchange(nullptr);
    planned_.swap(old.inputs);
    described_ = ready_ = true;
    zeroInputs(old.inputs);
}

// Who does not write an input reads zeros, not what the heap held. `before`: what the memory was used for.
void Pipeline::zeroInputs(const std::vector<InputDescription>& before) {
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        if (i < before.size() && before[i] == planned_[i]) continue;
        std::memset(inputMemory_[i].data(), 0, static_cast<size_t>(input(i).storageBytes()));
    }
}

void Pipeline::planLater(size_t stage, PlanObserver* observer) {
    for (;;) {
        std::vector<Tensor> tensors = tensors_;
        std::unique_ptr<StagePlan> before;
        try {
            stages_[stage]->plan(before, kept_.empty() ? nullptr : kept_.front().stages[stage].get(), true);
            break;
        } catch (...) {
            exchangeTensors(tensors);
            try {
                stages_[stage]->bind();
            } catch (...) {
                stages_[stage]->invalidate();
            }
            if (observer) observer->planned();
            if (!isLackOfMemory() || !makeRoom()) throw;
        }
    }
    for (size_t later = stage + 1; later < stages_.size(); ++later) stages_[later]->invalidate();
    if (observer) observer->planned();
}

void Pipeline::trim() {
    kept_.clear();
    for (const auto& control : controls_) control->trim();
    if (context_.keepReplaced) return;
    ready_ = false;
    for (const auto& stage : stages_) stage->shrink();
    if (!stages_[0]->hasPlan()) return;
    for (size_t i = 0; i < inputIds_.size(); ++i) inputMemory_[i].shrink(input(i).storageBytes());
    bind();
}

}  // namespace mnnc
