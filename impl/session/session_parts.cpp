// Connects the paths of a session with each other and with its inputs and outputs.
#include "session/inferred_inputs.h"
#include "session/session.h"

namespace mnnc {

namespace {

// Maps a tensor to its index in a list of them.
std::vector<size_t> placesOf(const std::vector<int>& ids, size_t tensors) {
    std::vector<size_t> places(tensors, SIZE_MAX);
    for (size_t i = 0; i < ids.size(); ++i) places[static_cast<size_t>(ids[i])] = i;
    return places;
}

}  // namespace

void Session::connect(const NetParts& parts) {
    const size_t tensors = interpreter_->model().mainGraph().tensorNames.size();
    std::vector<std::vector<size_t>> inputs, outputs;
    for (const NetPart& part : parts.parts) {
        inputs.push_back(placesOf(part.inputs, tensors));
        outputs.push_back(placesOf(part.outputs, tensors));
    }
    ports_.onePath = paths_.size() == 1;
    for (const auto& [from, to, id] : parts.links)  // links of earlier paths come first
        paths_[to].linkFrom(paths_[from], inputs[to][static_cast<size_t>(id)]);
    for (const auto& [part, id] : parts.inputs)
        ports_.inputs.push_back({&paths_[part].pipeline(), inputs[part][static_cast<size_t>(id)], true});
    for (const auto& [part, id] : parts.outputs)
        ports_.outputs.push_back(
            {&paths_[part].pipeline(), outputs[part][static_cast<size_t>(id)], paths_[part].settled(id)});
    for (const Path& path : paths_) plannedBeforeRuns_ &= path.pipeline().singleStage() && path.fedAsPlanned();
}

// Tensors from the middle of the net have the shape and type that the net gives them, unless the caller resizes them. A
// tensor that no operator reads may have any shape. Returns whether the extent of a batch was guessed.
bool Session::describeInputs(const NetParts& parts) {
    bool guessed = false;
    const Graph& graph = interpreter_->model().mainGraph();
    std::vector<bool> declared(graph.tensorNames.size(), false), read(graph.tensorNames.size(), false);
    for (const int id : graph.inputs) declared[static_cast<size_t>(id)] = true;
    for (const Path& path : paths_) path.pipeline().markRead(read);
    std::vector<int> cut;
    for (const auto& [part, id] : parts.inputs)
        if (!declared[static_cast<size_t>(id)]) cut.push_back(id);
    const std::vector<std::optional<Operand>> inferred = inferInputs(paths_[0].context(), cut);
    auto next = inferred.begin();
    for (size_t i = 0; i < parts.inputs.size(); ++i) {
        const auto id = static_cast<size_t>(parts.inputs[i].tensor);
        Operand& tensor = input(i);
        Shape shape = defaultShape(tensor.shape);
        guessed |= declared[id] && !(shape == tensor.shape);
        if (!declared[id]) {
            if (*next) {
                tensor.type = (*next)->type;
                tensor.format = (*next)->format;
                tensor.list = (*next)->list;
                tensor.quant = (*next)->quant;
            }
            shape = *next ? (*next)->shape : Shape{-1};
            ++next;
        }
        if (!read[id])
            for (int axis = 0; axis < shape.rank(); ++axis)
                if (shape[axis] < 0) shape[axis] = 1;
        wantedShapes_.push_back(shape);
        describeInput(i);
    }
    return guessed;
}

}  // namespace mnnc
