// The pass elide-copies: lets the producers of a concatenation's inputs write into its output.
#include <algorithm>
#include <set>

#include "plan/passes.h"
#include "plan/raster_views.h"
#include "plan/storage_location.h"

namespace mnnc {

namespace {

bool concatInto(StepPlan& plan, const Command& command, const std::set<const Operand*>& planned) {
    Operand* output = command.outputs[0];
    if (planned.count(output) == 0 || command.regions.empty()) return false;
    struct Part {
        int64_t to, bytes;
        StorageLocation from;
    };
    std::vector<Part> parts;
    for (const Region& region : command.regions) {
        Operand* input = command.inputs[static_cast<size_t>(region.input)];
        const int64_t to = subrangeOffset(*output, *input, region);
        const StorageLocation from = storageLocation(input);
        if (to < 0 || planned.count(from.root) == 0 || from.root == rootOf(output)) return false;
        parts.push_back({to, input->storageBytes(), from});
    }
    // The parts must be adjacent, without gaps or overlaps.
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.to < b.to; });
    int64_t end = 0;
    std::vector<Part> runs;  // parts that are already adjacent in one tensor
    for (const Part& part : parts) {
        if (part.to != end) return false;
        end += part.bytes;
        if (!runs.empty() && runs.back().from.root == part.from.root &&
            runs.back().from.offset + runs.back().bytes == part.from.offset)
            runs.back().bytes += part.bytes;
        else
            runs.push_back(part);
    }
    if (end != output->storageBytes()) return false;
    std::set<const Operand*> roots;
    const bool apart =
        std::all_of(runs.begin(), runs.end(), [&](const Part& run) {  // no storage has been chosen for them yet
            return run.from.offset == 0 && run.from.root->storageBytes() == run.bytes &&
                   roots.insert(run.from.root).second;
        });
    if (apart) {
        for (const Part& run : runs) {
            run.from.root->aliasOf = output;
            run.from.root->aliasOffset = run.to;
            plan.views.push_back(run.from.root);
        }
        return true;
    }
    if (runs.size() != 1 || output->aliasOf) return false;
    output->aliasOf = runs[0].from.root;
    output->aliasOffset = runs[0].from.offset;
    plan.views.push_back(output);
    return true;
}

}  // namespace

// A Raster that puts whole tensors side by side (a concatenation) needs no step where the producers can write into its
// output. Rasters are visited in reverse, so that nested concatenations are merged into the outermost one.
void elideCopies(StepPlan& plan, const StepContext& context) {
    std::set<const Operand*> planned;
    for (const Step& step : plan.steps)
        for (const Operand* output : step.command.outputs)
            if (step.execution && !step.onDevice && !output->empty() && !context.liesOutside(output))
                planned.insert(output);
    std::vector<bool> joined(plan.steps.size());
    for (size_t i = plan.steps.size(); i-- > 0;) {
        const Step& step = plan.steps[i];
        joined[i] = step.execution && !step.onDevice && step.command.type == OpType::Raster &&
                    concatInto(plan, step.command, planned);
    }
    size_t i = 0;
    std::erase_if(plan.steps, [&](const Step&) { return joined[i++]; });
}

}  // namespace mnnc
