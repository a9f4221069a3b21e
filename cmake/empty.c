/* The shared libraries are made of static ones, but CMake requires one source of their own. */
typedef int mnn_c_translation_unit_is_not_empty;
