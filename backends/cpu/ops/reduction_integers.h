// Reductions of integers of 8, 16 and 32 bits.
#pragma once
#include "backend/thread_pool.h"
#include "ops/reduction.h"
#include "tensor/tensor.h"

namespace mnnc::cpu {

// The elements as [outer][length][inner]; `length` is reduced.
struct ReductionStep {
    int64_t outer = 1, length = 1, inner = 1;
};

template <typename Pointer>
struct TypedData {
    Pointer elements;
    DataType type;
};

// The types may be any integers. `count`: the divisor of a mean.
void reduceIntegers(ThreadPool& pool, const ReductionStep& step, TypedData<const void*> from, TypedData<void*> to,
                    Reduce operation, int64_t count);
// Fills the output with the result of reductions of no elements.
void fillReducedIntegers(TypedData<void*> output, int64_t elements, Reduce operation);

}  // namespace mnnc::cpu
