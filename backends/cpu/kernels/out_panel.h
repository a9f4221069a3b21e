// A panel of output channels: a product computes all of its blocks at once.
#pragma once

namespace mnnc {

struct OutPanel {
    int block;  // first block of output channels
    int nb;     // blocks
};

}  // namespace mnnc
