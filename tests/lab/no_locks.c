/* A file system without locks, for the tests: flock fails as it does on some NFS mounts. */
#include <errno.h>

int flock(int fd, int operation) {
  (void)fd;
  (void)operation;
  errno = ENOLCK;
  return -1;
}
