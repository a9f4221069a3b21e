// mnn_interpreter_add_operator() and its helpers.
#include "c_api/guard.h"
#include "c_api/operator_node.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kOperatorSize = sizeof(mnn_operator_t);

mnn_operator_t readOperator(const mnn_operator_t& given) {
    const mnn_operator_t op = readStruct(given, kOperatorSize, "op");
    if (!op.name) fail(Status::NullArgument, "op.name is NULL");
    if (!op.compute) fail(Status::NullArgument, "op.compute is NULL");
    if (op.name[0] == '\0') fail(Status::InvalidValue, "op.name is empty");
    if (libraryRuns(op.name))
        fail(Status::InvalidValue, "op.name is '%s', an operator that this library runs itself", op.name);
    if (op.content_inputs >> 32)
        fail(Status::InvalidValue, "op.content_inputs names input %d; `shape` may read the first 32 inputs",
             63 - __builtin_clzll(op.content_inputs));
    return op;
}

}  // namespace

mnn_status mnn_operator_init(mnn_operator_t* op, size_t struct_size) {
    return guard([&] { initStruct(&required(op, "op"), struct_size, kOperatorSize, "op"); });
}

mnn_status mnn_interpreter_add_operator(mnn_interpreter_t* interpreter, const mnn_operator_t* op) {
    return guard([&] {
        const InterpreterUse net(interpreter);
        const mnn_operator_t given = readOperator(required(op, "op"));
        const auto made = std::make_shared<CallbackOperator>(given);
        net->operators.add(made);
        made->armFinalizer(given.finalizer);
    });
}

mnn_status mnn_node_attribute(const mnn_node_t* node, const char* key, const mnn_attribute_t** attribute) {
    return guard([&] {
        required(node, "node");
        required(key, "key");
        required(attribute, "attribute");
        std::string known;
        for (size_t i = 0; i < node->attribute_count; ++i) {
            const mnn_attribute_t* candidate = node->attributes[i];
            if (std::strcmp(candidate->key, key) == 0) {
                *attribute = candidate;
                return;
            }
            known += format("%s'%s'", known.empty() ? "" : ", ", candidate->key);
        }
        fail(Status::NotFound, "node '%s' has no attribute '%s'%s%s", node->name, key, known.empty() ? "" : "; it has ",
             known.c_str());
    });
}
