// Compresses a file with libdeflate at level 1 and prints the CPU time in microseconds: the floor of a page's gzip coding.
#define _GNU_SOURCE
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

int main(int count, char **words) {
    static unsigned char page[1 << 20], coded[1 << 20];
    FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
    if (!file) return 1;
    size_t size = fread(page, 1, sizeof page, file);
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
    enum { WARM = 200, PAGES = 4000 };
    for (int number = 0; number < WARM; number++) libdeflate_gzip_compress(compressor, page, size, coded, sizeof coded);
    double begun = now();
    for (int number = 0; number < PAGES; number++) libdeflate_gzip_compress(compressor, page, size, coded, sizeof coded);
    printf("%.2f\n", (now() - begun) / PAGES);
}
