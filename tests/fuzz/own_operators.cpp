#include "own_operators.h"

#include <algorithm>
#include <cstring>

#include "statuses.h"

namespace fuzz {
namespace {

struct Host {
    Random random;
    uint64_t seen = 0;  // a sum of everything read, so that the compiler keeps the reads
};

void read(Host& host, const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) host.seen += static_cast<const uint8_t*>(data)[i];
}

void readText(Host& host, const char* text) {
    if (text) read(host, text, std::strlen(text) + 1);
}

void readTensor(Host& host, const mnn_host_tensor_t& tensor) {
    readText(host, tensor.name);
    if (tensor.rank < -1 || tensor.rank > MNN_MAX_RANK) std::abort();
    if (tensor.data) read(host, tensor.data, tensor.bytes);
}

void readAttribute(Host& host, const mnn_attribute_t& attribute) {
    readText(host, attribute.key);
    readText(host, attribute.text);
    read(host, attribute.ints, attribute.int_count * sizeof *attribute.ints);
    read(host, attribute.floats, attribute.float_count * sizeof *attribute.floats);
    read(host, attribute.bools, attribute.bool_count);
    for (size_t i = 0; i < attribute.text_count; ++i) readText(host, attribute.texts[i]);
    if (attribute.tensor) readTensor(host, *attribute.tensor);
    readText(host, attribute.function);
    for (size_t i = 0; i < attribute.attribute_count; ++i) readAttribute(host, *attribute.attributes[i]);
}

Host& readCall(void* own, const mnn_operator_call_t& call) {
    Host& host = *static_cast<Host*>(own);
    const mnn_node_t& node = *call.node;
    for (const char* text : {node.name, node.type_name, node.schema_type, node.engine}) {
        if (!text) std::abort();
        readText(host, text);
    }
    read(host, node.info, node.info_size);
    for (size_t i = 0; i < node.attribute_count; ++i) readAttribute(host, *node.attributes[i]);
    if (call.input_count != node.input_count || call.output_count != node.output_count) std::abort();
    for (size_t i = 0; i < call.input_count; ++i) readTensor(host, *call.inputs[i]);
    return host;
}

// Sets mostly the shape of an input or a small one.
mnn_status shape(void* own, mnn_operator_call_t* call) {
    Host& host = readCall(own, *call);
    Random& random = host.random;
    if (random.oneIn(16)) return MNN_ERROR_COMPUTE_SIZE;
    for (size_t i = 0; i < call->output_count; ++i) {
        mnn_host_tensor_t& output = *call->outputs[i];
        if (random.oneIn(32)) continue;
        if (call->input_count > 0 && !random.oneIn(4)) {
            const mnn_host_tensor_t& input = *call->inputs[random.below(call->input_count)];
            output.rank = input.rank;
            std::copy(std::begin(input.dims), std::end(input.dims), output.dims);
        } else {
            output.rank = static_cast<int32_t>(random.below(5));
            for (int32_t k = 0; k < output.rank; ++k) output.dims[k] = static_cast<int32_t>(random.below(6));
        }
        if (random.oneIn(16)) output.rank = static_cast<int32_t>(random.number());
        if (random.oneIn(16)) output.dims[0] = static_cast<int32_t>(random.number());
        if (random.oneIn(4)) output.type = static_cast<int32_t>(random.below(20));
        if (random.oneIn(4)) output.format = static_cast<int32_t>(random.below(3));
    }
    return MNN_OK;
}

mnn_status prepare(void* own, mnn_operator_call_t* call) {
    Host& host = readCall(own, *call);
    if (host.random.oneIn(16)) return MNN_ERROR_NOT_SUPPORTED;
    if (host.random.oneIn(2)) call->state = new uint64_t(host.seen);
    return MNN_OK;
}

mnn_status compute(void* own, mnn_operator_call_t* call) {
    Host& host = readCall(own, *call);
    if (call->state) host.seen += *static_cast<uint64_t*>(call->state);
    for (size_t i = 0; i < call->output_count; ++i)
        if (call->outputs[i]->data)
            std::memset(call->outputs[i]->data, static_cast<int>(host.random.below(2)), call->outputs[i]->bytes);
    std::memset(call->message, 'x', call->message_size);
    return host.random.oneIn(16) ? MNN_ERROR_INPUT_DATA : MNN_OK;
}

void add(mnn_interpreter_t* net, const char* name, Random& random) {
    mnn_operator_t op;
    MUST(mnn_operator_init(&op, sizeof op));
    op.name = name;
    op.content_inputs = random.oneIn(3) ? random.below(4) : 0;
    op.shape = random.oneIn(4) ? nullptr : shape;
    op.prepare = random.oneIn(2) ? nullptr : prepare;
    op.compute = compute;
    op.release = [](void*, void* state) { delete static_cast<uint64_t*>(state); };
    op.finalizer = [](void* own) { delete static_cast<Host*>(own); };
    auto* host = new Host{Random(random.next())};
    op.user_data = host;
    constexpr mnn_status kTaken[] = {MNN_ERROR_INVALID_VALUE};
    if (!FINE(mnn_interpreter_add_operator(net, &op), kTaken)) delete host;
}

}  // namespace

void addOwnOperators(mnn_interpreter_t* net, Random& random) {
    add(net, "SoftShrink", random);
    add(net, "Own", random);
    size_t count = 0;
    MUST(mnn_interpreter_op_count(net, &count));
    for (size_t i = 0; i < std::min<size_t>(count, 64); ++i) {
        bool supported = false;
        const char* type = nullptr;
        MUST(mnn_interpreter_op_supported(net, i, &supported));
        MUST(mnn_interpreter_op_type(net, i, &type));
        if (!supported) add(net, type, random);
    }
}

}  // namespace fuzz
