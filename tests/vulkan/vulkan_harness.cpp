// The definitions of vulkan_harness.h.
#include "vulkan_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <list>
#include <random>

#include "backend/registry.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/vulkan/device/device.h"
#include "base/aligned.h"
#include "base/half.h"
#include "plan/passes.h"
#include "poisoning_backend.h"
#include "session/encoder.h"
#include "session/stage_memory.h"
#include "tensor/host_copy.h"
#include "validation_guard.h"

namespace mnnc::vulkan::test {

namespace {

constexpr int64_t kMemory = int64_t{8} << 30;

Format rowMajor(const Operand& tensor) {
    return tensor.format == Format::NHWC ? Format::NHWC : Format::NCHW;
}

std::shared_ptr<Runtime> makeRuntime(ForwardType type, const BackendConfig& config) {
    for (const BackendEntry& entry : builtinBackends())
        if (entry.type == type) return entry.createRuntime(config);
    fail(Status::BackendMissing, "backend %d is not built in", static_cast<int>(type));
}

struct Mode {
    const char* name;
    bool device = true, mustTake = true;
    BackendConfig config = {};
};

Mode mode(const char* name, bool mustTake, const std::function<void(BackendConfig&)>& set) {
    Mode result{name, true, mustTake, {}};
    set(result.config);
    return result;
}

std::vector<Mode> modes() {
    return {
        mode("batch", true, [](BackendConfig&) {}),
        mode("direct", true, [](BackendConfig& c) { c.recordBatch = false; }),
        mode("7 groups", false, [](BackendConfig& c) { c.deviceLimits.groupCount = 7; }),
        mode("64 invocations", false, [](BackendConfig& c) { c.deviceLimits.groupInvocations = 64; }),
        mode("6 buffers", false, [](BackendConfig& c) { c.deviceLimits.storageBuffers = 6; }),
        mode("16 KiB shared", false, [](BackendConfig& c) { c.deviceLimits.sharedMemory = 16384; }),
        mode("64 KiB range", false, [](BackendConfig& c) { c.deviceLimits.storageRange = 65536; }),
        mode("no subgroups", false, [](BackendConfig& c) { c.deviceLimits.noSubgroups = true; }),
    };
}

struct Outcome {
    std::vector<std::vector<float>> floats;  // [output]
    std::vector<std::vector<int32_t>> ints;
    std::vector<OpRecord> records;
    bool half = false;
};

// A hand-made stage of one command.
class Room {
  public:
    Room(const OpCase& c, const Mode& mode) {
        BackendConfig config = mode.config;
        config.maxMemoryBytes = kMemory;
        cpuRuntime_ = makeRuntime(ForwardType::Cpu, config);
        cpu_ = cpuRuntime_->createBackend(config, weights_);
        if (mode.device) {
            config.memory = c.memory;
            runtime_ = makeRuntime(ForwardType::Vulkan, config);
            ValidationGuard::keep(runtime_);
            inner_ = runtime_->createBackend(config, weights_);
            auto& vulkan = dynamic_cast<VulkanBackend&>(*inner_);
            device_ = std::make_shared<PoisoningBackend>(vulkan);
            half_ = vulkan.half();
        }
        context_.cpu = cpu_;
        context_.device = device_;
        context_.weights = &weights_;
        context_.maxMemoryBytes = kMemory;
        memory_ = std::make_unique<StageMemory>(context_);
        constants_ = std::make_unique<BudgetedBlock>(context_, DeviceUse::Compute);

        Command command;
        command.type = c.type;
        command.name = "case";
        command.params = c.params;
        command.regions = c.regions;
        command.epilogue = c.epilogue;
        for (const Value& value : c.inputs) command.inputs.push_back(input(value));
        for (const Value& value : c.outputs) {
            command.outputs.push_back(describe(value));
            outputs_.push_back(command.outputs.back());
        }
        StageEncoder encoder(context_, planning_, OperandNumbers::Kind::Constant, 0, 0, temporaries_, folded_);
        const auto isOutput = [this](const Operand* tensor) {
            return std::find(outputs_.begin(), outputs_.end(), tensor) != outputs_.end();
        };
        CommandGraph graph(isOutput);
        graph.append(std::move(command), 0);
        const auto temporary = [&](const Operand& like) {
            return &made_.emplace_back(*encoder.temporary(like.shape, like.type, like.format));
        };
        const auto isFromOutside = [&](const Operand* tensor) {
            return tensor->hasConstantValue || tensor->usage == Usage::Input;
        };
        const PlanContext passes{context_.wanted(), *cpu_, temporary, nullptr, isFromOutside};
        keepCoordinates(graph, passes);
        assignStorage(graph, passes);
        StepPlan plan(graph);
        const auto fold = [&](const Command& constant) { encoder.fold(constant); };
        const Cancellation never;
        runPasses(plan,
                  {cpu_, context_.device, never, isOutput, isFromOutside, temporary, fold, planning_.numbers, nullptr,
                   0, false, false},
                  nullptr);
        bind(plan);
        steps_ = std::move(plan.steps);
        for (const Step& step : steps_)
            for (const OpCall& call : step.calls)
                if (!call.inserted) records_.push_back(call.record);
    }

