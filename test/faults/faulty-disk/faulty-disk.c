/*
 * Preloaded: file operations on paths below a folder fail. FAULTY_DISK names a file that says what fails; a test writes it:
 * five numbers of 32 bits (see the enum), then the folder, ended by a zero.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* AT: which operation fails, from 1 on; 0 none. FLUSHES: all flushes of folders fail, and nothing else. SEEN, FIRED: counted here. */
enum { AT, ERRNO, FLUSHES, SEEN, FIRED, FOLDER };
static int *control;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FAULTY_DISK");
  int descriptor = path == NULL ? -1 : syscall(SYS_openat, AT_FDCWD, path, O_RDWR);
  if (descriptor < 0) return;
  void *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (map != MAP_FAILED) control = map;
  syscall(SYS_close, descriptor);
}

static int is_below(const char *path) {
  const char *folder = (const char *)(control + FOLDER);
  size_t length = strlen(folder);
  return length > 0 && strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Where a path leads that begins with an open descriptor. */
static int is_path_below(const char *path) {
  char link[64], whole[8192];
  int used = 0, descriptor;
  if (control == NULL || path == NULL) return 0;
  if (sscanf(path, "/proc/self/fd/%d%n", &descriptor, &used) != 1) return is_below(path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, whole, 4096);
  if (length < 0) return 0;
  snprintf(whole + length, sizeof whole - length, "%s", path + used);
  return is_below(whole);
}

static int is_descriptor_below(int descriptor) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return is_path_below(link);
}

/* True for the one operation that is to fail. */
static int fails(int below) {
  if (!below || control[FLUSHES]) return 0;
  int seen = __sync_add_and_fetch(control + SEEN, 1);
  if (seen != control[AT]) return 0;
  control[FIRED] = 1;
  errno = control[ERRNO];
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_PATH(type, name, parameters, arguments, path) \
  type name parameters { return fails(is_path_below(path)) ? -1 : REAL(name) arguments; }
#define ON_DESCRIPTOR(type, name, parameters, arguments) \
  type name parameters { return fails(is_descriptor_below(descriptor)) ? -1 : REAL(name) arguments; }

ON_PATH(int, mkdir, (const char *path, mode_t mode), (path, mode), path)
ON_PATH(int, rmdir, (const char *path), (path), path)
ON_PATH(int, unlink, (const char *path), (path), path)
ON_PATH(int, rename, (const char *from, const char *path), (from, path), path)
ON_PATH(int, link, (const char *from, const char *path), (from, path), path)
ON_DESCRIPTOR(ssize_t, write, (int descriptor, const void *bytes, size_t count), (descriptor, bytes, count))
ON_DESCRIPTOR(ssize_t, read, (int descriptor, void *bytes, size_t count), (descriptor, bytes, count))
ON_DESCRIPTOR(ssize_t, pwrite64, (int descriptor, const void *bytes, size_t count, off64_t at), (descriptor, bytes, count, at))
ON_DESCRIPTOR(ssize_t, pread64, (int descriptor, void *bytes, size_t count, off64_t at), (descriptor, bytes, count, at))
ON_DESCRIPTOR(ssize_t, writev, (int descriptor, const struct iovec *parts, int count), (descriptor, parts, count))
ON_DESCRIPTOR(int, fdatasync, (int descriptor), (descriptor))

int fsync(int descriptor) {
  struct stat facts;
  int below = is_descriptor_below(descriptor);
  if (below && control[FLUSHES] && fstat(descriptor, &facts) == 0 && S_ISDIR(facts.st_mode)) {
    errno = control[ERRNO];
    return -1;
  }
  return fails(below) ? -1 : (int)syscall(SYS_fsync, descriptor);
}

/* What was open is closed, as after every error of close. */
int close(int descriptor) {
  int fail = fails(is_descriptor_below(descriptor)), code = errno, result = (int)syscall(SYS_close, descriptor);
  if (!fail) return result;
  errno = code;
  return -1;
}

#define OPEN(name)                                                 \
  int name(const char *path, int flags, ...) {                     \
    va_list more;                                                  \
    va_start(more, flags);                                         \
    mode_t mode = va_arg(more, mode_t);                            \
    va_end(more);                                                  \
    if (fails(is_path_below(path))) return -1;                     \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);  \
  }
OPEN(open)
OPEN(open64)
