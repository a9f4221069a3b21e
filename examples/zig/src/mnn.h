/* What build.zig translates. */
#include <mnn_c.h>
