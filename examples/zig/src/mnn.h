/* The header that build.zig translates. */
#include <mnn_c.h>
