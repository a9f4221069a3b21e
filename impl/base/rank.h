// The limit on the rank of tensors, for model files as well as for computed shapes.
#pragma once

namespace mnnc {

constexpr int kMaxRank = 9;

}  // namespace mnnc
