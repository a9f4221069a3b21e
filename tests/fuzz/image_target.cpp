// The tool's reader of image files, for inputs with channels first and last, of one and of three channels.
#include "memory_file.h"
#include "target.h"
#include "tools/mnn/common.h"
#include "tools/mnn/image.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static fuzz::MemoryFile file;
    file.set(data, size);
    const bool channelsLast = size % 2;
    try {
        (void)tool::readImage(
            file.path(), channelsLast ? std::vector<int64_t>{1, 9, 5, 3} : std::vector<int64_t>{1, 1, 4, 7},
            channelsLast, {});
    } catch (const tool::ToolError&) {
    }
    return 0;
}
