/* The shared libraries are made of static ones; CMake wants one source of their own. */
typedef int mnn_c_translation_unit_is_not_empty;
