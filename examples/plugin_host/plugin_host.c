/*
 * A host that takes libmnn_c as a plugin: loads it, classifies the images of examples/digits, unloads it.
 *
 *     plugin_host [--backend cpu|vulkan] [--rounds N] [--quiet] LIBRARY [FOLDER]
 *
 * FOLDER holds digits.mnn, test_images.bin and test_labels.bin. Exit code 0 when every round ran.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

enum { THREADS = 2, MESSAGE_BYTES = 1024 };

typedef struct options {
    const char* library;
    const char* folder;
    int32_t forward_type;
    long rounds;
    bool quiet;
} options_t;

static bool parse_rounds(const char* text, long* rounds) {
    char* end = NULL;
    errno = 0;
    *rounds = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *rounds > 0;
}

static bool parse(int argc, char** argv, options_t* options) {
    *options = (options_t){.forward_type = MNN_FORWARD_CPU, .rounds = 1};
    for (int i = 1; i < argc; i++) {
        const char* const argument = argv[i];
        const char* const value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argument, "--quiet") == 0) {
            options->quiet = true;
        } else if (strcmp(argument, "--rounds") == 0) {
            if (!parse_rounds(value, &options->rounds)) return false;
            i++;
        } else if (strcmp(argument, "--backend") == 0) {
            if (strcmp(value, "cpu") != 0 && strcmp(value, "vulkan") != 0) return false;
            options->forward_type = strcmp(value, "vulkan") == 0 ? MNN_FORWARD_VULKAN : MNN_FORWARD_CPU;
            i++;
        } else if (argument[0] == '-' || options->folder) {
            return false;
        } else if (options->library) {
            options->folder = argument;
        } else {
            options->library = argument;
        }
    }
    if (!options->folder) options->folder = "examples/digits";
    return options->library != NULL;
}

/* Loads, uses and unloads the plugin. */
static bool play(const options_t* options, const digits_t* digits, char* message) {
    plugin_t plugin;
    size_t right = 0;
    if (!plugin_open(&plugin, options->library, message, MESSAGE_BYTES)) return false;
    const mnn_status status =
        digits_classify(&plugin, digits, options->forward_type, THREADS, &right, message, MESSAGE_BYTES);
    if (status == MNN_OK && !options->quiet)
        printf("libmnn_c %s: %zu of %zu images right\n", plugin.version(), right, digits->count);
    char leaving[MESSAGE_BYTES] = "";
    const bool closed = plugin_close(&plugin, leaving, sizeof leaving);
    if (status == MNN_OK && !closed) memcpy(message, leaving, sizeof leaving);
    return status == MNN_OK && closed;
}

int main(int argc, char** argv) {
    options_t options;
    digits_t digits;
    char message[MESSAGE_BYTES] = "";
    if (!parse(argc, argv, &options)) {
        fprintf(stderr,
                "usage: plugin_host [--backend cpu|vulkan] [--rounds N] [--quiet] LIBRARY [FOLDER]\n"
                "       (FOLDER: examples/digits unless given)\n");
        return 2;
    }
    bool fine = digits_read(&digits, options.folder, message, sizeof message);
    if (fine) {
        for (long round = 0; fine && round < options.rounds; round++) fine = play(&options, &digits, message);
        digits_free(&digits);
    }
    if (!fine) fprintf(stderr, "plugin_host: %s\n", message);
    return fine ? 0 : 1;
}
