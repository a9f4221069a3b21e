/* Linked into sanitized tests that use a Vulkan driver. Drivers and layers leak a little memory with each instance;
 * they stay mapped here, so that the leak checker can attribute their memory to them and does not report it. The thread
 * sanitizer ends a program that unloads a library which tests/tsan.supp names. */
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int dlclose(void* library);
int dlclose(void* library) {
    (void)library;
    return 0;
}

EXPORTED const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
    return "leak:libvulkan_lvp.so\nleak:libVkLayer_khronos_validation.so\nleak:libLLVM\nleak:libvulkan.so\n";
}
