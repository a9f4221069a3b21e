// Reorders the codes of W8A16 convolutions. The functions run on one thread, allocate nothing and take pointers only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// Words with the codes of P outputs, line by line: eight codes of 4 bits in the order of StoredWeightsView, or four of
// 8 bits.
struct PackedLines {
    const uint32_t* from;  // [lines][P]
    int lines;
    uint8_t* to;       // the block's words in the form of W8A16PanelArgs::w
    ptrdiff_t stride;  // bytes from a line to the next one
    uint32_t* sums;    // P: the codes are added, as they are stored
    bool halfLine;     // the last line of 8 bits has a single pair
};

struct W8A16Packing {
    void (*lines4)(const PackedLines& lines);
    void (*lines8)(const PackedLines& lines);
};

const W8A16Packing* w8a16Packing(Isa isa);  // null where there are no products

}  // namespace mnnc
