/* A library that the host must refuse: FAKE_ABI is its version; it has no further function. */
#include <stdint.h>

__attribute__((visibility("default"))) uint32_t mnn_abi_version(void);
uint32_t mnn_abi_version(void) {
    return FAKE_ABI;
}
