#include "runner/device/check/reference.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/run_secret.hpp"
#include "runner/device/shared/private_folder.hpp"
#include "runner/proc/frame.hpp"
#include "runner/proc/sandbox_properties.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr double kStartSeconds = 60;
constexpr double kComputeSeconds = 900;
constexpr std::uint64_t kFolderLimitBytes = 8ULL << 30;
// Open files: two a trial. A benchmark of hundreds of tasks cycles through them; the page cache keeps the bytes.
constexpr std::size_t kRemembered = 192;

}  // namespace

/// The running worker process.
struct ReferenceCache::Worker {
  Fd control;
  proc::Process process;

  Worker(const fs::path& file, const fs::path& folder, bool strict) {
    auto pair = proc::make_socket_pair(proc::SocketKind::stream);
    const std::array<proc::DescriptorMap, 1> descriptors = {{{pair.theirs.get(), 3}}};
    auto environment = proc::numeric_environment();
    environment.emplace_back("LANG=C.UTF-8");
    environment.emplace_back("PYTHONHASHSEED=0");
    process =
        proc::spawn({NKIGRID_PYTHON, "-s", "-B", file.native(), folder.native(), std::to_string(kFolderLimitBytes),
                     file.parent_path() / "libnkigrid_sandbox.so", strict ? "strict" : "relaxed"},
                    environment, descriptors, proc::Group::own_session);
    control = std::move(pair.ours);
  }
  ~Worker() {
    control = Fd();
    try {
      if (!proc::wait_readable(process.pidfd.get(), proc::deadline_after(1))) ::kill(process.pid, SIGKILL);
      proc::reap(process);
    } catch (const Error&) {
      // Nothing can be done for a worker that cannot be waited for.
    }
  }

  json receive(double seconds) {
    const auto result = proc::read_frame(control.get(), proc::deadline_after(seconds));
    auto reply = json::parse(result.frame.head, nullptr, false);
    if (result.end != proc::ReadEnd::frame || !reply.is_object()) {
      throw Error(ErrorCode::external,
                  fmt::format("the reference worker {}",
                              result.end == proc::ReadEnd::late ? "did not answer in time" : "stopped"));
    }
    return reply;
  }

  json ask(const json& request) {
    if (!proc::write_frame(control.get(), request.dump(), {}, {}, proc::deadline_after(kStartSeconds))) {
      throw Error(ErrorCode::external, "the reference worker stopped");
    }
    return receive(kComputeSeconds);
  }
};

ReferenceCache::ReferenceCache(fs::path worker, fs::path folder, DrawSource draws, const jobs::CheckSpec& check)
    : worker_file_(std::move(worker)),
      folder_(std::move(folder)),
      draws_(std::move(draws)),
      secret_trial_(check.trials - 1),
      strict_(check.strict_sandbox) {
  proc::require_sandbox(strict_ ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed);
  make_private_folder(folder_);
  worker_ = std::make_unique<Worker>(worker_file_, folder_, strict_);
}

ReferenceCache::~ReferenceCache() = default;

std::string ReferenceCache::seed_of(const jobs::Task& task, Stream stream, std::uint32_t trial) const {
  const auto seed = std::to_string(draws_.seed), number = std::to_string(trial);
  if (is_secret(stream, trial))
    return std::to_string(keyed_hash({seed, draws_.secret, task.hash, to_string(stream), number}));
  return std::to_string(keyed_hash({seed, task.hash, to_string(stream), number}));
}

