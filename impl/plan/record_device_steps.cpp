// The pass record-device-steps: device steps without a step of the host between them become one step.
#include <algorithm>
#include <set>

#include "plan/passes.h"
#include "plan/storage_location.h"

namespace mnnc {

// Each maximal sequence of device steps becomes one step. The host's part of an upload comes before the sequence: a
// tensor that the sequence downloads can only be uploaded again in a later one.
void recordDeviceSteps(StepPlan& plan, const StepContext& context) {
    if (!context.device) return;
    std::vector<Step> grouped;
    for (size_t i = 0; i < plan.steps.size();) {
        if (!plan.steps[i].onDevice) {
            grouped.push_back(std::move(plan.steps[i++]));
            continue;
        }
        std::vector<DeviceStep> run;
        std::vector<OpCall> calls;
        std::set<const Operand*> downloaded;
        for (; i < plan.steps.size() && plan.steps[i].onDevice; ++i) {
            const Command& command = plan.steps[i].command;
            if (std::any_of(command.inputs.begin(), command.inputs.end(),
                            [&](Operand* input) { return downloaded.count(rootOf(input)) > 0; }))
                break;
            for (const Operand* output : command.outputs)
                if (!output->onDevice) downloaded.insert(output);
            run.push_back({context.shared(std::move(plan.steps[i].unrecorded), true), plan.steps[i].scratch});
            std::move(plan.steps[i].calls.begin(), plan.steps[i].calls.end(), std::back_inserter(calls));
        }
        Step& step = grouped.emplace_back();
        step.onDevice = true;
        step.calls = std::move(calls);
        step.toRecord = std::move(run);
    }
    plan.steps = std::move(grouped);
}

}  // namespace mnnc
