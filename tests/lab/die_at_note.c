/* Ends its process the hard way between a submit and its note: at the moment RUN/jobs.json would be renamed in. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void look(const char* to) {
  const char* name = strrchr(to, '/');
  if (strcmp(name != NULL ? name + 1 : to, "jobs.json") == 0) kill(getpid(), SIGKILL);
}

int rename(const char* from, const char* to) {
  look(to);
  int (*real)(const char*, const char*) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "rename");  // as POSIX has it: ISO C knows no such conversion
  return real(from, to);
}
