/* The loader is opened at run time: nothing here links to it. */
#include <volk.c>
