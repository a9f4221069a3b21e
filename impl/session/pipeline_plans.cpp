// Makes plans of a graph, keeps plans that are not in use, and finds them again.
#include <algorithm>
#include <cstring>
#include <new>

#include "session/control_node.h"
#include "session/kept_states.h"
#include "session/pipeline.h"
#include "tensor/tensor_list.h"

namespace mnnc {

namespace {

// Returns whether more memory would have prevented the exception in flight. Callable only in a handler.
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
    if (wanted.shape == shape && wanted.type == type && wanted.format == format && sameList(wanted.list, list)) return;
    wanted = {shape, type, format, list};
    described_ = serves(planned_, stages_[0]->program());
    if (described_) takeOpenExtents();
}

bool Pipeline::serves(const std::vector<InputDescription>& inputs, const BoundProgram* first) const noexcept {
    if (inputs == wanted_) return true;
    if (!first || inputs.size() != wanted_.size() || (*first)->openInputs.empty()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Tensor& made = (*first)->inputs[i];
        InputDescription open = inputs[i];
        open.shape = wanted_[i].shape;
        if (!(open == wanted_[i]) || !(*first)->takesShape(made, wanted_[i].shape)) return false;
    }
    return true;
}

void Pipeline::takeOpenExtents() noexcept {
    for (size_t i = 0; i < planned_.size(); ++i) {
        if (planned_[i] == wanted_[i]) continue;
        planned_[i].shape = input(i).shape = wanted_[i].shape;
        const int64_t bytes = input(i).storageBytes();
        if (bytes > inputMemory_[i].size())
            ready_ = false;  // prepare() takes more
        else
            std::memset(inputMemory_[i].data(), 0, static_cast<size_t>(bytes));
    }
}

int64_t Pipeline::inputBytes(const Tensor& input, const BoundProgram* first) const {
    const OpenInput* open = first ? (*first)->openInput(input.number) : nullptr;
    return open ? open->bytes(input, context_.kept->capacity()) : input.bytes();
}

void Pipeline::growInputs() {
    if (!prepared()) return;
    bool grows = false;
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        const int64_t bytes = inputBytes(input(i), stages_[0]->program());
        if (bytes <= inputMemory_[i].size()) continue;
        inputMemory_[i].grow(bytes, "an input");
        grows = true;
        ready_ = false;
    }
    if (grows) bind();
}

void Pipeline::prepare() {
    if (prepared()) return;
    if (described_ && !stale_) return bind();  // the plan lost its memory
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const KeptPlan& kept) { return serves(kept.inputs, kept.stages[0].get()); });
    if (found == kept_.end()) return planFirst();
    kept_.splice(kept_.begin(), kept_, found);
    use(*found);
}

std::vector<Tensor> Pipeline::wantedInputs() const {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        Tensor& input = inputs.emplace_back(tensors_[inputIds_[i]]);
        input.shape = wanted_[i].shape;
        input.type = wanted_[i].type;
        input.format = wanted_[i].format;
        input.list = wanted_[i].list;
        input.bytes();  // throws when the size is out of range
    }
    return inputs;
}

void Pipeline::exchange(KeptPlan& kept) noexcept {
    ready_ = false;
    for (size_t i = 0; i < stages_.size(); ++i) kept.stages[i] = stages_[i]->exchange(std::move(kept.stages[i]));
    planned_.swap(kept.inputs);
    for (size_t i = 0; i < planned_.size(); ++i) {
        input(i).shape = planned_[i].shape;
        input(i).type = planned_[i].type;
        input(i).format = planned_[i].format;
        input(i).list = planned_[i].list;
    }
}

// Some loops alternate between two plans in each run, so this allocates nothing where the memory suffices for both
// plans.
void Pipeline::use(KeptPlan& kept) {
    // The present memory keeps its content while this may fail.
    std::list<std::pair<size_t, BudgetedBuffer>> grown;
    for (size_t i = 0; i < wanted_.size(); ++i) {
        Tensor input;
        input.number = inputIds_[i] + 1;
        input.shape = wanted_[i].shape;
        input.type = wanted_[i].type;
        const int64_t bytes = inputBytes(input, kept.stages[0].get());
        if (bytes <= inputMemory_[i].size() && inputMemory_[i].data()) continue;
        BudgetedBuffer& memory = grown.emplace_back(i, context_).second;
        memory.reserve(bytes, "an input");
        const auto held = static_cast<size_t>(inputMemory_[i].size());
        if (held > 0) std::memcpy(memory.data(), inputMemory_[i].data(), held);
        std::memset(static_cast<char*>(memory.data()) + held, 0, static_cast<size_t>(bytes) - held);
    }
    const auto exchangeMemory = [&]() noexcept {
        for (auto& [i, memory] : grown) inputMemory_[i].swap(memory);
    };
    exchange(kept);
    exchangeMemory();
    try {
        for (size_t i = 0; i < planned_.size(); ++i) planned_[i].shape = input(i).shape = wanted_[i].shape;
        checkVariables();
        bind();
    } catch (...) {
        exchange(kept);
        exchangeMemory();
        if (stages_[0]->program()) bindOrLose();
        throw;
    }
    described_ = true;
    zeroInputs(kept.inputs);
}

