// Takes programs into use, and runs their steps.
#include "session/stage.h"

#include <map>

#include "base/error.h"
#include "session/control_node.h"
#include "session/run_observer.h"

namespace mnnc {

Stage::Stage(SessionContext& context, GraphTensors& tensors, const GraphSchedule& schedule, int index,
             std::vector<Item> items)
    : context_(context),
      tensors_(tensors),
      schedule_(schedule),
      index_(index),
      items_(std::move(items)),
      madeHere_(tensors.count()),
      foldedHere_(tensors.count()),
      memory_(context) {
    for (const Item& item : items_)
        for (const int id : item.op->node->outputs) {
            if (id < 0 || item.control) continue;
            madeHere_[static_cast<size_t>(id)] = true;
            if (item.op->folded) foldedHere_[static_cast<size_t>(id)] = true;
        }
    // The first stage depends only on the shapes of the inputs: its pipeline knows when they change.
    if (index_ == 0) return;
    std::map<std::pair<int, bool>, size_t> seen;
    for (const Item& item : items_) {
        const Node& node = *item.op->node;
        for (size_t k = 0; k < node.inputs.size(); ++k) {
            const int id = node.inputs[k];
            if (id < 0 || schedule_.folded[static_cast<size_t>(id)]) continue;
            const bool content = k < 32 && ((item.op->content >> k) & 1u);
            const bool moving = k < 32 && ((item.op->moving >> k) & 1u);
            if (!content && !schedule_.fromControl[static_cast<size_t>(id)]) continue;
            const auto [found, added] = seen.emplace(std::pair{id, content}, inputs_.size());
            if (added)
                inputs_.push_back({id, content, moving});
            else
                inputs_[found->second].onlyOffset &= moving;
        }
    }
}

Stage::~Stage() = default;

void Stage::invalidate() noexcept {
    if (program_) program_->invalidate();
    for (const Item& item : items_)
        if (item.control) item.control->outdate();
}

std::unique_ptr<BoundProgram> Stage::exchange(std::unique_ptr<BoundProgram> program) noexcept {
    program_.swap(program);
    for (const Item& item : items_) {
        if (item.control) {
            item.control->outdate();
            continue;
        }
        for (const int id : item.op->node->outputs)
            if (id >= 0) tensors_.setPlanned(id, program_ ? (*program_)->tensors.find(id + 1) : nullptr);
    }
    return program;
}

void Stage::bind() {
    if (!program_) return;
    program_->bind(memory_, tensors_);
    if (context_.settings.recordsPlans) context_.planTexts[{schedule_.graph, index_}] = (*program_)->texts;
}

void Stage::shrink() {
    memory_.shrink(program_ ? (*program_)->needs : MemoryNeeds());
}

void Stage::execute() {
    const std::vector<ProgramStep>& steps = (*program_)->steps;
    program_->beginKept(memory_, tensors_);
    for (size_t i = 0; i < steps.size(); ++i) {
        context_.cancel.check();
        if (steps[i].control >= 0)
            items_[static_cast<size_t>(steps[i].control)].control->run();
        else if (context_.observer)
            executeObserved(i);
        else
            executeStep(i);
    }
    program_->verify();
}

void Stage::executeStep(size_t number) {
    Recording* recording = context_.cancel.possible() ? program_->recording(number) : nullptr;
    recording ? recording->runCancellable(context_.cancel) : program_->run(number, tensors_.frame);
}

Recording* Stage::recording() const noexcept {
    return program_ && (*program_)->steps.size() == 1 ? program_->recording(0) : nullptr;
}

// Returns the call as the observer sees it: inputs with an open extent have their present shape instead of the one in
// the program.
OpCall Stage::withOpenInputs(const OpCall& call) {
    OpCall shown = call;
    for (Operand*& input : shown.inputs)
        if ((*program_)->openInput(input->number)) input = &tensors_.own(input->number - 1);
    return shown;
}

void Stage::executeObserved(size_t number) {
    Recording* recording = program_->recording(number);
    if (recording && recording->showsSteps())
        executeShown(number, *recording);
    else if (recording)
        executeTogether(number, *recording);
    else
        executeOnHost(number);
}

// Only a program with open inputs needs copies of its calls: other observed runs allocate nothing here.
bool Stage::askBefore(const OpCall& call) {
    if ((*program_)->openInputs.empty()) return context_.observer->before(call, tensors_.frame);
    return context_.observer->before(withOpenInputs(call), tensors_.frame);
}

void Stage::reportAfter(const OpCall& call, double deviceMs) {
    if ((*program_)->openInputs.empty()) return context_.observer->after(call, tensors_.frame, deviceMs);
    context_.observer->after(withOpenInputs(call), tensors_.frame, deviceMs);
}

void Stage::executeOnHost(size_t number) {
    const ProgramStep& step = (*program_)->steps[number];
    bool wanted = true;
    for (const OpCall& call : step.calls) {
        wanted &= askBefore(call);
        if (!wanted) requireOptional(number, 0);
    }
    context_.cancel.check();
    if (wanted) executeStep(number);
    for (const OpCall& call : step.calls) reportAfter(call, -1);
}

// Called when a callback leaves a call of a step out: throws NotSupported if the call keeps a state.
void Stage::requireOptional(size_t number, size_t call) const {
    if (!program_->keeps(number, call)) return;
    fail(Status::NotSupported,
         "a callback returned MNN_OP_SKIP before operator '%s', which keeps what it computes for later runs and cannot "
         "be left out",
         (*program_)->steps[number].calls[call].record.name.c_str());
}

// Commands that a device runs as one recording are reported together, and none of them can be left out.
void Stage::executeTogether(size_t number, Recording& recording) {
    const ProgramStep& step = (*program_)->steps[number];
    for (const OpCall& call : step.calls) {
        context_.cancel.check();
        if (!askBefore(call))
            fail(Status::NotSupported,
                 "a callback returned MNN_OP_SKIP before operator '%s', which the %s backend runs with others: "
                 "MNN_GPU_RECORD_OP is needed to leave it out",
                 call.record.name.c_str(), call.record.backend);
    }
    context_.cancel.check();
    std::vector<double> deviceMs(step.calls.size(), -1.0);
    if (!context_.observer->wantsDeviceTimes())
        executeStep(number);
    else if (!context_.cancel.possible())
        recording.runTimed(deviceMs);
    else
        for (size_t i = 0; i < deviceMs.size(); ++i) {
            context_.cancel.check();
            recording.runStep(i, &deviceMs[i]);
        }
    for (size_t i = 0; i < step.calls.size(); ++i) reportAfter(step.calls[i], deviceMs[i]);
}

// Runs the calls of a step one after another, so that the observer can read the values on the device.
void Stage::executeShown(size_t number, Recording& recording) {
    const ProgramStep& step = (*program_)->steps[number];
    struct Shown {
        explicit Shown(SessionContext& session) : context(session) { context.showsDevice = true; }
        ~Shown() { context.showsDevice = false; }
        SessionContext& context;
    } const shown(context_);
    for (size_t i = 0; i < step.calls.size(); ++i) {
        const OpCall& call = step.calls[i];
        context_.cancel.check();
        const bool wanted = askBefore(call);
        context_.cancel.check();
        double deviceMs = -1;
        if (!wanted) requireOptional(number, i);
        if (wanted) recording.runStep(i, context_.observer->wantsDeviceTimes() ? &deviceMs : nullptr);
        reportAfter(call, deviceMs);
    }
}

void Stage::appendRecords(std::vector<OpRecord>& records) const {
    (*program_)->appendRecords(records);
}

}  // namespace mnnc
