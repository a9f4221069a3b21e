// The header of pictures compiles alone, and twice.
#include <mnn_c_image.h>
// A second time:
#include <mnn_c_image.h>

int main(void) {
    return 0;
}
