/* The header compiles alone and twice. */
/* clang-format off */
#include "mnn_c.h"
#include "mnn_c.h"
/* clang-format on */

int mnn_c_header_compiles(void);
int mnn_c_header_compiles(void) {
    return MNN_OK;
}
