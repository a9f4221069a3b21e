// The tool's reader of case.npz: members lie in the file and share no byte, and their contents are a case or give a
// ToolError.
#include <cstdlib>
#include <filesystem>

#include "memory_file.h"
#include "target.h"
#include "temporary_folder.h"
#include "tools/mnn/case.h"
#include "tools/mnn/common.h"
#include "tools/mnn/zip.h"

namespace {

// A folder whose case.npz is the input.
struct CaseFolder : fuzz::TemporaryFolder {
    fuzz::MemoryFile archive;

    CaseFolder() { std::filesystem::create_symlink(archive.path(), path() / "case.npz"); }
};

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static CaseFolder folder;
    folder.archive.set(data, size);
    try {
        const tool::Zip zip(folder.path() / "case.npz");
        size_t held = 0;
        for (const auto& [name, contents] : zip.members()) {
            held += 30 + 46 + 2 * name.size() + contents.size();  // with the headers
            if (zip.member(name).data() != contents.data()) std::abort();
        }
        if (held + 22 > size) std::abort();
        (void)tool::readCase(folder.path());
    } catch (const tool::ToolError&) {
    }
    return 0;
}
