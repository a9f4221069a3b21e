// mnn_interpreter_info() and mnn_interpreter_metadata*(): the properties of a model.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kModelPropertiesSize = sizeof(mnn_model_properties_t);

}  // namespace

mnn_status mnn_interpreter_info(const mnn_interpreter_t* interpreter, mnn_model_properties_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kModelPropertiesSize, "info");
        const InterpreterUse net(interpreter);
        const Model& model = net->impl->model();
        mnn_model_properties_t result{};
        result.source = static_cast<int32_t>(model.sourceType());
        result.usage = static_cast<int32_t>(model.usage());
        result.byte_size = model.byteSize();
        result.metadata_count = model.metadata().size();
        result.subgraph_count = model.graphs().size() - 1;
        result.weightless = model.isWeightless() ? 1 : 0;
        writeStruct(info, result);
    });
}

mnn_status mnn_interpreter_metadata(const mnn_interpreter_t* interpreter, size_t index, const char** key,
                                    const char** value) {
    return guard([&] {
        required(key, "key");
        required(value, "value");
        const InterpreterUse net(interpreter);
        const auto& pairs = net->impl->model().metadata();
        checkIndex(index, pairs.size(), "pair of metadata");
        *key = pairs[index].first.c_str();
        *value = pairs[index].second.c_str();
    });
}
