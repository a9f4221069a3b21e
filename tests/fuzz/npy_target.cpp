// The tool's reader of .npy files: an array that it reads can be converted, is written unchanged, and is the same from
// memory.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "memory_file.h"
#include "target.h"
#include "tools/mnn/common.h"
#include "tools/mnn/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static fuzz::MemoryFile file, copy;
    file.set(data, size);
    try {
        const tool::Array array = tool::readNpy(file.path());
        copy.set(nullptr, 0);
        tool::writeNpy(copy.path(), array);
        const std::string_view bytes(reinterpret_cast<const char*>(data), size);
        for (const tool::Array& again : {tool::readNpy(copy.path()), tool::parseNpy(bytes, "memory")})
            if (again.element != array.element || again.shape != array.shape || again.bytes != array.bytes)
                std::abort();
        (void)tool::shapeText(array.shape);
        for (const tool::Element element :
             {tool::Element::Float32, tool::Element::Int32, tool::Element::UInt8, tool::Element::Int64}) {
            try {
                (void)tool::convert(array, element);
            } catch (const tool::ToolError&) {  // a value that does not fit
            }
        }
    } catch (const tool::ToolError&) {
    }
    return 0;
}
