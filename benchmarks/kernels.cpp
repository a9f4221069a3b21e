// Times single convolutions as a session runs them: with the execution that the CPU backend chooses for the shape, on
// tensors in its layout, with weights packed beforehand. Caches are warm; in a net they are less so.
//
//     benchmarks/mnn_c_kernel_benchmarks --threads=1,2 --isa=avx2 --benchmark_filter='resnet50/3x3.*'
//
// FLOP/s count the work of a direct convolution, not that of the algorithm (the label), so Winograd can exceed the
// peak.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "backends/cpu/cpu_runtime.h"
#include "base/aligned.h"
#include "base/error.h"
#include "conv_shapes.h"
#include "ops/convolution.h"

namespace mnnc::bench {
namespace {

// One convolution, ready to run.
class PreparedConv {
  public:
    PreparedConv(const ConvCase& shape, int threads, const std::string& isa) {
        config_.threads = threads;
        config_.cpuIsa = isa;
        runtime_ = cpu::createCpuRuntime(config_);
        backend_ = runtime_->createBackend(config_, weights_);
        command_.type = shape.depthwise() ? OpType::ConvolutionDepthwise : OpType::Convolution;
        command_.name = shape.name();
        command_.params = paramsOf(shape);
        command_.epilogue.lo = 0;  // ReLU
        command_.inputs = {add({1, shape.ic, shape.ih, shape.iw}),
                           constant({shape.oc, shape.ic / shape.groups, shape.kh, shape.kw}), constant({shape.oc})};
        command_.outputs = {add({1, shape.oc, shape.oh(), shape.ow()})};
        store();
        std::string reason;
        execution_ = backend_->create(command_, reason);
        if (!execution_) fail(Status::NoExecution, "%s", reason.c_str());
        execution_->prepare();
        scratch_ = AlignedBuffer(execution_->scratchBytes());
        frame_.place(kScratch, scratch_.data());
        lease_.emplace(*backend_->runPool());
        frame_.usePool(lease_->pool());
        frame_.beginStep(kScratch, nullptr);
    }

    void run() {
        execution_->run(frame_);
        frame_.endRun();
    }
    std::string algorithm() const { return execution_->algorithm(); }

  private:
    static ParamsPtr paramsOf(const ConvCase& shape) {
        auto params = std::make_shared<ConvParams>();
        params->kernelX = shape.kw;
        params->kernelY = shape.kh;
        params->strideX = params->strideY = shape.stride;
        params->pads = {shape.padH, shape.padW, shape.padH, shape.padW};
        params->group = shape.groups;
        params->inputCount = shape.ic;
        params->outputCount = shape.oc;
        return params;
    }

    Operand* add(const Shape& shape) {
        Operand& tensor = tensors_.emplace_back();
        tensor.shape = shape;
        tensor.number = static_cast<int>(tensors_.size());
        return &tensor;
    }

    Operand* constant(const Shape& shape) {
        Operand* tensor = add(shape);
        tensor->values = allocate(*tensor);
        tensor->usage = Usage::Constant;
        tensor->hasConstantValue = true;
        return tensor;
    }

    // Values are moderate: some machines multiply zeros faster, and denormals are slower.
    void* allocate(const Operand& tensor) {
        AlignedBuffer& memory = memory_.emplace_back(tensor.storageBytes());
        for (int64_t i = 0; i < tensor.storageElements(); ++i)
            memory.as<float>()[i] = std::sin(static_cast<float>(i % 1009 + 1));
        frame_.place(tensor.number, memory.data());
        return memory.data();
    }

    // Operands are stored as in a net: packed, except for an image.
    void store() {
        Operand& input = *command_.inputs[0];
        if (input.shape.at(1) > 3) input.channelBlock = backend_->chooseStorage(command_).inputBlock;
        const StorageChoice choice = feasibleStorage(*backend_, command_);
        input.channelBlock = choice.wantsRowMajor(0) ? 1 : choice.inputBlock;
        command_.outputs[0]->channelBlock = choice.outputBlock;
        allocate(input);
        allocate(*command_.outputs[0]);
    }

    static constexpr int kScratch = 5;  // the slot of the scratch memory, after the operands
    BackendConfig config_;
    WeightStore weights_;
    std::shared_ptr<Runtime> runtime_;
    std::unique_ptr<Backend> backend_;
    std::deque<Operand> tensors_;
    Frame frame_{kScratch + 1};
    std::deque<AlignedBuffer> memory_;
    AlignedBuffer scratch_;
    Command command_;
    std::unique_ptr<Execution> execution_;
    std::optional<RunLease> lease_;
};

void timeConvolution(benchmark::State& state, const ConvCase& shape, int threads, const std::string& isa) {
    try {
        PreparedConv convolution(shape, threads, isa);
        convolution.run();
        for (auto _ : state) convolution.run();
        state.SetLabel(convolution.algorithm());
        state.counters["FLOP/s"] = benchmark::Counter(shape.flops(), benchmark::Counter::kIsIterationInvariantRate);
    } catch (const Error& error) {
        state.SkipWithError(error.message().c_str());
    }
}

struct Arguments {
    std::vector<int> threads = {1};
    std::string isa;
};

// Returns the text after `start`, or null where the argument does not begin with it.
const char* after(const char* argument, std::string_view start) {
    return std::string_view(argument).starts_with(start) ? argument + start.size() : nullptr;
}

// Removes this program's arguments from argv; Google Benchmark gets the others. Returns false for a value that is
// invalid.
bool takeArguments(int& argc, char** argv, Arguments& out) {
    constexpr int kMaxThreads = 32;
    int kept = 0;
    for (int i = 0; i < argc; ++i) {
        if (const char* isa = after(argv[i], "--isa=")) {
            out.isa = isa;
        } else if (const char* list = after(argv[i], "--threads=")) {
            out.threads.clear();
            for (const char* at = list;; ++at) {
                char* end = nullptr;
                const long count = std::strtol(at, &end, 10);
                if (end == at || count < 1 || count > kMaxThreads) return false;
                out.threads.push_back(static_cast<int>(count));
                at = end;
                if (*at == '\0') break;
                if (*at != ',') return false;
            }
        } else {
            argv[kept++] = argv[i];
        }
    }
    argc = kept;
    return true;
}

}  // namespace
}  // namespace mnnc::bench

int main(int argc, char** argv) {
    mnnc::bench::Arguments arguments;
    if (!mnnc::bench::takeArguments(argc, argv, arguments)) {
        std::fprintf(stderr, "%s: --threads wants numbers from 1 to 32, separated by commas\n", argv[0]);
        return 1;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    for (const mnnc::bench::ConvCase& shape : mnnc::bench::kConvCases) {
        for (const int threads : arguments.threads) {
            const std::string name = mnnc::format("%s/threads:%d", shape.name().c_str(), threads);
            const auto body = [&shape, threads, isa = arguments.isa](benchmark::State& state) {
                mnnc::bench::timeConvolution(state, shape, threads, isa);
            };
            auto* registered = benchmark::RegisterBenchmark(name.c_str(), body);
            registered->Unit(benchmark::kMicrosecond);
            if (threads > 1) registered->UseRealTime();  // one thread: its CPU time alone
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
