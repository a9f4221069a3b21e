// Prints the table of operators that libmnn_c_onnx reads, one JSON object per line, for convert_page.py and
// run_corpus.py.
#include <cstdio>
#include <string>

#include "call.h"

namespace {

std::string quoted(const char* text) {
    std::string result = "\"";
    for (const char* at = text; *at; ++at) {
        if (*at == '"' || *at == '\\') result += '\\';
        result += *at;
    }
    return result + "\"";
}

}  // namespace

int main() {
    for (const mnnc::onnx::Entry& entry : mnnc::onnx::allEntries())
        std::printf("{\"domain\": %s, \"name\": %s, \"first\": %d, \"last\": %d, \"writes\": %s, \"limits\": %s}\n",
                    quoted(entry.domain).c_str(), quoted(entry.name).c_str(), entry.first, entry.last,
                    quoted(entry.writes).c_str(), quoted(entry.limits).c_str());
    return 0;
}
