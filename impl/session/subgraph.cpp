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
    const auto addNames = [&](Places& places, const std::vector<int32_t>& ids) {
        for (size_t i = 0; i < ids.size(); ++i)
            places.emplace(graph.tensorNames[static_cast<size_t>(ids[i])], static_cast<int>(i));
    };
    addNames(inputPlaces_, graph.inputs);
    addNames(outputPlaces_, graph.outputs);
}

int Subgraph::placeOf(const std::string& name, const Places& places) {
    const auto found = places.find(name);
    return found == places.end() ? -1 : found->second;
}

}  // namespace mnnc
