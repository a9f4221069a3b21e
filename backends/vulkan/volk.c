/* volk, compiled in: it opens the Vulkan loader at run time, so that the library does not link to it. */
#include <volk.c>
