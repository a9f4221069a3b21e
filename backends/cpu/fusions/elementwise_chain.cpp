// The pattern ElementwiseChain: element-wise operators that feed one another are computed block by block through the
// kernels of the single operators, so that intermediate results stay in the first level cache.
#include <algorithm>
#include <climits>
#include <optional>

#include "backends/cpu/fusions/patterns.h"
#include "backends/cpu/ops/activation_kernel.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/split.h"
#include "base/aligned.h"
#include "base/error.h"
#include "ops/binary.h"
#include "ops/unary.h"
#include "plan/elementwise_chains.h"

namespace mnnc::cpu {
namespace {

constexpr int64_t kBlock = 1024;  // elements

class Chain final : public Execution {
  public:
    Chain(const CpuBackend& backend, const Command& command, Isa isa)
        : backend_(backend),
          unary_(unaryKernels(isa)),
          binary_(binaryKernels(isa)),
          command_(command),
          params_(command_.paramsAs<FusedParams>()) {}

    // Returns whether every step has a kernel.
    bool takeSteps(std::string& reason) {
        const size_t inputs = command_.inputs.size();
        const char* name = command_.name.c_str();
        lastRead_.assign(inputs + params_.steps.size(), 0);
        for (size_t s = 0; s < params_.steps.size(); ++s) {
            const FusedStep& from = params_.steps[s];
            Step step;
            step.type = from.type;
            for (const size_t operand : from.operands) lastRead_[operand] = s;
            if (step.type == OpType::UnaryOp) {
                const int code = paramsAs<UnaryParams>(from.params.get(), name).code;
                step.unary = unary_.byCode[code] ? unary_.byCode[code] : unaryScalarFloat(code);
            } else if (step.type == OpType::BinaryOp) {
                const auto* binary = &paramsAs<BinaryParams>(from.params.get(), name);
                step.binary = binary_.byCode[binary->code];
                step.binaryScalar = binaryScalarFloat(binary->code);
                step.relu = binary->relu;
                if (!step.binary && !step.binaryScalar)
                    return refuse(reason, format("binary code %d does not exist for float32", binary->code));
            } else {
                step.activation.emplace(step.type, from.params.get(), name);
            }
            steps_.push_back(step);
        }
        return true;
    }

    // Places every value; results that only the chain reads share a few blocks.
    void prepare() override {
        const Operand& shape = *command_.outputs[0];
        std::vector<Value> values;
        for (size_t i = 0; i < command_.inputs.size(); ++i) {
            const bool whole = command_.inputs[i]->shape == shape.shape;
            values.push_back({Place::Input, static_cast<int>(i), whole ? Elements::Each : Elements::One});
        }
        std::vector<int> freed;
        int blocks = 0;
        for (size_t s = 0, made = 0; s < steps_.size(); ++s) {
            const std::vector<size_t>& operands = params_.steps[s].operands;
            steps_[s].a = values[operands[0]];
            steps_[s].b = values[operands.back()];
            for (size_t k = 0; k < operands.size(); ++k)
                if (values[operands[k]].place == Place::Block && lastRead_[operands[k]] == s &&
                    (k == 0 || operands[k] != operands[0]))
                    freed.push_back(values[operands[k]].index);
            Value result{Place::Output, static_cast<int>(made), Elements::Each};
            if (made < params_.results.size() && params_.results[made] == s) {
                ++made;
            } else {
                result.place = Place::Block;
                if (freed.empty()) freed.push_back(blocks++);
                result.index = freed.back();
                freed.pop_back();
            }
            steps_[s].y = result;
            values.push_back(result);
        }
        blocks_ = blocks;
        requestScratch(int64_t{backend_.planningPool().threads()} * blocks_ * kBlock * 4);
    }

    std::string algorithm() const override { return format("%zu operators", steps_.size()); }

