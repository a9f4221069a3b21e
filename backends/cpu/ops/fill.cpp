// OneHot, Range, LinSpace, RandomUniform, RandomNormal.
#include "ops/fill.h"

#include <algorithm>
#include <random>

#include "backends/cpu/ops/command_execution.h"
#include "backends/cpu/ops/distributions.h"
#include "backends/cpu/ops/families.h"
#include "tensor/element_types.h"

namespace mnnc::cpu {

namespace {

class OneHotExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        withBits(out().type, [&]<typename T>(T) { write<T>(frame); });
    }

  private:
    // On and off values are copied as bits.
    template <typename T>
    void write(const Frame& frame) const noexcept {
        const auto& p = params<OneHotParams>();
        const auto* indices = inData<int32_t>(frame, 0);
        const T on = *inData<T>(frame, 1), off = *inData<T>(frame, 2);
        auto* output = outData<T>(frame);
        std::fill(output, output + p.outer * p.depth * p.inner, off);
        for (int64_t o = 0; o < p.outer; ++o)
            for (int64_t i = 0; i < p.inner; ++i) {
                int64_t index = indices[o * p.inner + i];
                if (p.fromEnd && index < 0) index += p.depth;
                if (index >= 0 && index < p.depth) output[(o * p.depth + index) * p.inner + i] = on;
            }
    }
};

class RangeExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const int64_t count = out().shape[0];
        if (out().type == DataType::Float32) {
            // Adds repeatedly like the reference: products would round differently.
            float value = *inData<float>(frame, 0);
            const float delta = *inData<float>(frame, 2);
            for (int64_t i = 0; i < count; ++i, value += delta) outData<float>(frame)[i] = value;
        } else {
            auto value = static_cast<uint32_t>(*inData<int32_t>(frame, 0));
            const auto delta = static_cast<uint32_t>(*inData<int32_t>(frame, 2));
            for (int64_t i = 0; i < count; ++i, value += delta)
                outData<int32_t>(frame)[i] = static_cast<int32_t>(value);
        }
    }
};

class LinSpaceExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        const int64_t count = out().shape[0];
        const float start = *inData<float>(frame, 0), stop = *inData<float>(frame, 1);
        auto* output = outData<float>(frame);
        const float step = count > 1 ? (stop - start) / static_cast<float>(count - 1) : 0;
        for (int64_t i = 0; i < count; ++i) output[i] = start + static_cast<float>(i) * step;
        if (count > 1) output[count - 1] = stop;
    }
};

class RandomExecution final : public CommandExecution {
  public:
    using CommandExecution::CommandExecution;
    void run(const Frame& frame) const override {
        // The generator starts anew in every run; a given seed only chooses the generator.
        if (params<RandomParams>().seeded) {
            std::mt19937 generator(1);
            draw(frame, generator);
        } else {
            std::minstd_rand0 generator;
            draw(frame, generator);
        }
    }

  private:
    template <typename G>
    void draw(const Frame& frame, G& generator) const {
        const auto& p = params<RandomParams>();
        if (command().type == OpType::RandomUniform) {
            const Uniform<G> distribution(p.low, p.high);
            write(frame, generator, distribution);
        } else if (p.high > 0) {
            Normal<G> distribution(p.low, p.high);
            write(frame, generator, distribution);
        } else {
            const auto mean = [&p](G&) { return p.low; };
            write(frame, generator, mean);
        }
    }
    template <typename G, typename D>
    void write(const Frame& frame, G& generator, D& distribution) const {
        const int64_t count = out().elements();
        for (int64_t i = 0; i < count; ++i) {
            const float value = distribution(generator);
            if (out().type == DataType::Float32)
                outData<float>(frame)[i] = value;
            else if (out().type == DataType::Int32)
                outData<int32_t>(frame)[i] = whole(value);
            else
                outData<uint8_t>(frame)[i] = static_cast<uint8_t>(whole(value));
        }
    }
    static int32_t whole(float value) {
        return value >= -2147483648.0f && value < 2147483648.0f ? static_cast<int32_t>(value) : INT32_MIN;
    }
};

}  // namespace

constexpr CpuOp kFillCpu[] = {
    {OpType::OneHot, nullptr, makeExecution<OneHotExecution>},
    {OpType::Range, nullptr, makeExecution<RangeExecution>},
    {OpType::LinSpace, nullptr, makeExecution<LinSpaceExecution>},
    {OpType::RandomUniform, nullptr, makeExecution<RandomExecution>},
    {OpType::RandomNormal, nullptr, makeExecution<RandomExecution>},
};
extern constinit const CpuFamily fillCpu = kFillCpu;

}  // namespace mnnc::cpu
