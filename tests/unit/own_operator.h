// An own operator in C++: its callbacks are functions, and its calls are counted. It comes with the session of a net
// that holds it.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "index_cases.h"

namespace mnnc::test {

// Shared by the test and the library, which calls the finalizer.
class OwnOperator {
  public:
    using Callback = std::function<mnn_status(mnn_operator_call_t&)>;

    explicit OwnOperator(std::string name) : name_(std::move(name)) {}
    Callback shape, prepare, compute;
    std::function<void(void*)> release;
    uint64_t contentInputs = 0;
    std::atomic<int> shapes{0}, computes{0}, releases{0}, finalized{0};

    mnn_status add(mnn_interpreter_t* interpreter) {
        mnn_operator_t op;
        EXPECT_EQ(mnn_operator_init(&op, sizeof op), MNN_OK);
        op.name = name_.c_str();
        op.content_inputs = contentInputs;
        if (shape)
            op.shape = [](void* own, mnn_operator_call_t* call) { return ++self(own).shapes, self(own).shape(*call); };
        if (prepare) op.prepare = [](void* own, mnn_operator_call_t* call) { return self(own).prepare(*call); };
        op.compute = [](void* own, mnn_operator_call_t* call) {
            return ++self(own).computes, self(own).compute(*call);
        };
        op.release = [](void* own, void* state) {
            ++self(own).releases;
            if (self(own).release) self(own).release(state);
        };
        op.user_data = this;
        op.finalizer = [](void* own) { ++self(own).finalized; };
        return mnn_interpreter_add_operator(interpreter, &op);
    }

  private:
    static OwnOperator& self(void* own) { return *static_cast<OwnOperator*>(own); }
    const std::string name_;
};

// A model whose operators are registered before its sessions are made.
class OwnNet {
  public:
    explicit OwnNet(const std::vector<uint8_t>& model, const std::vector<OwnOperator*>& operators = {}) {
        EXPECT_EQ(mnn_interpreter_create_from_memory(model.data(), model.size(), nullptr, &interpreter), MNN_OK)
            << mnn_last_error();
        for (OwnOperator* op : operators) EXPECT_EQ(op->add(interpreter), MNN_OK) << mnn_last_error();
    }
    ~OwnNet() { EXPECT_EQ(mnn_interpreter_destroy(&interpreter), MNN_OK); }
    OwnNet(const OwnNet&) = delete;
    OwnNet& operator=(const OwnNet&) = delete;
    mnn_interpreter_t* interpreter = nullptr;
};

inline const float* inputFloats(const mnn_operator_call_t& call, size_t i = 0) {
    return static_cast<const float*>(call.inputs[i]->data);
}
inline float* outputFloats(const mnn_operator_call_t& call, size_t i = 0) {
    return static_cast<float*>(call.outputs[i]->data);
}
inline size_t elementsOf(const mnn_host_tensor_t& tensor) {
    size_t count = 1;
    for (int32_t k = 0; k < tensor.rank; ++k) count *= static_cast<size_t>(tensor.dims[k]);
    return count;
}
inline mnn_status shapeLikeInput(mnn_operator_call_t& call) {
    for (size_t i = 0; i < call.output_count; ++i) {
        call.outputs[i]->rank = call.inputs[0]->rank;
        for (int32_t k = 0; k < call.inputs[0]->rank; ++k) call.outputs[i]->dims[k] = call.inputs[0]->dims[k];
    }
    return MNN_OK;
}

inline mnn_status doubleAll(mnn_operator_call_t& call) {
    for (size_t i = 0; i < elementsOf(*call.inputs[0]); ++i) outputFloats(call)[i] = 2 * inputFloats(call)[i];
    return MNN_OK;
}

// The net of IndexNet with nodes of Plugin and Extra.
class PluginNet : public IndexNet {
  public:
    static wire::PluginT table(const std::string& type) {
        wire::PluginT plugin;
        plugin.type = type;
        return plugin;
    }
    int plugin(const std::string& type, Ints inputs) {
        return indexed(wire::OpType::Plugin, std::move(inputs), table(type));
    }
    template <typename Table>
    Ints several(wire::OpType type, Ints inputs, size_t count, Table parameters) {
        Ints outputs;
        for (size_t i = 0; i < count; ++i) outputs.push_back(tensor());
        net_.oplists.push_back(makeOp(type, "several", std::move(inputs), outputs, std::move(parameters)));
        return outputs;
    }
    // An operator without a table.
    int bare(wire::OpType type, Ints inputs) { return indexed(type, std::move(inputs)); }
};

// relu(x) -> own -> relu, over (2, 3).
inline std::vector<uint8_t> ownChain() {
    PluginNet net;
    return pack(net.finish({net.relu(net.plugin("Own", {net.relu(net.input({2, 3}))}))}));
}

const PublicSession::Mode kCpu{"cpu"};

}  // namespace mnnc::test
