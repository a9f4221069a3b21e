// Reads the outputs of each operator in a callback.
#include "shown_values.h"

#include <algorithm>
#include <exception>

namespace tool {
namespace {

struct Collected {
    std::vector<ShownValue> values;
    std::exception_ptr failure;
};

int32_t collect(void* userData, const mnn_op_info_t* op, const mnn_tensor_t* const* tensors, size_t count) {
    auto& collected = *static_cast<Collected*>(userData);
    if (op->op_index < 0) return MNN_OP_RUN;
    try {
        for (size_t i = 0; i < count; i++) {
            const char* name = nullptr;
            check(mnn_tensor_name(tensors[i], &name));
            ShownValue value{op->name, op->type_name, name, op->backend_name, readTensor(tensors[i])};
            const auto known = std::find_if(collected.values.begin(), collected.values.end(),
                                            [&](const ShownValue& one) { return one.tensor == value.tensor; });
            if (known == collected.values.end())
                collected.values.push_back(std::move(value));
            else
                *known = std::move(value);
        }
    } catch (...) {
        collected.failure = std::current_exception();
        return MNN_OP_STOP;
    }
    return MNN_OP_RUN;
}

}  // namespace

std::vector<ShownValue> runShown(const Session& session) {
    Collected collected;
    mnn_run_options_t options{};
    check(mnn_run_options_init(&options, sizeof options));
    options.after = collect;
    options.user_data = &collected;
    const mnn_status status = mnn_session_run_with_options(session.get(), &options);
    if (collected.failure) std::rethrow_exception(collected.failure);
    check(status);
    return std::move(collected.values);
}

}  // namespace tool
