// Products of a few rows by an unpacked matrix: packing it into panels would take as long as the product.
#pragma once
#include <cstddef>

#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

struct UnpackedRowsArgs {
    static constexpr int kMaxRows = 4;
    const float* a;  // rows x terms
    ptrdiff_t aRow;
    const float* b;  // terms x columns
    ptrdiff_t bRow;
    float* c;  // rows x columns
    ptrdiff_t cRow;
    int rows, terms, columns;  // 1 to kMaxRows rows
    bool far;           // b lies beyond the second level cache: the hardware does not prefetch rows that are far apart
    const float* bias;  // of the columns; null: none
};

using UnpackedRows = void (*)(const UnpackedRowsArgs& args);
// Returns the kernel. It makes each sum in the order of its terms, as products of panels do, and neither reads nor
// writes memory behind the last column.
UnpackedRows unpackedRows(Isa isa);

}  // namespace mnnc
