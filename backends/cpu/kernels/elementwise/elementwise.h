// Single-threaded float kernels of the elementwise, reduction, softmax and normalisation operators: one table of plain
// function pointers per instruction set. `lanes` arguments are one vector (Kernels::lanes floats) that repeats: the
// channel block of the packed layout. A result depends on the values only, never on where a row starts or ends, so
// callers may cut the work anywhere without changing a bit.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/kernels.h"
#include "ir/epilogue.h"
#include "tensor/data_type.h"

namespace mnnc {

constexpr int kUnaryCodes = 35;   // UnaryOp.opType (schema/mnn.fbs)
constexpr int kBinaryCodes = 30;  // BinaryOp.opType
constexpr size_t kMaxColumns = 64;

// y = f(x); x and y may be the same.
using UnaryFn = void (*)(const float* x, float* y, size_t n);

struct UnaryKernels {
    UnaryFn byCode[kUnaryCodes];
    void (*activate)(float* data, size_t n, Act act, float lo, float hi);  // in place: clamp(act(x), lo, hi)
    void (*leaky)(const float* x, float* y, size_t n, float slope);
    void (*clip)(const float* x, float* y, size_t n, float lo, float hi);
    // y = scale * (x > 0 ? x : alpha (e^x - 1))
    void (*elu)(const float* x, float* y, size_t n, float alpha, float scale);
    void (*threshold)(const float* x, float* y, size_t n, float limit);
    void (*leakyLanes)(const float* x, float* y, size_t n, const float* slopes);
    void (*leakyEach)(const float* x, float* y, size_t n, const float* slopes);
    void (*affine)(const float* x, float* y, size_t n, float scale, float bias);
    void (*affineLanes)(const float* x, float* y, size_t n, const float* scale, const float* bias);
    void (*affineEach)(const float* x, float* y, size_t n, const float* scale, const float* bias);
};

// How an operand of a binary row is read: one value per element, one value for all, or one repeating vector. At least
// one of the two operands is Each.
enum class Elements : int { Each = 0, One = 1, Lanes = 2 };

// The element types depend on the code and the kernel: comparisons give int32.
using BinaryFn = void (*)(const void* a, Elements aMode, const void* b, Elements bMode, void* y, size_t n);

struct BinaryKernels {
    BinaryFn byCode[kBinaryCodes];  // null: the code has no vector kernel, see binaryScalarFloat
    void (*reluFloat)(float* y, size_t n);
};

// Returns null where the code has no meaning for the type. The `lanes` of Elements::Lanes are an argument, because
// these functions are compiled once.
using BinaryScalarFn = void (*)(const void* a, Elements aMode, const void* b, Elements bMode, void* y, size_t n,
                                size_t lanes);
BinaryScalarFn binaryScalarFloat(int code) noexcept;
BinaryScalarFn binaryScalarInt(DataType type, int code) noexcept;  // comparisons give int32
BinaryScalarFn powerOfIntByFloat() noexcept;                       // int32 to the power of float32, as int32

// Returns a libm function over an array; null when the code has a vector kernel.
UnaryFn unaryScalarFloat(int code) noexcept;
// Returns null where results of the code are not integers.
using UnaryIntegerFn = void (*)(const void* x, void* y, size_t n);
UnaryIntegerFn unaryInteger(DataType type, int code) noexcept;

struct RowKernels {
    float (*sum)(const float* x, size_t n);
    float (*max)(const float* x, size_t n);  // n >= 1, also for min
    float (*min)(const float* x, size_t n);
    float (*prod)(const float* x, size_t n);
    // acc[i] = acc[i] op x[i]
    void (*addTo)(float* acc, const float* x, size_t n);
    void (*maxTo)(float* acc, const float* x, size_t n);
    void (*minTo)(float* acc, const float* x, size_t n);
    void (*mulTo)(float* acc, const float* x, size_t n);
    // y = e^(x-max) / sum. A row of -inf gives 0 everywhere.
    void (*softmax)(const float* x, float* y, size_t n);
    // Does the same down `columns` columns of a matrix with `axis` rows, `stride` floats apart.
    void (*softmaxColumns)(const float* x, float* y, size_t axis, size_t stride, size_t columns);
    // y = (x - mean) / sqrt(var + eps) * gamma[i] + beta[i]; rms: mean is taken as 0. gamma and beta may be null.
    void (*norm)(const float* x, float* y, size_t n, const float* gamma, const float* beta, float eps, bool rms);
    void (*normColumns)(const float* x, float* y, size_t axis, size_t stride, size_t columns, const float* gamma,
                        const float* beta, float eps, bool rms);
};

const UnaryKernels& unaryKernels(Isa isa);
const BinaryKernels& binaryKernels(Isa isa);
const RowKernels& rowKernels(Isa isa);

}  // namespace mnnc