    int64_t weightBytes() const { return weights_.bytes(); }

    Outcome run() {
        Outcome outcome;
        const RunLease lease(*cpu_->runPool());
        frame_.usePool(lease.pool());
        // The results of an earlier run must not affect a later one.
        for (int round = 0; round < 2; ++round) {
            for (const Operand* output : outputs_)
                if (void* data = frame_.data<void>(*output); data && !output->aliasOf)
                    std::memset(data, 0xff, static_cast<size_t>(output->storageBytes()));
            for (size_t i = 0; i < steps_.size(); ++i) {
                frame_.beginStep(steps_[i].scratch, nullptr);
                recordings_[i] ? recordings_[i]->run() : steps_[i].execution->run(frame_);
            }
        }
        for (const Operand* output : outputs_) {
            const auto count = static_cast<size_t>(output->elements());
            outcome.floats.emplace_back(output->type == DataType::Float32 ? count : 0);
            outcome.ints.emplace_back(output->type == DataType::Float32 ? 0 : count);
            void* to = output->type == DataType::Float32 ? static_cast<void*>(outcome.floats.back().data())
                                                         : outcome.ints.back().data();
            if (count) copyToHost(*output, frame_.data<void>(*output), to, rowMajor(*output));
        }
        outcome.records = records_;
        outcome.half = half_;
        return outcome;
    }

  private:
    // Provides the plan's memory, and the device's recordings over it.
    void bind(StepPlan& plan) {
        MemoryBases bases = memory_->reserve(plan.needs);
        bases.blocks[static_cast<size_t>(MemoryBlock::Constants)] =
            constants_->reserve(plan.needs.of(MemoryBlock::Constants), "constants");
        frame_.grow(planning_.numbers.end());
        for (const Placement& placement : plan.placements) placement.bind(frame_, bases);
        for (const KnownOperand& known : plan.known) frame_.place(known.operand, const_cast<void*>(known.values));
        bindViews(frame_, placedViews(plan.views));
        if (!plan.constantUploads.empty()) device_->record(plan.constantUploads, frame_)->run();
        for (Step& step : plan.steps)
            recordings_.push_back(step.toRecord.empty() ? nullptr : device_->record(step.toRecord, frame_));
    }

    Operand* describe(const Value& value) {
        tensors_.emplace_back();
        Operand& tensor = tensors_.back();
        tensor.number = static_cast<int>(tensors_.size());
        tensor.name = "tensor" + std::to_string(tensors_.size());
        tensor.shape = value.shape;
        tensor.type = value.isInt ? DataType::Int32 : DataType::Float32;
        tensor.format = value.format;
        return &tensor;
    }

