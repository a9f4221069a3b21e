/* There are no limits to set: a test that does so is skipped. */
#define RLIMIT_FSIZE 1
struct rlimit {
    unsigned long long rlim_cur;
};
#define getrlimit(what, limit) \
    (memset(limit, 0, sizeof *(limit)), posix_skip("Windows has no limit on the size of files"), -1)
#define setrlimit(what, limit) ((void)(limit), -1)
