/* Work in another process. Windows has no fork(): there the program is started again, and its main() does the work when
 * its arguments are CHILD and that of the work. */
#ifndef MNN_C_TESTS_CHILD_H
#define MNN_C_TESTS_CHILD_H

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

#define CHILD "--child"

/* Returns what the work returned in the other process. */
static inline int result_of_child(int (*work)(const char* argument), const char* argument) {
#ifdef _WIN32
    (void)work;
    char program[1024], line[4096];
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION child;
    DWORD result = 1;
    assert_true(GetModuleFileNameA(NULL, program, sizeof program) > 0);
    snprintf(line, sizeof line, "\"%s\" %s \"%s\"", program, CHILD, argument);
    assert_true(CreateProcessA(program, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &child));
    assert_int_equal(WaitForSingleObject(child.hProcess, INFINITE), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(child.hProcess, &result));
    CloseHandle(child.hThread);
    CloseHandle(child.hProcess);
    return (int)result;
#else
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(work(argument));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
#endif
}

#endif
