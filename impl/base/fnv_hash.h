// The hash FNV-1a of 64 bits (Fowler, Noll, Vo). It finds damage and differences, not forgeries.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mnnc {

class FnvHash {
  public:
    void addBytes(const void* data, size_t bytes) noexcept {
        const auto* p = static_cast<const uint8_t*>(data);
        for (size_t i = 0; i < bytes; ++i) addWord(p[i]);
    }
    // The length is added, too, so that the boundaries between texts count.
    void add(std::string_view text) noexcept {
        addBytes(text.data(), text.size());
        add(text.size());
    }
    void add(uint64_t number) noexcept { addBytes(&number, sizeof number); }
    // Adds the word in one step, which is faster than its bytes one by one and gives another hash.
    void addWord(uint64_t word) noexcept { value_ = (value_ ^ word) * 0x100000001b3u; }
    uint64_t value() const noexcept { return value_; }

  private:
    uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace mnnc
