/* The header compiles alone and twice. */
#include "mnn_c.h"

int mnn_c_header_compiles(void);
int mnn_c_header_compiles(void) {
    return MNN_OK;
}
