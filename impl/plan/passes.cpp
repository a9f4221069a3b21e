// The table of passes in the order in which they run.
#include "plan/passes.h"

#include "base/verifies.h"

namespace mnnc {

namespace {

constexpr Pass kPasses[] = {
    {"read-mask-entries", readMaskEntries},
    {"recognise-prelu", recognisePRelu},
    {"quantize", quantize},
    {"compose-rasters", composeRasters},
    {"fold-padding", foldPadding},
    {"recognise-activations", recogniseActivations},
    {"recognise-norms", recogniseNorms},
    {"fold-operand-rasters", foldOperandRasters},
    {"fuse-post-ops", fusePostOps},
    {"recognise-attention", recogniseAttention},
    {"assign-storage", assignStorage},
    {"fuse-composites", fuseComposites},
    {"keep-coordinates", keepCoordinates},
    {"share-packings", sharePackings},
    {"assign-backends", nullptr, assignBackends},
    {"elide-copies", nullptr, elideCopies},
    {"compute-in-place", nullptr, computeInPlace},
    {"plan-memory", nullptr, planMemory},
    {"record-device-steps", nullptr, recordDeviceSteps},
};

}  // namespace

std::span<const Pass> passes() {
    return kPasses;
}

void runPasses(CommandGraph& graph, const PlanContext& context, const PassObserver& observer) {
    if (observer) observer("", graph.text());
    for (const Pass& pass : kPasses) {
        if (!pass.overCommands) continue;
        pass.overCommands(graph, context);
        if (kVerifies) graph.verify();
        if (observer) observer(pass.name, graph.text());
    }
}

void runPasses(StepPlan& plan, const StepContext& context, const PassObserver& observer) {
    for (const Pass& pass : kPasses) {
        if (!pass.overSteps) continue;
        pass.overSteps(plan, context);
        if (observer) observer(pass.name, plan.text());
    }
}

}  // namespace mnnc
