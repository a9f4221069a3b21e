/* The header compiles alone and a second time. */
#include "mnn_c_onnx.h"

int main(void) {
    return mnn_onnx_last_error() == 0;
}