// Places of operands change only here, where a later stage gets a plan, and where inputs and outputs are bound.
void Pipeline::bind() {
    ready_ = false;
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        const BoundProgram* first = stages_[0]->program();
        const int64_t bytes = std::max(inputBytes(input(i), first), input(i).storageBytes());
        const bool grows = bytes > inputMemory_[i].size();
        // An open input also grows with the kept state while its description stays. For others, both memories at once
        // might exceed the limit.
        if (first && (*first)->openInput(input(i).number))
            inputMemory_[i].grow(bytes, "an input");
        else if (void* memory = inputMemory_[i].reserve(bytes, "an input"); grows)
            std::memset(memory, 0, static_cast<size_t>(bytes));
    }
    bindInputs();
    for (const auto& stage : stages_) stage->bind();
    ready_ = true;
}

void Pipeline::bindInputs() noexcept {
    for (size_t i = 0; i < inputIds_.size(); ++i) tensors_.frame.place(inputIds_[i] + 1, inputMemory_[i].data());
}

// Used after a failure, which the caller reports.
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

ProgramPtr Pipeline::programOf(size_t stage, Stage::Request request) {
    Stage& made = *stages_[stage];
    const auto plan = [&]() {
        const int64_t weights = context_.weights->bytes();
        ProgramPtr program = made.plan(request);
        // The weight store compares only the weights with the limit, not their sum with the session's memory.
        if (context_.weights->bytes() > weights) context_.checkHeld();
        return program;
    };
    if (!shares()) return plan();
    const auto fits = [&](const Program& program) { return made.fits(program, request); };
    if (ProgramPtr program = shared_->find(stage, fits)) return program;
    return shared_->add(stage, plan(), fits);
}

void Pipeline::planFirst() {
    // The plan in use becomes a kept one. Until then it and the new one exist beside the kept ones, which make room for
    // two.
    const size_t maxPlans = context_.planCache + furtherPlans_;
    while (!kept_.empty() && kept_.size() + 2 > std::max<size_t>(maxPlans, 2)) kept_.pop_back();
    for (;;) {
        try {
            const std::vector<Tensor> inputs = wantedInputs();
            KeptPlans fresh;
            KeptPlan& plan = fresh.emplace_back();
            plan.inputs = wanted_;
            plan.stages.resize(stages_.size());
            const BoundProgram* before = stages_[0]->program();
            plan.stages[0] =
                std::make_unique<BoundProgram>(context_, programOf(0, {stale_ ? nullptr : before, inputs}), before);
            use(plan);  // `plan` is the previous plan now
            if (plan.stages[0] && maxPlans > 1 && !stale_) kept_.splice(kept_.begin(), fresh);
            stale_ = false;
            return;
        } catch (...) {
            if (!isLackOfMemory() || !makeRoom()) throw;
        }
    }
}

// An input that the caller has not written reads as zeros, not as old heap contents. `before`: the previous use of the
// memory.
void Pipeline::zeroInputs(const std::vector<InputDescription>& before) {
    for (size_t i = 0; i < inputIds_.size(); ++i) {
        if (i < before.size() && before[i] == planned_[i]) continue;
        std::memset(inputMemory_[i].data(), 0, static_cast<size_t>(input(i).storageBytes()));
    }
}

void Pipeline::planLater(size_t stage, PlanObserver* observer) {
    Stage& planned = *stages_[stage];
    std::vector<ProgramPtr> earlier;
    for (size_t i = 0; i < stage; ++i) earlier.push_back(stages_[i]->program()->program());
    const auto report = [&]() {
        stagesRun_ = stage;
        try {
            if (observer) observer->planned();
        } catch (...) {
            stagesRun_ = 0;
            throw;
        }
        stagesRun_ = 0;
    };
    for (;;) {
        try {
            const BoundProgram* before = planned.program();
            if (!before && !kept_.empty()) before = kept_.front().stages[stage].get();
            auto program = std::make_unique<BoundProgram>(context_, programOf(stage, {before, {}, earlier}), before);
            program = planned.exchange(std::move(program));
            try {
                planned.bind();
            } catch (...) {
                planned.exchange(std::move(program));
                planned.invalidate();
                throw;
            }
            break;
        } catch (...) {
            report();
            if (!isLackOfMemory() || !makeRoom()) throw;
        }
    }
    for (size_t later = stage + 1; later < stages_.size(); ++later) stages_[later]->invalidate();
    report();
}

void Pipeline::trim() {
    kept_.clear();
    if (keeps()) context_.kept->shrink();
    for (const auto& control : controls_) control->trim();
    if (context_.keepReplaced) return;
    const bool hadMemory = ready_;
    ready_ = false;
    for (const auto& stage : stages_) stage->shrink();
    if (!stages_[0]->program()) return;
    for (size_t i = 0; i < inputIds_.size(); ++i)
        inputMemory_[i].shrink(std::max(inputBytes(input(i), stages_[0]->program()), input(i).storageBytes()));
    // A plan that had no memory, because none was available, gets it in the next prepare().
    hadMemory ? bind() : bindInputs();
}

}  // namespace mnnc
