#include "cli/pager.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace nkigrid::cli {
namespace {

/// The command, or "" for none.
std::string pager_command() {
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string(terminal) == "dumb") return "";
  const char* pager = std::getenv("PAGER");
  if (pager != nullptr) return pager;
  return "less";
}

bool overflows(const std::string& text) {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return false;
  return std::count(text.begin(), text.end(), '\n') >= window.ws_row;
}

}  // namespace

void page(const std::string& text, bool plain) {
  const auto command = plain || ::isatty(STDOUT_FILENO) == 0 || !overflows(text) ? "" : pager_command();
  if (command.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::fflush(stdout);
  ::setenv("LESS", "FRX", 0);
  std::signal(SIGPIPE, SIG_IGN);  // who has read enough closes it
  std::FILE* pager = ::popen(command.c_str(), "w");
  if (pager == nullptr) {
    fmt::print("{}", text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), pager);
  if (::pclose(pager) == 127 << 8) fmt::print("{}", text);  // the shell found no such program
}

}  // namespace nkigrid::cli