    Operand* input(const Value& value) {
        Operand* tensor = describe(value);
        tensor->usage = value.constant ? Usage::Constant : Usage::Input;
        tensor->hasConstantValue = value.constant;
        if (value.packed) {
            if (value.constant || !canPack(*tensor)) fail(Status::Internal, "this value cannot be packed");
            tensor->channelBlock = dynamic_cast<cpu::CpuBackend&>(*cpu_).channelBlock();
        }
        const size_t given = value.isInt ? value.ints.size() : value.floats.size();
        if (given != static_cast<size_t>(tensor->elements()))
            fail(Status::Internal, "input %zu has %zu values, its shape is %s", tensors_.size(), given,
                 tensor->shape.text().c_str());
        if (tensor->empty()) return tensor;
        buffers_.emplace_back(tensor->storageBytes());
        void* data = buffers_.back().data();
        frame_.place(tensor->number, data);
        if (value.constant) tensor->values = data;
        std::memset(data, 0xff, static_cast<size_t>(tensor->storageBytes()));
        const void* from = value.isInt ? static_cast<const void*>(value.ints.data()) : value.floats.data();
        copyFromHost(*tensor, data, from, rowMajor(*tensor));
        return tensor;
    }

    WeightStore weights_;
    std::shared_ptr<Runtime> cpuRuntime_, runtime_;
    std::shared_ptr<Backend> cpu_;
    std::unique_ptr<Backend> inner_;
    std::shared_ptr<PoisoningBackend> device_;
    bool half_ = false;
    SessionContext context_;
    static constexpr size_t kMaxOperands = 64;  // of a case
    OperandNumbers numbers_{kMaxOperands + 1};
    PlanningFrame planning_{numbers_};
    Frame frame_{kMaxOperands + 1};
    std::deque<Operand> tensors_, made_;
    std::list<Tensor> temporaries_;
    std::deque<AlignedBuffer> buffers_;
    std::list<SharedMemory> folded_;
    std::vector<Operand*> outputs_;
    std::unique_ptr<StageMemory> memory_;
    std::unique_ptr<BudgetedBlock> constants_;
    std::vector<Step> steps_;
    std::vector<std::unique_ptr<Recording>> recordings_;  // by step; null where the host runs the step
    std::vector<OpRecord> records_;
};

Outcome runCase(const OpCase& c, const Mode& mode) {
    return Room(c, mode).run();
}

bool closeEnough(double reference, double value, double allowed, bool half) {
    if (std::isnan(reference)) return std::isnan(value);
    if (std::isinf(reference)) return value == reference;
    if (half && std::fabs(reference) > 65000 && std::isinf(value))
        return std::signbit(reference) == std::signbit(value);
    return std::fabs(reference - value) <= allowed;  // false for NaN
}

void compare(const Outcome& reference, const Outcome& result, double tolerance) {
    for (size_t k = 0; k < reference.floats.size(); ++k) {
        EXPECT_EQ(reference.ints[k], result.ints[k]) << "output " << k;
        const std::vector<float>&a = reference.floats[k], &b = result.floats[k];
        ASSERT_EQ(a.size(), b.size());
        double largest = 0;
        for (const float value : a)
            if (std::isfinite(value)) largest = std::fmax(largest, std::fabs(value));
        const double allowed = tolerance * (1 + largest);
        size_t wrong = 0, first = 0;
        for (size_t i = 0; i < a.size(); ++i) {
            const bool close = closeEnough(static_cast<double>(a[i]), static_cast<double>(b[i]), allowed, result.half);
            if (!close && wrong++ == 0) first = i;
        }
        EXPECT_EQ(wrong, 0u) << "output " << k << ", " << wrong << " of " << a.size() << " values differ; the first at "
                             << first << ": " << b[first] << ", the CPU says " << a[first] << "; allowed is "
                             << allowed;
    }
}

std::string describe(const OpCase& c) {
    const char* type = opTypeName(c.type);
    std::string text = type ? type : "?";
    for (const Value& input : c.inputs)
        text += " " + input.shape.text() + (input.packed ? " packed" : "") + (input.constant ? " const" : "");
    text += " ->";
    for (const Value& output : c.outputs) text += " " + output.shape.text();
    return text + epilogueText(c.epilogue);
}

// Runs one mode with its name in every failure.
void tryMode(const OpCase& c, const Mode& mode, const Outcome& reference, double tolerance) {
    SCOPED_TRACE(mode.name);
    const uint64_t before = ValidationGuard::unexpected();
    const Outcome result = runCase(c, mode);
    for (const OpRecord& record : result.records) {
        if (!mode.mustTake || std::strcmp(record.backend, "vulkan") == 0) continue;
        if (record.hostShape)
            ADD_FAILURE() << "the case is too small: it counts as shape arithmetic and stays on the CPU";
        else
            ADD_FAILURE() << "the device did not take it: " << record.reason;
    }
    compare(reference, result, tolerance);
    EXPECT_EQ(ValidationGuard::unexpected(), before) << "the validation layer spoke";
}

OpCase halved(OpCase c) {
    for (Value& input : c.inputs)
        for (float& value : input.floats) value = halfToFloat(floatToHalf(value));
    return c;
}

Mode cpuMode() {
    Mode mode{"cpu", false, false, {}};
    return mode;
}

}  // namespace

Value randomValue(Shape shape, uint32_t seed, float low, float high) {
    Value value;
    value.shape = shape;
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> distribution(low, high);
    value.floats.resize(static_cast<size_t>(shape.elements()));
    for (float& one : value.floats) one = distribution(random);
    return value;
}

Value randomInts(Shape shape, uint32_t seed, int low, int high) {
    Value value;
    value.shape = shape;
    value.isInt = true;
    std::mt19937 random(seed);
    std::uniform_int_distribution<int32_t> distribution(low, high);
    value.ints.resize(static_cast<size_t>(shape.elements()));
    for (int32_t& one : value.ints) one = distribution(random);
    return value;
}

Value asPacked(Value value, bool packed) {
    value.packed = packed;
    return value;
}

OpCase sameShape(OpType type, ParamsPtr params, Value input) {
    OpCase c;
    c.type = type;
    c.params = std::move(params);
    Value output;
    output.shape = input.shape;
    output.isInt = input.isInt;
    output.format = input.format;
    c.inputs = {std::move(input)};
    c.outputs = {output};
    return c;
}

void expectSameAsCpu(const OpCase& c, double tolerance, double half) {
    SCOPED_TRACE(describe(c));
    try {
        const Outcome reference = runCase(c, cpuMode());
        for (const Mode& one : modes()) tryMode(c, one, reference, tolerance);
        if (half < 0) return;
        const OpCase rounded = halved(c);
        tryMode(rounded, mode("half", true, [](BackendConfig& b) { b.precision = Precision::Low; }),
                runCase(rounded, cpuMode()), half);
    } catch (const Error& error) {
        ADD_FAILURE() << error.message();
    }
}

int64_t deviceWeightBytes(const OpCase& c) {
    return Room(c, modes()[0]).weightBytes();
}

void expectRefused(const OpCase& c, const char* text) {
    SCOPED_TRACE(describe(c));
    try {
        const Outcome reference = runCase(c, cpuMode());
        const Outcome result = runCase(c, modes()[0]);
        bool refused = false;
        for (const OpRecord& record : result.records) {
            refused |= std::strcmp(record.backend, "cpu") == 0;
            EXPECT_NE(record.reason.find(text), std::string::npos)
                << "runs on " << record.backend << ", the reason is '" << record.reason << "'";
        }
        EXPECT_TRUE(refused) << "the device took it";
        compare(reference, result, 1e-5);
    } catch (const Error& error) {
        ADD_FAILURE() << error.message();
    }
}

void expectSameAsCpuOrRefused(const OpCase& c, const char* text, double tolerance) {
    if (Device::get("", true)->info().type == VK_PHYSICAL_DEVICE_TYPE_CPU)
        expectRefused(c, text);
    else
        expectSameAsCpu(c, tolerance, -1);
}

uint64_t messagesDuring(const std::function<void()>& body) {
    return ValidationGuard::during(body);
}

}  // namespace mnnc::vulkan::test
