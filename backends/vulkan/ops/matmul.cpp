// MatMul, BatchMatMul and InnerProduct on row-major tensors.
#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/matrix_product.h"

namespace mnnc::vulkan {

namespace {

class MatMul final : public VulkanExecution {
  public:
    MatMul(VulkanBackend& backend, const Command& command) : VulkanExecution(backend), command_(command) {}

    void prepare() override {
        const MatMulSizes sizes = matMulSizes(command_.paramsAs<MatMulParams>(), command_.inputs[0]->shape,
                                              command_.inputs[1]->shape, command_.name.c_str());
        MatrixProblem problem(sizes, hasBias());
        problem.half = backend().half(*command_.outputs[0]);
        product_ = std::make_unique<MatrixProduct>(backend(), problem);
    }

    void encode(FrameRecorder& recorder) const override {
        const Binding a = recorder.reads(*command_.inputs[0]);
        product_->encode(recorder, a, recorder.reads(*command_.inputs[1]), recorder.writes(*command_.outputs[0]),
                         hasBias() ? recorder.reads(*command_.inputs[2]) : a);
    }

  private:
    bool hasBias() const { return command_.inputs.size() > 2; }

    const Command command_;
    std::unique_ptr<MatrixProduct> product_;
};

class InnerProduct final : public VulkanExecution {
  public:
    InnerProduct(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), params_(command_.paramsAs<InnerProductParams>()) {}

    void prepare() override {
        MatrixProblem problem(params_, command_.inputs[0]->shape[0]);
        problem.half = backend().half();
        product_ = std::make_unique<MatrixProduct>(backend(), problem);
        // Weights are [inputs][outputs], so that neighbouring outputs are read together.
        weights_ = backend().weights(
            command_.params, "inner_product", problem.l * problem.ldb, [&](std::vector<float>& values) {
                const auto rows = static_cast<size_t>(problem.l), columns = static_cast<size_t>(problem.h),
                           step = static_cast<size_t>(problem.ldb);
                for (size_t o = 0; o < columns; ++o)
                    for (size_t i = 0; i < rows; ++i) values[i * step + o] = params_.weight[o * rows + i];
            });
        if (problem.bias)
            bias_ =
                backend().weights(command_.params, "inner_product bias", problem.h, [&](std::vector<float>& values) {
                    std::copy(params_.bias.begin(), params_.bias.end(), values.begin());
                });
    }

    void encode(FrameRecorder& recorder) const override {
        product_->encode(recorder, recorder.reads(*command_.inputs[0]), recorder.reads(*weights_),
                         recorder.writes(*command_.outputs[0]), recorder.reads(bias_ ? *bias_ : *weights_));
    }

  private:
    const Command command_;
    const InnerProductParams& params_;
    VulkanBackend::WeightsPtr weights_, bias_;
    std::unique_ptr<MatrixProduct> product_;
};

bool supportsFloats(const Command& command, std::string& reason) {
    for (const Operand* input : command.inputs)
        if (input->type != DataType::Float32 || input->empty())
            return refuse(reason, "the Vulkan kernel multiplies matrices of floats that are not empty");
    return true;
}

bool supportsMatMul(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloats(command, reason)) return false;
    const MatMulSizes sizes = matMulSizes(command.paramsAs<MatMulParams>(), command.inputs[0]->shape,
                                          command.inputs[1]->shape, command.name.c_str());
    if (batchAxes(sizes).size() > kProductBatchAxes)
        return refuse(
            reason, format("the Vulkan kernel broadcasts at most %zu batch axes that do not merge", kProductBatchAxes));
    return fewRounds(backend, productRounds(sizes.l), reason);
}

bool supportsInnerProduct(const VulkanBackend& backend, const Command& command, std::string& reason) {
    if (!supportsFloats(command, reason)) return false;
    const auto& params = command.paramsAs<InnerProductParams>();
    const int64_t weights = roundUp(int64_t{params.outputs}, 4) * params.inputs;
    if (weights > INT32_MAX || weights * 4 > backend.limits().storageRange)
        return refuse(reason, "the weights exceed what the device binds at once");
    return fewRounds(backend, productRounds(params.inputs), reason);
}

std::unique_ptr<Execution> createMatMul(VulkanBackend& backend, const Command& command) {
    return std::make_unique<MatMul>(backend, command);
}

std::unique_ptr<Execution> createInnerProduct(VulkanBackend& backend, const Command& command) {
    return std::make_unique<InnerProduct>(backend, command);
}

}  // namespace

constexpr VulkanOp kMatMul[] = {
    {OpType::MatMul, supportsMatMul, nullptr, createMatMul},
    {OpType::BatchMatMul, supportsMatMul, nullptr, createMatMul},
    {OpType::InnerProduct, supportsInnerProduct, nullptr, createInnerProduct},
};
extern constinit const VulkanFamily matmulVulkan = kMatMul;

}  // namespace mnnc::vulkan
