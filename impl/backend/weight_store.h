// Prepared weights, made once per (parameters, variant) and shared by all sessions of an interpreter.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/aligned.h"
#include "ops/params.h"

namespace mnnc {

class WeightStore {
  public:
    using Buffer = std::shared_ptr<const AlignedBuffer>;

    // The buffer for this key; `make` fills a new one when no session holds it. `variant` names everything
    // the bytes depend on besides the parameters (algorithm, tile, instruction set). Locks; call it in
    // onResize only.
    Buffer get(const ParamsPtr& params, const std::string& variant,
               const std::function<AlignedBuffer()>& make);

    int64_t bytes() const;  // of all buffers alive

  private:
    using Key = std::pair<const Params*, std::string>;
    struct Entry {
        ParamsPtr params;  // keeps the address in the key from being used again
        std::weak_ptr<const AlignedBuffer> buffer;
    };
    mutable std::mutex mutex_;
    std::map<Key, Entry> entries_;
};

}  // namespace mnnc
