// mnn_interpreter_input_info() and mnn_interpreter_output_info(): the model's declarations, before any session.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kDeclarationSize = sizeof(mnn_declaration_t);

// The fields that every tensor has, whether its shape is known or not.
mnn_declaration_t declarationOf(const InterpreterObject& net, int32_t id, const std::optional<Declaration>& known) {
    mnn_declaration_t result{};
    result.name = net.impl->model().mainGraph().tensorNames[static_cast<size_t>(id)].c_str();
    const DeclaredTypes declared(*net.impl->net);
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
        writeStruct(info, declarationOf(*net, inputs[index], declaredInput(*net->impl->net, inputs[index])));
    });
}

mnn_status mnn_interpreter_output_info(const mnn_interpreter_t* interpreter, size_t index, mnn_declaration_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kDeclarationSize, "info");
        const InterpreterUse net(interpreter);
        const std::vector<int32_t>& outputs = net->impl->model().mainGraph().outputs;
        checkIndex(index, outputs.size(), "output");
        std::optional<Declaration> known;
        {
            const std::lock_guard lock(net->declared.mutex);
            if (net->declared.outputs.empty()) net->declared.outputs = declarations(*net->impl->net, outputs);
            known = net->declared.outputs[index];
        }
        writeStruct(info, declarationOf(*net, outputs[index], known));
    });
}
