// The tool's reader of case.json. The input is the file; the folder holds a.npy (2 x 3 floats) and b.npy (3 int32).
#include <filesystem>

#include "memory_file.h"
#include "target.h"
#include "temporary_folder.h"
#include "tools/mnn/case.h"
#include "tools/mnn/common.h"
#include "tools/mnn/compare_outputs.h"

namespace {

struct CaseFolder : fuzz::TemporaryFolder {
    fuzz::MemoryFile description;

    CaseFolder() {
        tool::writeNpy(path() / "a.npy", {tool::Element::Float32, {2, 3}, std::vector<unsigned char>(24, 1)});
        tool::writeNpy(path() / "b.npy", {tool::Element::Int32, {3}, std::vector<unsigned char>(12, 2)});
        std::filesystem::create_symlink(description.path(), path() / "case.json");
    }
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static CaseFolder folder;
    folder.description.set(data, size);
    try {
        const tool::Case item = tool::readCase(folder.path());
        // The results are the expected outputs, in another order.
        std::vector<const tool::CaseTensor*> unordered;
        std::vector<tool::Array> ours;
        for (const tool::CaseTensor& output : item.outputs) {
            (void)tool::formFault(output.array, output.array);
            if (output.unordered) {
                unordered.push_back(&output);
                ours.push_back(output.array);
            } else {
                (void)tool::compareOrdered(output, output.array, item.tolerance);
            }
        }
        if (!unordered.empty()) (void)tool::compareUnordered(unordered, ours, item.tolerance, item.maxUnmatched);
    } catch (const tool::ToolError&) {
    }
    return 0;
}
