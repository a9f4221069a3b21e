// Reductions of integers of 8, 16 and 32 bits.
#pragma once
#include "backend/thread_pool.h"
#include "ops/reduction.h"
#include "tensor/tensor.h"

namespace mnnc::cpu {

// The elements as [outer][length][inner], of which `length` is reduced.
struct ReductionStep {
    int64_t outer = 1, length = 1, inner = 1;
};

template <typename Pointer>
struct TypedData {
    Pointer elements;
    DataType type;
};

// One of both types may be another one than int32. `count`: what a mean is divided by.
void reduceIntegers(ThreadPool& pool, const ReductionStep& step, TypedData<const void*> from, TypedData<void*> to,
                    Reduce operation, int64_t count);
// What reductions of no elements give.
void fillReducedIntegers(TypedData<void*> output, int64_t elements, Reduce operation);

}  // namespace mnnc::cpu
