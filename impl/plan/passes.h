// The passes over the commands of a stage, and then over the steps that the commands become, in the order in which they
// run. A pass is one function in one file, which is named after it.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "backend/backend.h"
#include "plan/graph.h"
#include "plan/step_plan.h"

namespace mnnc {

struct PlanContext {
    const Backend& backend;  // the wanted one
    const Backend& cpu;      // computes what the wanted backend does not; the same object where the CPU is wanted
    // A new tensor with the shape, type and format of `like`, which lives as long as the plan.
    std::function<Operand*(const Operand& like)> temporary;
    // Whether a later stage, a branch or a loop reads a tensor as coordinates (NetGraph::coordinates). Null: none does.
    std::function<bool(const Operand*)> isCoordinate = nullptr;
    // Whether something other than this plan produces a tensor (StepContext::isFromOutside). Null: nothing does.
    std::function<bool(const Operand*)> isFromOutside = nullptr;
    // Whether a tensor is a constant that gets a new value at the end of the run. Null: none is.
    std::function<bool(const Operand*)> isVariable = nullptr;

    // Returns the wanted backend where it has memory of its own, else null.
    const Backend* device() const noexcept { return &backend == &cpu ? nullptr : &backend; }
};

// Exactly one of the two functions is set.
struct Pass {
    const char* name;
    void (*overCommands)(CommandGraph& graph, const PlanContext& context);
    void (*overSteps)(StepPlan& plan, const StepContext& context) = nullptr;
};

// Passes over commands come first.
std::span<const Pass> passes();

// Called with the name of each pass and the plan as text after it; the name is "" before the first pass.
using PassObserver = std::function<void(const char* pass, const std::string& text)>;
void runPasses(CommandGraph& graph, const PlanContext& context, const PassObserver& observer);
void runPasses(StepPlan& plan, const StepContext& context, const PassObserver& observer);

// Lets attention over kept keys and values read its entries of a mask directly in the input, so that the plan holds for
// any number of keys.
void readMaskEntries(CommandGraph& graph, const PlanContext& context);
// PReLU that was written as a comparison, a choice and a product becomes one command.
void recognisePRelu(CommandGraph& graph, const PlanContext& context);
// Keeps tensors that have a scale in the model in int8: decides which commands run over int8 tensors, and inserts the
// conversions between float and int8.
void quantize(CommandGraph& graph, const PlanContext& context);
// Rasters that read the results of others read their sources instead, and the others disappear: slices of a transposed
// concatenation become slices of the tensors that were concatenated.
void composeRasters(CommandGraph& graph, const PlanContext& context);
// Averages over a map that was padded with zeros count their own padding instead.
void foldPadding(CommandGraph& graph, const PlanContext& context);
// Activations that were written as arithmetic (hard-swish, SiLU, GELU) become one unary command.
void recogniseActivations(CommandGraph& graph, const PlanContext& context);
// Layer normalisation that was written with single operators becomes one command, where the backend computes it.
void recogniseNorms(CommandGraph& graph, const PlanContext& context);
// Matrix products read their operands directly from the sources of the Rasters before them.
void foldOperandRasters(CommandGraph& graph, const PlanContext& context);
// Additions and activations after a command become its epilogue, where the backend computes them there.
void fusePostOps(CommandGraph& graph, const PlanContext& context);
// Attention that was written with single operators becomes one command, where the backend computes it.
void recogniseAttention(CommandGraph& graph, const PlanContext& context);
// Decides which backend should run each command and how operands are stored. It inserts nothing: a conversion follows
// where an operand is stored in another way than its consumer has chosen.
void assignStorage(CommandGraph& graph, const PlanContext& context);
// Groups of commands that the backend computes at once (Backend::patterns) become one command each.
void fuseComposites(CommandGraph& graph, const PlanContext& context);
// Marks tensors that hold coordinates, so that a device that stores floats in 16 bits keeps all of their bits.
void keepCoordinates(CommandGraph& graph, const PlanContext& context);
// Convolutions that share a constant as their weights use one algorithm, where one packed form of the weights is worth
// more than the best algorithm for each.
void sharePackings(CommandGraph& graph, const PlanContext& context);

// Commands become steps: makes executions over operands in the planned storage, and inserts conversions and copies.
// Commands that a device refuses while their execution is made go to the CPU.
void assignBackends(StepPlan& plan, const StepContext& context);
// Concatenations disappear where the producers of their parts can write into the result.
void elideCopies(StepPlan& plan, const StepContext& context);
// Executions that may write over their input do so, where no later step reads that input.
void computeInPlace(StepPlan& plan, const StepContext& context);
// Tensors and scratch get memory according to their lifetimes.
void planMemory(StepPlan& plan, const StepContext& context);
// Device steps without a step of the host between them become one.
void recordDeviceSteps(StepPlan& plan, const StepContext& context);

}  // namespace mnnc
