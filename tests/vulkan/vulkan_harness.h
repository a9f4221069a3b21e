// Runs single commands on the Vulkan backend, through the planner of a session, and compares with the CPU.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "backend/backend.h"
#include "ir/command.h"

namespace mnnc::vulkan::test {

struct Value {  // a tensor of a case; outputs leave the data empty
    Shape shape;
    std::vector<float> floats;  // float32 tensor (also when both are empty)
    std::vector<int32_t> ints;  // int32 tensor when isInt
    bool isInt = false;
    Format format = Format::NCHW;
    bool packed = false;    // arrives channel-packed (rank >= 2, not NHWC)
    bool constant = false;  // known while planning
};

Value randomValue(Shape shape, uint32_t seed, float low = -1, float high = 1);
Value randomInts(Shape shape, uint32_t seed, int low, int high);

Value asPacked(Value value, bool packed = true);

struct OpCase {
    OpType type = OpType::Raster;
    ParamsPtr params;
    std::vector<Value> inputs, outputs;
    std::vector<Region> regions;
    Epilogue epilogue;                       // the residual is the last input
    MemoryMode memory = MemoryMode::Normal;  // on the device; the CPU's is Normal
};

// Returns a case with one input, and one output of its shape, type and format.
OpCase sameShape(OpType type, ParamsPtr params, Value input);

// Runs the command on the CPU and on the device: batch and direct recording, with the device's limits and with forced
// small ones, and in half precision where `half` >= 0 (inputs are rounded to fp16 first, also for the CPU). Fails when
// the device did not execute it, when a value differs by more than tolerance * (1 + largest |reference|), or when the
// validation layer sent a message. Padding lanes and device memory hold NaN where the host can write them. A command of
// at most 64 int32 elements each is shape arithmetic, which the planner leaves to the CPU: such cases must be larger.
void expectSameAsCpu(const OpCase& c, double tolerance, double half = 2e-2);

// Returns the bytes of the weights that are prepared for the device.
int64_t deviceWeightBytes(const OpCase& c);

// Expects the device to refuse the command with a reason that contains `text` (and the CPU to run it).
void expectRefused(const OpCase& c, const char* text);

// For commands whose loops are too long for software drivers: expects such a device to refuse, others to compute.
void expectSameAsCpuOrRefused(const OpCase& c, const char* text, double tolerance);

// For calls to which the validation layer must object: its messages during `body` are returned and do not fail the
// test.
uint64_t messagesDuring(const std::function<void()>& body);

}  // namespace mnnc::vulkan::test
