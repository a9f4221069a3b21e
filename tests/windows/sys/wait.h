/* There is no fork(): a test that calls it is skipped. */
#define fork() (posix_skip("Windows has no fork()"), -1)
#define waitpid(child, status, options) ((void)(child), (void)(status), -1)
#define WIFEXITED(status) ((status) == 0)
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) 0
#define WTERMSIG(status) 0
#define pipe(ends) _pipe(ends, 4096, 0)