std::string ReferenceCache::key_of(const jobs::Task& task, Stream stream, std::uint32_t trial) {
  {
    const std::lock_guard lock(worker_mutex_);
    if (torch_version_.empty()) {
      if (!worker_) worker_ = std::make_unique<Worker>(worker_file_, folder_, strict_);
      torch_version_ = worker_->receive(kStartSeconds).value("torch", "");
      if (torch_version_.empty())
        throw Error(ErrorCode::external,
                    "the reference worker finds no torch for " NKIGRID_PYTHON "; install python3-torch");
    }
  }
  return Sha256()
      .field(std::to_string(draws_.seed))
      .field(is_secret(stream, trial) ? sha256_hex(draws_.secret) : "")
      .field(task.hash)
      .field(to_string(stream))
      .field(std::to_string(trial))
      .field(torch_version_)
      .hex()
      .substr(0, 40);
}

std::shared_ptr<const Trial> ReferenceCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->second;
}

void ReferenceCache::remember(const std::string& key, std::shared_ptr<const Trial> trial) {
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  recent_.emplace_front(key, std::move(trial));
  by_key_[key] = recent_.begin();
  if (recent_.size() <= kRemembered) return;
  by_key_.erase(recent_.back().first);
  recent_.pop_back();
}

std::shared_ptr<const Trial> ReferenceCache::load(const std::string& key) {
  if (auto known = find(key)) return known;
  auto expected = open_tensor_file(folder_ / (key + ".out"));
  auto arguments = open_tensor_file(folder_ / (key + ".in"));
  if (!expected || !arguments) {
    // A file that is there but damaged goes: the worker leaves alone what it finds.
    if (!expected) ::unlink((folder_ / (key + ".out")).c_str());
    if (!arguments) ::unlink((folder_ / (key + ".in")).c_str());
    return nullptr;
  }
  auto trial = std::make_shared<const Trial>(Trial{std::move(*arguments), std::move(*expected)});
  remember(key, trial);
  return trial;
}

void ReferenceCache::compute(const jobs::Task& task, Stream stream, const std::vector<std::uint32_t>& missing) {
  const auto entry = json::parse(task.index_entry);
  std::vector<std::pair<std::uint32_t, std::string>> wanted;
  for (const auto trial : missing) wanted.emplace_back(trial, key_of(task, stream, trial));
  const std::lock_guard lock(worker_mutex_);
  json request = {{"task", task.id},
                  {"source", task.source},
                  {"inputs", entry.at("inputs")},
                  {"outputs", entry.at("outputs")},
                  {"trials", json::array()}};
  for (const auto& [trial, key] : wanted) {
    if (load(key)) continue;  // another lane asked for the same while we waited
    request["trials"].push_back({{"trial", trial}, {"key", key}, {"seed", seed_of(task, stream, trial)}});
  }
  if (request["trials"].empty()) return;
  if (!worker_) {
    worker_ = std::make_unique<Worker>(worker_file_, folder_, strict_);
    worker_->receive(kStartSeconds);
  }
  json reply;
  try {
    reply = worker_->ask(request);
  } catch (const Error&) {
    worker_.reset();  // the next caller gets a new one
    throw;
  }
  if (!reply.value("ok", false)) {
    throw Error(ErrorCode::external,
                fmt::format("no reference for task '{}': {}", task.id, reply.value("error", "no reason given")));
  }
}

std::vector<std::shared_ptr<const Trial>> ReferenceCache::trials(const jobs::Task& task, Stream stream,
                                                                 std::uint32_t count) {
  std::vector<std::shared_ptr<const Trial>> found(count);
  // Twice: what was computed may have been pruned by another process before we opened it.
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint32_t> missing;
    for (std::uint32_t t = 0; t < count; ++t) {
      if (!found[t]) found[t] = load(key_of(task, stream, t));
      if (!found[t]) missing.push_back(t);
    }
    if (missing.empty()) return found;
    if (round < 2) compute(task, stream, missing);
  }
  throw Error(ErrorCode::external,
              fmt::format("reference files of task '{}' in '{}' do not stay readable", task.id, folder_.native()));
}

std::string secret_of_node(const fs::path& cache_folder) {
  make_private_folder(cache_folder);
  return jobs::make_secret(cache_folder);
}

}  // namespace nkigrid::device
