// Runs the rest of this process under Vulkan's validation layer.
#pragma once

namespace tool {

// Goes on in a child process whose environment asks for the layer, and returns there. The parent passes the
// child's messages on and ends with its exit code, or with 1 when one of them was the layer's. Call it before
// anything of the library is made.
void runValidated();

}  // namespace tool
