// What a session tells about one command it executes.
#pragma once
#include <string>

namespace mnnc {

struct OpRecord {
    std::string name;
    const char* type = "";
    const char* backend = "";
    std::string reason;  // why the wanted backend did not take it; empty when it did
    double flops = 0;    // below 0: not known yet
    bool hostShape = false;
};

}  // namespace mnnc
