/* For a library with a libstdc++ of its own: each loaded copy allocates a pool for exceptions that are thrown when
 * memory is short (71 KiB), and does not free it when the copy is unloaded. libstdc++ has a function that frees it,
 * intended for leak checkers. */
namespace __gnu_cxx {
[[gnu::weak]] void __freeres() noexcept; /* since GCC 6; not in every configuration */
}

/* 101 is the first number that programs may use, so this destructor is the last one. Code of this copy never runs
 * after it. */
[[gnu::destructor(101)]] static void freeExceptionPool() {
    if (__gnu_cxx::__freeres) __gnu_cxx::__freeres();
}
