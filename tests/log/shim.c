// Preloaded by tests. NKIGRID_TEST_NO_FLOCK: flock() fails as on a network file system without locks.
// NKIGRID_TEST_KILL_AT=CALL:WORD:N: the process kills itself (SIGKILL) instead of its Nth CALL (link, fsync, unlink) on
// a name that holds WORD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void maybe_die(const char* call, const char* name) {
  static int seen = 0;
  const char* wish = getenv("NKIGRID_TEST_KILL_AT");
  char wanted_call[16], word[64];
  int nth = 0;
  if (wish == NULL || sscanf(wish, "%15[^:]:%63[^:]:%d", wanted_call, word, &nth) != 3) return;
  if (strcmp(call, wanted_call) != 0 || name == NULL || strstr(name, word) == NULL) return;
  if (__sync_add_and_fetch(&seen, 1) == nth) raise(SIGKILL);
}

int flock(int fd, int operation) {
  static int (*next)(int, int);
  if (getenv("NKIGRID_TEST_NO_FLOCK") != NULL) return errno = ENOLCK, -1;
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "flock");
  return next(fd, operation);
}

int link(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  maybe_die("link", to);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "link");
  return next(from, to);
}

int unlink(const char* name) {
  static int (*next)(const char*);
  maybe_die("unlink", name);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "unlink");
  return next(name);
}

int fsync(int fd) {
  static int (*next)(int);
  char path[64], name[4096];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(path, name, sizeof name - 1);
  if (size > 0) name[size] = 0, maybe_die("fsync", name);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "fsync");
  return next(fd);
}
