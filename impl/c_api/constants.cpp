// mnn_session_constant*(), mnn_interpreter_update_constants(), mnn_interpreter_save(), mnn_interpreter_model_bytes().
#include "c_api/constants.h"

#include "session/model_update.h"
#include "session/replace_file.h"

namespace mnnc {

namespace {

bool isConstant(const Node& node) {
    return (node.type == OpType::Const || node.type == OpType::TrainableParam) && node.params;
}

// Returns the index of the last constant with this name. Throws the reason when there is none.
size_t findConstant(const SessionObject& session, const char* name) {
    for (size_t i = session.constants.size(); i-- > 0;)
        if (session.constants[i].name == name) return i;
    const NetGraph& graph = session.impl->net().graphs[0];
    const int id = graph.source->findTensor(name);
    for (const Node& node : graph.nodes)
        for (const int made : node.outputs)
            if (made == id)
                fail(Status::NotFound,
                     "tensor '%s' is made by operator '%s' of type %s; only Const and TrainableParam operators make "
                     "constants, and weights in the tables of other operators cannot be changed",
                     name, node.name.c_str(), opTypeName(node.type));
    fail(Status::NotFound, "the model has no constant '%s'; it has %zu constants", name, session.constants.size());
}

mnn_tensor_t* handleOfConstant(const SessionUse& session, size_t index) {
    SessionTensor& constant = session->constants[index];
    if (session->impl->net().graphs[0].decisive.count(constant.constant))
        fail(Status::NotSupported,
             "constant '%s' decided how operators of the model are computed together when it was loaded: it cannot be "
             "changed",
             constant.name.c_str());
    if (!constant.handle) constant.handle = createTensorHandle(session.handle(), index, kTensorConstant);
    return handleOf<mnn_tensor_t>(constant.handle);
}

}  // namespace

std::vector<SessionTensor> namedConstants(const Session& session) {
    std::vector<SessionTensor> list;
    for (const Node& node : session.net().graphs[0].nodes)
        if (isConstant(node)) list.push_back({0, session.constant(node.outputs[0]).name, {}, node.outputs[0]});
    return list;
}

}  // namespace mnnc

using namespace mnnc;

mnn_status mnn_session_constant_count(const mnn_session_t* session, size_t* count) {
    return guard([&] {
        required(count, "count") = SessionUse(session, Access::Always, "mnn_session_constant_count")->constants.size();
    });
}

mnn_status mnn_session_constant_name(const mnn_session_t* session, size_t index, const char** name) {
    return guard([&] {
        required(name, "name");
        const SessionUse handle(session, Access::Always, "mnn_session_constant_name");
        checkIndex(index, handle->constants.size(), "constant");
        *name = handle->constants[index].name.c_str();
    });
}

mnn_status mnn_session_constant(mnn_session_t* session, const char* name, mnn_tensor_t** tensor) {
    return guard([&] {
        const SessionUse handle(session, Access::Alone, "mnn_session_constant");
        required(name, "name");
        required(tensor, "tensor");
        *tensor = handleOfConstant(handle, findConstant(*handle, name));
    });
}

mnn_status mnn_interpreter_update_constants(mnn_interpreter_t* interpreter, const mnn_session_t* session) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        const SessionUse handle(session, Access::Read, "mnn_interpreter_update_constants");
        net->requireModel("no later session would use the constants");
        if (handle->impl->needsResize())
            fail(Status::BadState, "the session has to be resized first, so that its constants are known to fit");
        const std::lock_guard lock(net->updated.mutex);
        net->updated.impl = withConstantsOf(net->updated.impl ? net->updated.impl : net->impl, *handle->impl);
    });
}

mnn_status mnn_interpreter_model_bytes(mnn_interpreter_t* interpreter, void* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        net->requireModel("there are none to copy");
        const std::shared_ptr<const Interpreter> current = net->current();
        const size_t size = current->model().byteSize();
        const bool asksForSize = capacity < size || !buffer;
        const std::vector<uint8_t> bytes = asksForSize ? std::vector<uint8_t>() : modelBytes(*current);
        fillBuffer(static_cast<uint8_t*>(buffer), capacity, needed, bytes.data(), size, "the model");
    });
}

mnn_status mnn_interpreter_save(mnn_interpreter_t* interpreter, const char* path) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        required(path, "path");
        net->requireModel("there are none to save");
        replaceFile(path, modelBytes(*net->current()));
    });
}
