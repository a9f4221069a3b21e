// mnn_interpreter_input_info() and mnn_interpreter_output_info(): the model's declarations, before any session.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kDeclarationSize = sizeof(mnn_declaration_t);

// Fills the fields that every tensor has, and those that follow from its shape where the shape is known. The mutex of
// net.declared is locked.
mnn_declaration_t declarationOf(InterpreterObject& net, int32_t id, const std::optional<Declaration>& known) {
    mnn_declaration_t result{};
    result.name = net.impl->model().mainGraph().tensorNames[static_cast<size_t>(id)].c_str();
    if (!net.declared.types) net.declared.types.emplace(*net.impl->net);
    const DeclaredTypes& declared = *net.declared.types;
    result.declared_type = declared(id);
    result.format = -1;
    result.rank = -1;
    if (!known) return result;
    result.type = declared.shownAsHalf(id) ? MNN_TYPE_FLOAT16 : publicType(known->type);
    result.format = static_cast<int32_t>(known->format);
    result.rank = known->shape.rank();
    for (int axis = 0; axis < result.rank; ++axis) result.dims[axis] = static_cast<int32_t>(known->shape[axis]);
    return result;
}

}  // namespace

mnn_status mnn_interpreter_input_info(const mnn_interpreter_t* interpreter, size_t index, mnn_declaration_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kDeclarationSize, "info");
        const InterpreterUse net(interpreter);
        const std::vector<int32_t>& inputs = net->impl->model().mainGraph().inputs;
        checkIndex(index, inputs.size(), "input");
        const std::lock_guard lock(net->declared.mutex);
        if (net->declared.inputs.empty()) net->declared.inputs = declaredInputs(*net->impl->net, inputs);
        writeStruct(info, declarationOf(*net, inputs[index], net->declared.inputs[index]));
    });
}

mnn_status mnn_interpreter_output_info(const mnn_interpreter_t* interpreter, size_t index, mnn_declaration_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kDeclarationSize, "info");
        const InterpreterUse net(interpreter);
        const std::vector<int32_t>& outputs = net->impl->model().mainGraph().outputs;
        checkIndex(index, outputs.size(), "output");
        const std::lock_guard lock(net->declared.mutex);
        if (net->declared.outputs.empty()) net->declared.outputs = declarations(*net->impl->net, outputs);
        writeStruct(info, declarationOf(*net, outputs[index], net->declared.outputs[index]));
    });
}
