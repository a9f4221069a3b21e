/* The shared library is made of mnn_c_core; CMake wants one source of its own. */
typedef int mnn_c_translation_unit_is_not_empty;
