// Simulates a power cut for one folder. Preloaded into a program, it stores the content of each file at the file's last sync,
// and the names in the folder at the folder's last sync. Everything else counts as lost, on any file system.
//
//   POWER_CUT_FOLDER  the folder, without its subfolders
//   POWER_CUT_KEPT    the output folder: `names`, with a line "key name" for each file, and a file for each key
//   POWER_CUT_FIRST   set for the first process: files that exist at its start count as synced
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX], kept[PATH_MAX];

static int begin(void) {
    char path[PATH_MAX + 16];
    pthread_mutex_lock(&turn);
    snprintf(path, sizeof path, "%s/lock", kept);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    flock(lock, LOCK_EX);
    return lock;
}

static void end(int lock) {
    close(lock);
    pthread_mutex_unlock(&turn);
}

// Numbers are not reused: a reused number would restore the content of the earlier file.
static int key(const char *path, char text[64]) {
    struct statx facts;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME | STATX_TYPE, &facts) != 0) return 0;
    if (!S_ISREG(facts.stx_mode)) return 0;
    snprintf(text, 64, "%llu-%lld-%u", (unsigned long long)facts.stx_ino, (long long)facts.stx_btime.tv_sec, facts.stx_btime.tv_nsec);
    return 1;
}

// Reads through the synced descriptor if possible. A close of another descriptor of the file would drop SQLite's locks.
static void keep_content(const char *source, int descriptor) {
    char name[64], aside[PATH_MAX + 80], place[PATH_MAX + 80], piece[1 << 16];
    if (!key(source, name)) return;
    snprintf(aside, sizeof aside, "%s/aside", kept);
    snprintf(place, sizeof place, "%s/%s", kept, name);
    int opened = descriptor < 0 || pread(descriptor, piece, 1, 0) < 0 ? open(source, O_RDONLY | O_CLOEXEC) : -1;
    int from = opened >= 0 ? opened : descriptor, to = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t count;
    off_t at = 0;
    while ((count = pread(from, piece, sizeof piece, at)) > 0 && write(to, piece, count) == count) at += count;
    close(to);
    if (opened >= 0) close(opened);
    if (count == 0) rename(aside, place);
}

static void keep_names(int contents) {
    char name[64], path[PATH_MAX + 300], aside[PATH_MAX + 16], place[PATH_MAX + 16];
    snprintf(aside, sizeof aside, "%s/names-aside", kept);
    snprintf(place, sizeof place, "%s/names", kept);
    FILE *list = fopen(aside, "we");
    DIR *entries = opendir(folder);
    struct dirent *entry;
    while (list && entries && (entry = readdir(entries)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!key(path, name)) continue;
        fprintf(list, "%s %s\n", name, entry->d_name);
        if (contents) keep_content(path, -1);
    }
    if (entries) closedir(entries);
    if (list) fclose(list);
    rename(aside, place);
}

__attribute__((constructor)) static void start(void) {
    if (!realpath(getenv("POWER_CUT_FOLDER") ?: "", folder) || !realpath(getenv("POWER_CUT_KEPT") ?: "", kept)) return;
    if (getenv("POWER_CUT_FIRST") == NULL) return;
    int lock = begin();
    keep_names(1);
    end(lock);
}

// The disk itself is not synced, because the simulation discards all other content.
static int synced(int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    size_t depth = strlen(folder);
    if (length < 0) return -1;
    path[length] = 0;
    if (depth == 0 || strncmp(path, folder, depth) != 0) return 0;
    int lock = begin();
    if (path[depth] == 0) keep_names(0);
    if (path[depth] == '/') keep_content(link, descriptor);
    end(lock);
    return 0;
}

int fsync(int descriptor) { return synced(descriptor); }
int fdatasync(int descriptor) { return synced(descriptor); }
