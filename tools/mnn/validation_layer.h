// Runs the rest of this process under Vulkan's validation layer.
#pragma once

namespace tool {

// Starts a child process whose environment enables the layer, and returns in the child only. The parent forwards the
// child's messages and exits with its exit code, or with 1 when one of the messages was the layer's. Call it before any
// object of the library is created.
void runValidated();

}  // namespace tool
