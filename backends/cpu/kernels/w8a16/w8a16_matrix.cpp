// Divides the channels of a product into steps of a matrix unit.
#include "backends/cpu/kernels/w8a16/w8a16_matrix.h"

#include <algorithm>

#include "backends/cpu/kernels/chunks.h"

namespace mnnc {

MatrixProduct::MatrixProduct(int channels, int lanes, int blockLength, int bits) {
    constexpr int kMaxWidth = 4;  // a tile has rows of 64 bytes
    const int all = ceilDiv(channels, lanes);
    int toBlock = blockLength;
    for (int at = 0; at < all;) {
        const int sum = std::min({toBlock, w8a16ExactBlocks(bits), all - at});
        toBlock -= sum;
        for (int done = 0; done < sum;) {
            const int blocks = std::min(kMaxWidth, sum - done);
            width_ = std::max(width_, blocks);
            done += blocks;
            steps_.push_back({at + done - blocks, blocks, done == sum, done == sum && toBlock == 0});
        }
        at += sum;
        if (toBlock == 0) toBlock = blockLength;
    }
}

}  // namespace mnnc