    // An input may share the output's memory only if its last read comes no later than the store of the output's
    // element.
    uint32_t inPlaceInputs(size_t output) const override {
        uint32_t allowed = 0;
        for (size_t i = 0; i < command_.inputs.size() && i < 32; ++i)
            if (command_.inputs[i]->shape == command_.outputs[0]->shape && lastRead_[i] <= params_.results[output])
                allowed |= 1u << i;
        return allowed;
    }

    void run(const Frame& frame) const override {
        const int64_t n = storageElements(*command_.outputs[0]), count = ceilDiv(n, kBlock);
        ThreadPool& pool = frame.pool();
        const int64_t worth = n * static_cast<int64_t>(steps_.size()) / kPieceElements;
        const int64_t maxPieces = std::min<int64_t>(count, 4 * pool.threads());
        const auto pieces = static_cast<int>(std::clamp<int64_t>(worth, 1, std::max<int64_t>(maxPieces, 1)));
        const auto memory = [&](int slot) {
            return static_cast<float*>(frame.scratch()) + int64_t{slot} * blocks_ * kBlock;
        };
        const Operand& map = *command_.outputs[0];
        if (storageByPixels(map)) {
            const int64_t plane = map.plane() * map.channelBlock;
            const PlaneCut cut(n / plane, map.plane(), true, pool.threads());
            parallelSlots(pool, cut.tasks(), [&](int slot, int task) {
                const PlaneCut::Part part = cut[task];
                for (int64_t i = part.planeBegin; i < part.planeEnd; ++i)
                    runRange(frame, i * plane + part.rowBegin * map.channelBlock,
                             i * plane + part.rowEnd * map.channelBlock, memory(slot));
            });
            return;
        }
        parallelSlots(pool, pieces, [&](int slot, int piece) {
            runRange(frame, count * piece / pieces * kBlock, std::min(n, count * (piece + 1) / pieces * kBlock),
                     memory(slot));
        });
    }

  private:
    enum class Place { Input, Output, Block };
    struct Value {
        Place place = Place::Input;
        int index = 0;
        Elements mode = Elements::Each;
    };
    struct Step {
        OpType type = OpType::UnaryOp;
        UnaryFn unary = nullptr;
        BinaryFn binary = nullptr;
        BinaryScalarFn binaryScalar = nullptr;
        bool relu = false;
        std::optional<ActivationKernel> activation;
        Value a, b, y;
    };

    float* at(const Frame& frame, const Value& value, int64_t begin, float* blocks) const {
        const auto index = static_cast<size_t>(value.index);
        if (value.place == Place::Block) return blocks + value.index * kBlock;
        auto* data = frame.data<float>(*(value.place == Place::Input ? command_.inputs : command_.outputs)[index]);
        return value.mode == Elements::Each ? data + begin : data;
    }

    void runRange(const Frame& frame, int64_t begin, int64_t end, float* blocks) const {
        for (int64_t at = begin; at < end; at += kBlock)
            runBlock(frame, at, static_cast<size_t>(std::min(kBlock, end - at)), blocks);
    }

    void runBlock(const Frame& frame, int64_t begin, size_t n, float* blocks) const {
        for (const Step& step : steps_) {
            const float* a = at(frame, step.a, begin, blocks);
            float* y = at(frame, step.y, begin, blocks);
            if (step.type == OpType::UnaryOp) {
                step.unary(a, y, n);
            } else if (step.type == OpType::BinaryOp) {
                const float* b = at(frame, step.b, begin, blocks);
                if (step.binary)
                    step.binary(a, step.a.mode, b, step.b.mode, y, n);
                else
                    step.binaryScalar(a, step.a.mode, b, step.b.mode, y, n,
                                      static_cast<size_t>(backend_.kernels().lanes));
                if (step.relu) binary_.reluFloat(y, n);
            } else {
                step.activation->run(unary_, a, y, n);
            }
        }
    }

