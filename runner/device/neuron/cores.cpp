#include "runner/device/neuron/cores.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/device/backend.hpp"

namespace nkigrid::device {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGood = "ok\n", kBusy = "busy\n", kSuspect = "suspect\n";
constexpr int kMostFailures = 2;
constexpr std::chrono::milliseconds kLeastWait{5}, kMostWait{100};

std::string state_of(int fd) {
  std::array<char, 32> text{};
  const auto got = ::pread(fd, text.data(), text.size(), 0);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

/// A state that cannot be written is not "ok", which is all that counts.
void set_state(int fd, std::string_view state) noexcept {
  if (::ftruncate(fd, 0) != 0) return;
  static_cast<void>(!::pwrite(fd, state.data(), state.size(), 0));
}

}  // namespace

CoreLease::~CoreLease() {
  if (lock_) set_state(lock_.get(), suspect_ ? kSuspect : kGood);
}

CorePool::CorePool(fs::path folder, std::vector<std::uint32_t> cores, Prove prove)
    : folder_(std::move(folder)), cores_(std::move(cores)), prove_(std::move(prove)) {
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw_errno(errno, "make", folder_.native());
  struct stat about = {};
  if (::lstat(folder_.c_str(), &about) != 0) throw_errno(errno, "look at", folder_.native());
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 022) != 0) {
    throw Error(
        ErrorCode::config,
        fmt::format(
            "the folder of core leases '{}' is not this user's own (mode 0700); remove it, or set NKIGRID_CORES",
            folder_.native()));
  }
}

CoreLease CorePool::lease() {
  for (auto wait = kLeastWait;; wait = std::min(2 * wait, kMostWait)) {
    std::vector<std::uint32_t> candidates;
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < cores_.size(); ++i) {
        const auto core = cores_[(next_ + i) % cores_.size()];
        if (!retired_.contains(core)) candidates.push_back(core);
      }
      if (candidates.empty()) give_up();
      next_ = (next_ + 1) % cores_.size();
    }
    for (const auto core : candidates) {
      if (auto lease = try_lease(core)) return std::move(*lease);
    }
    std::this_thread::sleep_for(wait);  // locks of other processes cannot be waited for together
  }
}

std::optional<CoreLease> CorePool::try_lease(std::uint32_t core) {
  const auto path = folder_ / fmt::format("core-{}", core);
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw_errno(errno, "open", path.native());
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  const bool good = state_of(file.get()) == kGood;
  set_state(file.get(), kBusy);
  CoreLease lease(core, std::move(file));
  {
    const std::lock_guard lock(mutex_);
    if (good && proven_.contains(core)) return lease;
  }
  lease.mark_suspect();
  std::string why;
  for (int failures = 0; failures < kMostFailures; ++failures) {
    why = prove_(core);
    if (why.empty()) {
      lease.mark_good();
      const std::lock_guard lock(mutex_);
      proven_.insert(core);
      return lease;
    }
  }
  const std::lock_guard lock(mutex_);
  retired_[core] = why;
  return std::nullopt;
}

void CorePool::give_up() const {
  std::string reasons;
  for (const auto& [core, why] : retired_) reasons += fmt::format("; core {}: {}", core, why);
  throw DeviceLost(ErrorCode::external,
                   fmt::format("no NeuronCore of this node passes the canary kernel any more{}; look at the devices "
                               "(neuron-ls, dmesg), then continue the run, on another node if need be",
                               reasons));
}

fs::path cores_folder() {
  if (const char* given = std::getenv("NKIGRID_CORES"); given != nullptr && *given != '\0') return given;
  return fmt::format("/tmp/nkigrid-cores-{}", ::geteuid());
}

}  // namespace nkigrid::device
