// Preloaded into a program, plays a disk that is full from its Nth write on ($FULL_DISK_AT, from 1) for files below
// $FULL_DISK_FOLDER. That write puts out half of its bytes, as a real one may; later ones put out none, and no file or
// folder can be made. The number of writes met is left in $FULL_DISK_COUNT when the program ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long writes;

static long full_at(void) {
  const char* text = getenv("FULL_DISK_AT");
  return text ? atol(text) : 0;
}

static int below(const char* path) {
  const char* folder = getenv("FULL_DISK_FOLDER");
  return folder && *folder && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_full(void) { return full_at() > 0 && atomic_load(&writes) >= full_at(); }

ssize_t write(int file, const void* bytes, size_t count) {
  static ssize_t (*real)(int, const void*, size_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "write");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const int saved = errno;
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (length < 0) return real(file, bytes, count);
  path[length] = '\0';
  if (!below(path)) return real(file, bytes, count);
  const long number = atomic_fetch_add(&writes, 1) + 1;
  if (full_at() == 0 || number < full_at()) return real(file, bytes, count);
  if (number == full_at() && count > 1) return real(file, bytes, count / 2);
  errno = ENOSPC;
  return -1;
}

int open(const char* path, int flags, ...) {
  static int (*real)(const char*, int, ...);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "open");
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (is_full() && below(path) && access(path, F_OK) != 0) {
      errno = ENOSPC;
      return -1;
    }
  }
  return real(path, flags, mode);
}

int mkdir(const char* path, mode_t mode) {
  static int (*real)(const char*, mode_t);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "mkdir");
  if (is_full() && below(path)) {
    errno = ENOSPC;
    return -1;
  }
  return real(path, mode);
}

__attribute__((destructor)) static void leave_count(void) {
  const char* name = getenv("FULL_DISK_COUNT");
  FILE* file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&writes));
  fclose(file);
}
