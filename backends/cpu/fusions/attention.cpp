// The pattern Attention: the operators with which nets write softmax(scale q k^T + mask) v, which never have a matrix of
// all scores when one kernel computes them. The heads of queries, keys, values and results stay where they lie.
#include "backends/cpu/kernels/attention.h"

#include <algorithm>

#include "backends/cpu/fusions/attention_form.h"
#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/ops/gemm_type.h"
#include "plan/fused_command.h"
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

    void onResize() override {
        requestScratch(attentionScratchBytes(backend_.kernels(), form_.args, backend_.pool().threads(),
                                             command_.name.c_str()));
    }

    void onExecute() override {
        AttentionArgs args = form_.args;
        args.q.data = at<float>(form_.q);
        args.k.data = at<float>(form_.k);
        args.v.data = at<float>(form_.v);
        for (int i = 0; i < 2; ++i) args.masks[i].data = at<float>(form_.masks[i]);
        args.keep.data = at<int32_t>(form_.keep);
        args.out.data = command_.outputs[0]->as<float>() + form_.outStart;
        args.scratch = scratch();
        attention(backend_.kernels(), args, backend_.pool());
    }

    std::string algorithm() const override { return gemmText(backend_, form_.args.type); }

  private:
    template <typename T>
    const T* at(const AttentionInput& from) const {
        if (from.index < 0) return nullptr;
        return command_.inputs[static_cast<size_t>(from.index)]->as<const T>() + from.start;
    }

    CpuBackend& backend_;
    const Command command_;
    AttentionForm form_;
};

bool isProduct(const Command& command) {
    return (command.type == OpType::MatMul || command.type == OpType::BatchMatMul) &&
           command.inputs.size() == 2;
}

// Whether a command may be one of the group, as far as it can be seen by itself.
bool isPlain(const CommandGraph& graph, Id id) {
    if (graph.isControl(id)) return false;
    const Command& command = graph.command(id);
    return command.outputs.size() == 1 && !command.epilogue.any();
}

// The commands from this product to the one with the values, and the Raster behind it, along the results that only the
// next one reads; Rasters that widen masks among them. None where there are others in between.
std::vector<Id> chainFrom(const CommandGraph& graph, Id product) {
    std::vector<Id> chain{product};
    bool isWeighted = false;  // whether there was a Softmax
    for (Id id = graph.onlyConsumer(product); id != CommandGraph::kNone; id = graph.onlyConsumer(id)) {
        if (!isPlain(graph, id) || graph.command(id).outputs[0]->type != DataType::Float32) return {};
        const Command& command = graph.command(id);
        chain.push_back(id);
        if (isWeighted) {
            if (!isProduct(command)) return {};
            const Id behind = graph.onlyConsumer(id);
            if (behind != CommandGraph::kNone && isPlain(graph, behind) &&
                graph.command(behind).type == OpType::Raster)
                chain.push_back(behind);
            return chain;
        }
        if (command.type != OpType::BinaryOp && command.type != OpType::Select &&
            command.type != OpType::Softmax && command.type != OpType::Raster)
            return {};
        isWeighted = command.type == OpType::Softmax;
        for (const Tensor* input : command.inputs) {
            const Id raster = graph.exclusiveProducer(input, id);
            const bool isNew = std::find(chain.begin(), chain.end(), raster) == chain.end();
            if (raster != CommandGraph::kNone && isNew && isPlain(graph, raster) &&
                viewThroughRaster(graph.command(raster)))
                chain.push_back(raster);
        }
    }
    return {};
}

// The group of these commands where they are attention, and read nothing that could be written before the last one runs.
FusionMatch matchMembers(const CommandGraph& graph, std::vector<Id> members) {
    std::sort(members.begin(), members.end(), [&](Id a, Id b) { return graph.runsBefore(a, b); });
    std::vector<Command> commands;
    for (const Id id : members) commands.push_back(graph.command(id));
    const std::vector<Tensor*> inputs = fusedInputs(graph, members);
    const auto isWrittenOnce = [&](const Tensor* input) { return graph.producerCount(input) <= 1; };
    if (!std::all_of(inputs.begin(), inputs.end(), isWrittenOnce)) return {};
    std::optional<AttentionForm> form = attentionForm(commands, inputs);
    if (!form) return {};
    return {std::move(members), std::make_shared<AttentionForm>(*form)};
}

std::vector<FusionMatch> match(const CommandGraph& graph, const Backend&) {
    std::vector<FusionMatch> matches;
    for (const Id id : graph.ids()) {
        if (!isPlain(graph, id) || !isProduct(graph.command(id)) ||
            graph.command(id).outputs[0]->type != DataType::Float32)
            continue;
        std::vector<Id> members = chainFrom(graph, id);
        if (members.empty()) continue;
        FusionMatch found = matchMembers(graph, members);
        if (found.members.empty() && graph.command(members.back()).type == OpType::Raster) {
            members.pop_back();
            found = matchMembers(graph, std::move(members));
        }
        if (!found.members.empty()) matches.push_back(std::move(found));
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