    const CpuBackend& backend_;
    const UnaryKernels& unary_;
    const BinaryKernels& binary_;
    const Command command_;
    const FusedParams& params_;
    std::vector<Step> steps_;
    std::vector<size_t> lastRead_;  // for each value, the last step that reads it
    int blocks_ = 0;                // in scratch, per thread
};

// A chain over int8 codes is a function of one input. It runs once, over the 256 values of a code, and its results
// become a table. It uses the kernels of the baseline, which every CPU has, so that every instruction set gives the
// same table.
std::unique_ptr<Execution> createOverCodes(CpuBackend& backend, const Command& command, std::string& reason) {
    const auto isCodes = [](const Operand* tensor) { return tensor->type == DataType::Int8; };
    const auto codes = std::find_if(command.inputs.begin(), command.inputs.end(), isCodes);
    const auto isUsable = [&](const Operand* tensor) {
        return tensor == *codes || (!isCodes(tensor) && isKnownNumber(*tensor));
    };
    if (codes == command.inputs.end() || command.outputs.size() != 1 || !isCodes(command.outputs[0]) ||
        !std::all_of(command.inputs.begin(), command.inputs.end(), isUsable))
        return refuse(reason,
                      format("op '%s' needs one int8 input, known numbers as its other inputs and one int8 output",
                             command.name.c_str()));
    const auto input = static_cast<size_t>(codes - command.inputs.begin());
    float values[kCodes], results[kCodes];
    valuesOfCodes(quantOf(**codes), values);
    // The float operands lie in a frame of their own.
    Command floats = command;
    const int count = static_cast<int>(command.inputs.size()), result = count + 1, blocks = count + 2;
    std::vector<Operand> inputs(command.inputs.size());
    Operand y;
    Frame frame(blocks + 1);
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (i == input)
            inputs[i].shape = Shape{kCodes};
        else
            inputs[i] = *command.inputs[i];
        inputs[i].number = static_cast<int>(i) + 1;
        frame.place(inputs[i].number, i == input ? values : const_cast<void*>(inputs[i].values));
        floats.inputs[i] = &inputs[i];
    }
    y.shape = Shape{kCodes};
    y.number = result;
    frame.place(result, results);
    floats.outputs[0] = &y;
    Chain chain(backend, floats, Isa::Portable);
    if (!chain.takeSteps(reason)) return nullptr;
    chain.prepare();
    AlignedBuffer memory(chain.scratchBytes());
    frame.place(blocks, memory.data());
    frame.usePool(backend.planningPool());
    frame.beginStep(blocks, nullptr);
    chain.run(frame);
    return createInt8Table(backend, command, input, results);
}

std::vector<FusionMatch> matchChain(const CommandGraph& graph, const Backend&) {
    return findElementwiseChains(graph);
}

// The chain is packed where one of its inputs is packed. Single numbers stay as they are.
StorageChoice storageChain(const Backend& backend, const Command& command) {
    const Operand& output = *command.outputs[0];
    StorageChoice choice;
    bool packed = false;
    for (size_t i = 0; i < command.inputs.size(); ++i) {
        const bool whole = command.inputs[i]->shape == output.shape;
        packed |= whole && command.inputs[i]->channelBlock > 1;
        if (!whole && i < 32) choice.rowMajorInputs |= 1u << i;
    }
    if (packed && canPackOnHost(output)) choice.inputBlock = choice.outputBlock = cpuBackend(backend).channelBlock();
    return choice;
}

std::unique_ptr<Execution> createChain(Backend& backend, const Command& command, std::string& reason) {
    if (command.outputs[0]->type == DataType::Int8) return createOverCodes(cpuBackend(backend), command, reason);
    auto chain = std::make_unique<Chain>(cpuBackend(backend), command, cpuBackend(backend).kernels().id);
    if (!chain->takeSteps(reason)) return nullptr;
    return chain;
}

}  // namespace

constinit const FusionPattern kElementwiseChain = {"ElementwiseChain", matchChain, storageChain, createChain};

}  // namespace mnnc::cpu
