// Shows nodes and tensors to the callbacks of an operator, and judges what comes back.
#include "c_api/operator_node.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/float_mode.h"
#include "c_api/guard.h"
#include "session/value.h"

namespace mnnc {

namespace {

constexpr size_t kMessageBytes = 256;

// The structs of a node, which point to one another and to the description.
class NodeView {
  public:
    explicit NodeView(NodeDescription description) : description_(std::move(description)) {
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
    NodeView(const NodeView&) = delete;
    NodeView& operator=(const NodeView&) = delete;
    const mnn_node_t& get() const noexcept { return node_; }

  private:
    const mnn_attribute_t* const* list(const std::vector<NodeAttribute>& attributes) {
        if (attributes.empty()) return nullptr;
        std::vector<const mnn_attribute_t*>& made = lists_.emplace_back();
        made.reserve(attributes.size());
        for (const NodeAttribute& attribute : attributes) made.push_back(view(attribute));
        return made.data();
    }

    const mnn_attribute_t* view(const NodeAttribute& from) {
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

    const mnn_host_tensor_t* view(const ConstData& from) {
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

    const NodeDescription description_;
    mnn_node_t node_{};
    std::deque<mnn_attribute_t> attributes_;
    std::deque<mnn_host_tensor_t> tensors_;
    std::deque<std::vector<const mnn_attribute_t*>> lists_;
};

// Views of tensors, made anew for each call: what a callback writes to them is gone then.
class TensorViews {
  public:
    explicit TensorViews(std::span<Tensor* const> tensors)
        : tensors_(tensors.begin(), tensors.end()), views_(tensors.size()), pointers_(tensors.size()) {}

    // known: whether the elements of a tensor are there.
    template <typename Known>
    void show(const Known& known) noexcept {
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
            view.data = bytes > 0 && known(i, tensor) ? tensor.data : nullptr;
        }
    }
    // Outputs before they have a shape, of the type and format of `like` where there is one.
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

// Calls a callback in the default floating-point mode. Returns the state as the callback left it.
void* invoke(mnn_operator_callback callback, const char* which, const mnn_operator_t& op,
             const mnn_node_t& node, const TensorViews& inputs, const TensorViews& outputs, void* state) {
    char message[kMessageBytes] = "";
    mnn_operator_call_t call{};
    call.struct_size = sizeof call;
    call.node = &node;
    call.inputs = inputs.pointers();
    call.input_count = inputs.size();
    call.outputs = outputs.pointers();
    call.output_count = outputs.size();
    call.state = state;
    call.message = message;
    call.message_size = sizeof message;
    mnn_status status;
    {
        const ScopedFloatMode mode(FloatMode::computing(true));
        status = callback(op.user_data, &call);
    }
    if (status == MNN_OK) return call.state;
    message[sizeof message - 1] = '\0';
    if (!isStatus(status))
        fail(Status::InvalidValue,
             "operator '%s' of node '%s': its %s callback returned %d, which is no status", op.name,
             node.name, which, status);
    fail(static_cast<Status>(status), "operator '%s' of node '%s': its %s callback returned %s%s%s", op.name,
         node.name, which, mnn_status_name(status), message[0] ? ": " : "", message);
}

// What a shape callback says of output i.
class ShapedOutput {
  public:
    ShapedOutput(const mnn_operator_t& op, const mnn_node_t& node, size_t i, const mnn_host_tensor_t& view)
        : op_(op), node_(node), i_(i), view_(view) {}

    void apply(Tensor& tensor) const {
        Shape shape;
        if (view_.rank == -1) refuse(Status::ComputeSizeError, "without a shape");
        if (view_.rank < 0 || view_.rank > kMaxRank)
            refuse(Status::BadRange, format("with rank %d; it goes from 0 to %d", view_.rank, kMaxRank));
        for (int k = 0; k < view_.rank; ++k) {
            if (view_.dims[k] < 0)
                refuse(Status::BadRange, format("with the extent %d at axis %d", view_.dims[k], k));
            shape.push(view_.dims[k]);
        }
        try {
            shape.elements();
        } catch (const Error& error) {
            refuse(error.status(), "with the shape " + shape.text() + ": " + error.message());
        }
        if (view_.format < MNN_FORMAT_NCHW || view_.format > MNN_FORMAT_NC4HW4)
            refuse(Status::InvalidValue, format("with the format %d, which is none", view_.format));
        tensor.type = type();
        tensor.format = static_cast<Format>(view_.format);
        tensor.shape = shape;
    }

  private:
    DataType type() const {
        for (int type = 0; type <= static_cast<int>(DataType::BFloat16); ++type)
            if (publicType(static_cast<DataType>(type)) == view_.type) return static_cast<DataType>(type);
        refuse(Status::BadType,
               format("with the element type %d, which no tensor of a session has", view_.type));
    }
    [[noreturn]] void refuse(Status status, const std::string& how) const {
        fail(status, "operator '%s' of node '%s': its shape callback left output %zu %s", op_.name,
             node_.name, i_, how.c_str());
    }

    const mnn_operator_t& op_;
    const mnn_node_t& node_;
    const size_t i_;
    const mnn_host_tensor_t& view_;
};

class CallbackComputation final : public HostComputation {
  public:
    CallbackComputation(const mnn_operator_t& op, const mnn_node_t& node, std::span<Tensor* const> inputs,
                        std::span<Tensor* const> outputs)
        : op_(op), node_(node), inputs_(inputs), outputs_(outputs) {
        if (!op_.prepare) return;
        inputs_.show([](size_t, const Tensor& tensor) { return tensor.hasConstantValue; });
        outputs_.show([](size_t, const Tensor&) { return false; });
        state_ = invoke(op_.prepare, "prepare", op_, node_, inputs_, outputs_, nullptr);
    }
    ~CallbackComputation() override {
        if (!state_ || !op_.release) return;
        const ScopedFloatMode mode(FloatMode::computing(true));
        op_.release(op_.user_data, state_);
    }
    void run() override {
        const auto all = [](size_t, const Tensor&) { return true; };
        inputs_.show(all);
        outputs_.show(all);
        invoke(op_.compute, "compute", op_, node_, inputs_, outputs_, state_);
    }

  private:
    const mnn_operator_t& op_;
    const mnn_node_t& node_;
    TensorViews inputs_, outputs_;
    void* state_ = nullptr;
};

class CallbackNode final : public HostNode {
  public:
    CallbackNode(const mnn_operator_t& op, NodeDescription description)
        : op_(op), view_(std::move(description)) {}

    const char* typeName() const noexcept override { return view_.get().type_name; }
    uint32_t contentInputs() const noexcept override {
        const size_t inputs = view_.get().input_count;
        const uint64_t all = inputs < 32 ? (uint64_t{1} << inputs) - 1 : UINT32_MAX;
        return op_.shape ? static_cast<uint32_t>(op_.content_inputs & all) : 0;
    }
    void shape(const ShapeContext& context) const override {
        if (!op_.shape) return copyShapes(context);
        const mnn_node_t& node = view_.get();
        TensorViews inputs(context.inputs), outputs(context.outputs);
        const uint32_t content = contentInputs();
        inputs.show([&](size_t i, const Tensor& tensor) {
            return i < 32 && ((content >> i) & 1u) && tensor.hasConstantValue;
        });
        for (size_t i = 0; i < context.inputs.size() && i < 32; ++i)
            if (((content >> i) & 1u) && !inputs[i].data && inputs[i].bytes > 0)
                fail(Status::ComputeSizeError,
                     "operator '%s' of node '%s': the elements of input %zu are not known while planning",
                     op_.name, node.name, i);
        outputs.showUnshaped(context.inputs.empty() ? nullptr : context.inputs[0]);
        invoke(op_.shape, "shape", op_, node, inputs, outputs, nullptr);
        for (size_t i = 0; i < outputs.size(); ++i)
            ShapedOutput(op_, node, i, outputs[i]).apply(*context.outputs[i]);
    }
    std::unique_ptr<HostComputation> plan(std::span<Tensor* const> inputs,
                                          std::span<Tensor* const> outputs) const override {
        return std::make_unique<CallbackComputation>(op_, view_.get(), inputs, outputs);
    }

  private:
    const mnn_operator_t& op_;
    const NodeView view_;
};

}  // namespace

std::unique_ptr<const HostNode> CallbackOperator::makeNode(NodeDescription description) const {
    return std::make_unique<CallbackNode>(callbacks_, std::move(description));
}

}  // namespace mnnc
