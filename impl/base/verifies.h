// Whether this build checks its own invariants, as builds with assertions or a sanitizer do.
#pragma once

namespace mnnc {

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kVerifies = true;
#else
constexpr bool kVerifies = false;
#endif

}  // namespace mnnc
