/* Preloaded into the tool: runs of a session print the message that the validation layer would print for a wrong call.
   */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "mnn_c.h"

mnn_status mnn_session_run(mnn_session_t* session) {
    mnn_status (*run)(mnn_session_t*) = NULL;
    *(void**)&run = dlsym(RTLD_NEXT, "mnn_session_run");
    fprintf(stderr, "vulkan validation: preloaded\n");
    return run ? run(session) : MNN_ERROR_INTERNAL;
}
