// Binds the callbacks of an operator to a node, and checks the shapes that they return.
#include "c_api/operator_node.h"

#include "c_api/host_call.h"

namespace mnnc {

namespace {

// The answer of a shape callback for output i.
class ShapedOutput {
  public:
    ShapedOutput(const std::string& who, size_t i, const mnn_host_tensor_t& view) : who_(who), i_(i), view_(view) {}

    void apply(Tensor& tensor) const {
        Shape shape;
        if (view_.rank == -1) refuse(Status::ComputeSizeError, "without a shape");
        if (view_.rank < 0 || view_.rank > kMaxRank)
            refuse(Status::BadRange, format("with rank %d; it goes from 0 to %d", view_.rank, kMaxRank));
        for (int k = 0; k < view_.rank; ++k) {
            if (view_.dims[k] < 0) refuse(Status::BadRange, format("with the extent %d at axis %d", view_.dims[k], k));
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
        refuse(Status::BadType, format("with the element type %d, which no tensor of a session has", view_.type));
    }
    [[noreturn]] void refuse(Status status, const std::string& how) const {
        fail(status, "%s: its shape callback left output %zu %s", who_.c_str(), i_, how.c_str());
    }

    const std::string& who_;
    const size_t i_;
    const mnn_host_tensor_t& view_;
};

class CallbackNode final : public HostOperatorNode {
  public:
    CallbackNode(const mnn_operator_t& op, NodeDescription description)
        : op_(op),
          callbacks_{op.user_data, op.prepare, op.compute, op.release},
          view_(std::move(description)),
          who_(format("operator '%s' of node '%s'", op.name, view_.get().name)) {}

    const char* typeName() const noexcept override { return view_.get().type_name; }
    uint32_t contentInputs() const noexcept override {
        const size_t inputs = view_.get().input_count;
        const uint64_t all = inputs < 32 ? (uint64_t{1} << inputs) - 1 : UINT32_MAX;
        return op_.shape ? static_cast<uint32_t>(op_.content_inputs & all) : 0;
    }
    void shape(const ShapeContext& context) const override {
        if (!op_.shape) return copyShapes(context);
        TensorViews inputs(context.inputs), outputs(context.outputs);
        const uint32_t content = contentInputs();
        inputs.show(
            [&](size_t i, const Tensor& tensor) { return i < 32 && ((content >> i) & 1u) ? tensor.values : nullptr; });
        for (size_t i = 0; i < context.inputs.size() && i < 32; ++i)
            if (((content >> i) & 1u) && !inputs[i].data && inputs[i].bytes > 0)
                fail(Status::ComputeSizeError, "%s: the elements of input %zu are not known while planning",
                     who_.c_str(), i);
        outputs.showUnshaped(context.inputs.empty() ? nullptr : context.inputs[0]);
        requireSuccess(ask(op_.shape, op_.user_data, view_.get(), inputs, outputs, nullptr), who_, "shape");
        for (size_t i = 0; i < outputs.size(); ++i) ShapedOutput(who_, i, outputs[i]).apply(*context.outputs[i]);
    }
    std::unique_ptr<HostComputation> plan(std::span<Tensor* const> inputs,
                                          std::span<Tensor* const> outputs) const override {
        return std::make_unique<CallbackComputation>(callbacks_, who_, view_.get(), inputs, outputs);
    }

  private:
    const mnn_operator_t& op_;
    const NodeCallbacks callbacks_;
    const NodeView view_;
    const std::string who_;
};

}  // namespace

std::unique_ptr<const HostOperatorNode> CallbackOperator::makeNode(NodeDescription description) const {
    return std::make_unique<CallbackNode>(callbacks_, std::move(description));
}

}  // namespace mnnc
