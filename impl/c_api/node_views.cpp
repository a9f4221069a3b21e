// Fills the structs of a node from its description.
#include "c_api/node_views.h"

#include <algorithm>

namespace mnnc {

NodeView::NodeView(NodeDescription description) : description_(std::move(description)) {
    node_.struct_size = sizeof node_;
    node_.name = description_.name.c_str();
    node_.type_name = description_.typeName.c_str();
    node_.schema_type = description_.schemaType;
    node_.engine = description_.engine;
    node_.info = description_.info.empty() ? nullptr : description_.info.data();
    node_.info_size = description_.info.size();
    node_.attributes = list(description_.attributes);
    node_.attribute_count = description_.attributes.size();
    node_.input_count = description_.inputs;
    node_.output_count = description_.outputs;
    node_.parameters = description_.parameters;
    node_.parameter_table = description_.parameterTable;
}

const mnn_attribute_t* const* NodeView::list(const std::vector<NodeAttribute>& attributes) {
    if (attributes.empty()) return nullptr;
    std::vector<const mnn_attribute_t*>& made = lists_.emplace_back();
    made.reserve(attributes.size());
    for (const NodeAttribute& attribute : attributes) made.push_back(view(attribute));
    return made.data();
}

const mnn_attribute_t* NodeView::view(const NodeAttribute& from) {
    mnn_attribute_t& to = attributes_.emplace_back();
    to.struct_size = sizeof to;
    to.key = from.key;
    to.type = from.type;
    to.int_value = from.integer;
    to.float_value = from.real;
    to.bool_value = from.truth;
    to.text = from.text;
    to.ints = from.integers.data();
    to.int_count = from.integers.size();
    to.floats = from.reals.data();
    to.float_count = from.reals.size();
    to.bools = from.truths.data();
    to.bool_count = from.truths.size();
    to.texts = from.texts.empty() ? nullptr : from.texts.data();
    to.text_count = from.texts.size();
    to.tensor = from.hasTensor ? view(from.tensor) : nullptr;
    to.function = from.function;
    to.attributes = list(from.attributes);
    to.attribute_count = from.attributes.size();
    return &to;
}

const mnn_host_tensor_t* NodeView::view(const ConstData& from) {
    mnn_host_tensor_t& to = tensors_.emplace_back();
    to.struct_size = sizeof to;
    to.name = "";
    to.data = from.bytes.empty() ? nullptr : const_cast<uint8_t*>(from.bytes.data());
    to.bytes = from.bytes.size();
    to.type = from.dataType;
    to.format = from.dataFormat;
    to.rank = static_cast<int32_t>(from.dims.size());
    for (size_t i = 0; i < from.dims.size(); ++i) to.dims[i] = std::max(from.dims[i], 0);
    return &to;
}

}  // namespace mnnc
