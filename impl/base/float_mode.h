// The rounding of floats and the treatment of subnormal numbers on the calling thread.
#pragma once
#include <cstdint>
#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace mnnc {

class FloatMode {
  public:
    // The mode of the calling thread.
    static FloatMode current() noexcept {
#if defined(__SSE2__)
        return FloatMode(_mm_getcsr());
#elif defined(__aarch64__)
        uint64_t bits;
        asm volatile("mrs %0, fpcr" : "=r"(bits));
        return FloatMode(bits);
#else
        return FloatMode(0);
#endif
    }
    // The mode in which kernels compute: it rounds to nearest and masks exceptions. Subnormal operands and results
    // count as zero unless they are kept: many processors need a hundred times as long for them.
    static FloatMode computing([[maybe_unused]] bool keepSubnormals) noexcept {
#if defined(__SSE2__)
        // Bits of MXCSR.
        constexpr uint32_t kMasked = 0x1f80, kFlushToZero = 0x8000, kSubnormalsAreZero = 0x0040;
        return FloatMode(kMasked | (keepSubnormals ? 0 : kFlushToZero | kSubnormalsAreZero));
#elif defined(__aarch64__)
        return FloatMode(keepSubnormals ? 0 : uint64_t{1} << 24);  // FPCR.FZ
#else
        return FloatMode(0);
#endif
    }
    // Excludes the flags of exceptions that have happened.
    FloatMode control() const noexcept {
#if defined(__SSE2__)
        return FloatMode(bits_ & ~uint64_t{0x3f});
#else
        return *this;
#endif
    }
    void apply() const noexcept {
#if defined(__SSE2__)
        _mm_setcsr(static_cast<uint32_t>(bits_));
#elif defined(__aarch64__)
        asm volatile("msr fpcr, %0" : : "r"(bits_));
#endif
    }
    bool operator==(const FloatMode&) const = default;

  private:
    explicit FloatMode(uint64_t bits) : bits_(bits) {}
    uint64_t bits_;
};

// Sets a mode for one scope; afterwards the thread has its former mode again.
class ScopedFloatMode {
  public:
    explicit ScopedFloatMode(FloatMode mode) noexcept : before_(FloatMode::current()) { mode.apply(); }
    ~ScopedFloatMode() { before_.apply(); }
    ScopedFloatMode(const ScopedFloatMode&) = delete;
    ScopedFloatMode& operator=(const ScopedFloatMode&) = delete;

  private:
    const FloatMode before_;
};

}  // namespace mnnc
