// A node and its tensors as the callbacks of a host see them.
#pragma once
#include <deque>
#include <vector>

#include "c_api/guard.h"
#include "mnn_c.h"
#include "net/custom.h"
#include "session/value.h"

namespace mnnc {

// The structs of a node, which point to each other and to the description.
class NodeView {
  public:
    explicit NodeView(NodeDescription description);
    NodeView(const NodeView&) = delete;
    NodeView& operator=(const NodeView&) = delete;
    const mnn_node_t& get() const noexcept { return node_; }

  private:
    const mnn_attribute_t* const* list(const std::vector<NodeAttribute>& attributes);
    const mnn_attribute_t* view(const NodeAttribute& from);
    const mnn_host_tensor_t* view(const ConstData& from);

    const NodeDescription description_;
    mnn_node_t node_{};
    std::deque<mnn_attribute_t> attributes_;
    std::deque<mnn_host_tensor_t> tensors_;
    std::deque<std::vector<const mnn_attribute_t*>> lists_;
};

// Views of tensors, made anew for each call: this discards changes that a callback made to them.
class TensorViews {
  public:
    explicit TensorViews(std::span<Tensor* const> tensors)
        : tensors_(tensors.begin(), tensors.end()), views_(tensors.size()), pointers_(tensors.size()) {}

    // data: returns the address of a tensor's elements; null: they are not there.
    template <typename Data>
    void show(const Data& data) noexcept {
        for (size_t i = 0; i < tensors_.size(); ++i) {
            const Tensor& tensor = *tensors_[i];
            mnn_host_tensor_t& view = reset(i);
            view.type = publicType(tensor.type);
            view.format = static_cast<int32_t>(tensor.format);
            view.rank = tensor.shape.rank();
            size_t bytes = elementBytes(tensor.type);
            for (int k = 0; k < tensor.shape.rank(); ++k) {
                view.dims[k] = static_cast<int32_t>(tensor.shape[k]);
                bytes *= static_cast<size_t>(tensor.shape[k]);
            }
            view.bytes = bytes;
            view.data = bytes > 0 ? const_cast<void*>(data(i, tensor)) : nullptr;
        }
    }
    // Shows outputs before they have a shape, with the type and format of `like` if that is not null.
    void showUnshaped(const Tensor* like) noexcept {
        for (size_t i = 0; i < tensors_.size(); ++i) {
            mnn_host_tensor_t& view = reset(i);
            view.type = like ? publicType(like->type) : MNN_TYPE_FLOAT32;
            view.format = like ? static_cast<int32_t>(like->format) : MNN_FORMAT_NCHW;
            view.rank = -1;
        }
    }
    mnn_host_tensor_t* const* pointers() const noexcept { return pointers_.data(); }
    size_t size() const noexcept { return views_.size(); }
    const mnn_host_tensor_t& operator[](size_t i) const noexcept { return views_[i]; }

  private:
    mnn_host_tensor_t& reset(size_t i) noexcept {
        pointers_[i] = &views_[i];
        views_[i] = {};
        views_[i].struct_size = sizeof views_[i];
        views_[i].name = tensors_[i]->name.c_str();
        return views_[i];
    }

    std::vector<Tensor*> tensors_;
    std::vector<mnn_host_tensor_t> views_;
    std::vector<mnn_host_tensor_t*> pointers_;
};

}  // namespace mnnc
