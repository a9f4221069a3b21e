// The resources that the library holds in this process.
#pragma once
#include "interpose.h"
#include "process.h"

namespace faults {

struct Left {
    long blocks = live();
    int threads = thread_count(), files = descriptor_count();
    // Returns whether nothing was added since `before`.
    bool within(const Left& before) const {
        return blocks <= before.blocks && settled_thread_count(before.threads) <= before.threads &&
               files <= before.files;
    }
};

}  // namespace faults
