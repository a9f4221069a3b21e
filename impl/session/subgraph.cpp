// Binds the inputs of a subgraph by name, runs it and returns its outputs.
#include "session/subgraph.h"

namespace mnnc {

Subgraph::Subgraph(SessionContext& context, const std::string& name, const char* caller) {
    const int index = context.net->model->findGraph(name);
    if (index < 0)
        fail(Status::NotFound, "op '%s' calls a subgraph '%s' that the model does not have", caller, name.c_str());
    const Graph& graph = *context.net->graphs[static_cast<size_t>(index)].source;
    pipeline_ = std::make_unique<Pipeline>(context, index, std::vector<int>(graph.inputs.begin(), graph.inputs.end()),
                                           std::vector<int>(graph.outputs.begin(), graph.outputs.end()));
}

int Subgraph::findInput(const std::string& name) const {
    for (size_t i = 0; i < inputs(); ++i)
        if (pipeline_->input(i).name == name) return static_cast<int>(i);
    return -1;
}

int Subgraph::findOutput(const std::string& name) const {
    for (size_t i = 0; i < outputs(); ++i)
        if (pipeline_->output(i).name == name) return static_cast<int>(i);
    return -1;
}

}  // namespace mnnc
