/* For a library that brings its own libstdc++: each loaded copy allocates a pool for exceptions that are
 * thrown when memory is short (71 KiB), and nothing frees it when the copy is unloaded. libstdc++ has a
 * function for it, meant for leak checkers. */
namespace __gnu_cxx {
[[gnu::weak]] void __freeres() noexcept; /* since GCC 6; not in every configuration */
}

/* 101: the first number for programs, so the last destructor of all. No code of this copy runs after it. */
[[gnu::destructor(101)]] static void freeExceptionPool() {
    if (__gnu_cxx::__freeres) __gnu_cxx::__freeres();
}
