/* A clock that jumps. When preloaded, this library adds the seconds in the file CLOCK_OFFSET_FILE to the time of day. The file is mapped
   into memory, so the test can change it while the server runs. Clocks that only measure durations are unchanged. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static volatile const long long *offset_seconds;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("CLOCK_OFFSET_FILE");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file >= 0) {
        void *mapped = mmap(NULL, sizeof(long long), PROT_READ, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED)
            offset_seconds = mapped;
    }
}

static long long offset(void)
{
    return offset_seconds ? *offset_seconds : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec precise;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
