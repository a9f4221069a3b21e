// The pattern Attention: the operators with which nets write softmax(scale q k^T + mask) v, which never have a matrix of
// all scores when one kernel computes them. The heads of queries, keys, values and results stay where they lie.
#include "backends/cpu/kernels/attention.h"

#include <unordered_set>

#include "backends/cpu/fusions/attention_form.h"
#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/ops/gemm_type.h"
#include "plan/graph.h"

namespace mnnc::cpu {
namespace {

using Id = CommandGraph::Id;

class FusedAttention final : public Execution {
  public:
    FusedAttention(CpuBackend& backend, const Command& command)
        : backend_(backend),
          command_(command),
          form_(*std::static_pointer_cast<const AttentionForm>(command_.paramsAs<FusedParams>().prepared)) {
        form_.args.type = gemmType(backend_);
    }

    void prepare() override {
        requestScratch(attentionScratchBytes(backend_.kernels(), form_.args,
                                             backend_.planningPool().threads(), command_.name.c_str()));
    }

    void run(const Frame& frame) const override {
        AttentionData data;
        data.q = frame.data<const float>(input(form_.q));
        data.k = frame.data<const float>(input(form_.k));
        data.v = frame.data<const float>(input(form_.v));
        for (size_t i = 0; i < form_.steps.size(); ++i)
            data.steps[i] = frame.data<const void>(input(form_.steps[i]));
        data.out = frame.data<float>(*command_.outputs[0]);
        data.scratch = frame.scratch();
        attention(backend_.kernels(), form_.args, data, frame.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, form_.args.type); }

  private:
    const Operand& input(int number) const { return *command_.inputs[static_cast<size_t>(number)]; }

    CpuBackend& backend_;
    const Command command_;
    AttentionForm form_;
};

std::vector<FusionMatch> match(const CommandGraph& graph, const Backend&) {
    std::vector<FusionMatch> matches;
    std::unordered_set<Id> taken;
    // As far as it can be seen of the command itself.
    const auto mayTake = [&](Id id) {
        if (graph.isControl(id) || taken.contains(id)) return false;
        const Command& command = graph.command(id);
        return command.outputs.size() == 1 && !command.epilogue.any();
    };
    for (const Id id : graph.ids()) {
        std::optional<FoundAttention> found = findAttention(graph, id, mayTake);
        if (!found) continue;
        taken.insert(found->members.begin(), found->members.end());
        matches.push_back(
            {std::move(found->members), std::make_shared<AttentionForm>(std::move(found->form))});
    }
    return matches;
}

// Every tensor row-major.
StorageChoice storage(const Backend&, const Command&) {
    return {};
}

std::unique_ptr<Execution> create(Backend& backend, const Command& command, std::string&) {
    return std::make_unique<FusedAttention>(cpuBackend(backend), command);
}

}  // namespace

constinit const FusionPattern kAttention = {"Attention", match, storage, create};

}  // namespace mnnc::cpu
