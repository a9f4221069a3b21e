// A backend of the host in C++, which computes nodes of the types that it is given, and sessions with it.
#pragma once
#include <map>

#include "own_operator.h"

namespace mnnc::test {

class OwnBackend {
  public:
    using Callback = OwnOperator::Callback;

    // Adds a function that computes nodes of this type.
    OwnBackend& of(const std::string& type, Callback compute) {
        computes_[type] = std::move(compute);
        return *this;
    }
    OwnBackend() {
        mnn_backend_t backend;
        EXPECT_EQ(mnn_backend_init(&backend, sizeof backend), MNN_OK);
        backend.name = "own";
        backend.supports = [](void* own, mnn_operator_call_t* call) { return self(own).supports(*call); };
        backend.prepare = [](void* own, mnn_operator_call_t* call) {
            return self(own).prepare ? self(own).prepare(*call) : MNN_OK;
        };
        backend.compute = [](void* own, mnn_operator_call_t* call) {
            ++self(own).computed;
            return self(own).computes_.at(call->node->type_name)(*call);
        };
        backend.user_data = this;
        EXPECT_EQ(mnn_runtime_create(nullptr, &runtime_), MNN_OK) << mnn_last_error();
        EXPECT_EQ(mnn_runtime_add_backend(runtime_, &backend, &type_), MNN_OK) << mnn_last_error();
    }
    ~OwnBackend() { EXPECT_EQ(mnn_runtime_destroy(&runtime_), MNN_OK); }
    OwnBackend(const OwnBackend&) = delete;
    OwnBackend& operator=(const OwnBackend&) = delete;

    PublicSession::Mode mode() const { return {"own", type_, 0, 0, runtime_}; }

    Callback ask;                    // called before it accepts a node of its types; may be empty
    Callback prepare;                // may be empty
    std::vector<std::string> asked;  // the types of all nodes, in order
    int computed = 0;

  private:
    static OwnBackend& self(void* own) { return *static_cast<OwnBackend*>(own); }
    mnn_status supports(mnn_operator_call_t& call) {
        asked.push_back(call.node->type_name);
        if (computes_.count(call.node->type_name) == 0) return MNN_ERROR_NOT_SUPPORTED;
        return ask ? ask(call) : MNN_OK;
    }

    mnn_runtime_t* runtime_ = nullptr;
    int32_t type_ = 0;
    std::map<std::string, Callback> computes_;
};

inline mnn_status addOne(mnn_operator_call_t& call) {
    for (size_t i = 0; i < elementsOf(*call.outputs[0]); ++i) outputFloats(call)[i] = inputFloats(call)[i] + 1;
    return MNN_OK;
}

// Returns an attribute of a list.
inline const mnn_attribute_t& attributeOf(const mnn_attribute_t* const* list, size_t count, const char* key) {
    static const mnn_attribute_t none{};
    for (size_t i = 0; i < count; ++i)
        if (std::string(list[i]->key) == key) return *list[i];
    ADD_FAILURE() << "no attribute " << key;
    return none;
}
inline const mnn_attribute_t& attributeOf(const mnn_node_t& node, const char* key) {
    return attributeOf(node.attributes, node.attribute_count, key);
}
inline const mnn_attribute_t& attributeOf(const mnn_attribute_t& table, const char* key) {
    return attributeOf(table.attributes, table.attribute_count, key);
}
inline bool hasAttribute(const mnn_attribute_t& table, const std::string& key) {
    for (size_t i = 0; i < table.attribute_count; ++i)
        if (table.attributes[i]->key == key) return true;
    return false;
}

}  // namespace mnnc::test
