/* A plugin of qemu (user mode) that counts the instructions which a program executes, and prints their number when it
 * ends: qemu-aarch64 -plugin ./count_instructions.so -d plugin PROGRAM. The interface of plugins is declared here,
 * because Debian does not package its header. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t plugin_id;
struct block; /* a block of instructions that qemu translates together */

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct block*));
size_t qemu_plugin_tb_n_insns(const struct block*);
/* operation 0: adds `number` to `*to` whenever the block is executed */
void qemu_plugin_register_vcpu_tb_exec_inline(struct block*, int operation, void* to, uint64_t number);
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void*), void*);
void qemu_plugin_outs(const char*);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed; /* the program has one thread; additions by several would not be atomic */

static void count(plugin_id id, struct block* block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &executed, qemu_plugin_tb_n_insns(block));
}

static void report(plugin_id id, void* unused) {
    (void)id, (void)unused;
    char line[64];
    snprintf(line, sizeof line, "instructions %" PRIu64 "\n", executed);
    qemu_plugin_outs(line);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void* info, int argc, char** argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, count);
    qemu_plugin_register_atexit_cb(id, report, NULL);
    return 0;
}
