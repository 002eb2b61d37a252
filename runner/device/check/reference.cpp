#include "runner/device/check/reference.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/run_secret.hpp"
#include "runner/device/check/reference_workers.hpp"
#include "runner/device/shared/private_folder.hpp"
#include "runner/proc/sandbox_properties.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// Open files: two a trial. A benchmark of hundreds of tasks cycles through them; the page cache keeps the bytes.
constexpr std::size_t kRemembered = 192;

}  // namespace

ReferenceCache::ReferenceCache(fs::path worker, fs::path folder, DrawSource draws, const jobs::CheckSpec& check)
    : folder_(std::move(folder)), draws_(std::move(draws)), secret_trial_(check.trials - 1) {
  const bool strict = check.strict_sandbox;
  proc::require_sandbox(strict ? proc::SandboxLevel::strict : proc::SandboxLevel::relaxed);
  make_private_folder(folder_);
  workers_ = std::make_unique<ReferenceWorkers>([worker = std::move(worker), folder = folder_, strict] {
    return std::make_unique<ReferenceWorker>(worker, folder, strict);
  });
}

ReferenceCache::~ReferenceCache() = default;

std::string ReferenceCache::seed_of(const jobs::Task& task, Stream stream, std::uint32_t trial) const {
  const auto seed = std::to_string(draws_.seed), number = std::to_string(trial);
  if (is_secret(stream, trial))
    return std::to_string(keyed_hash({seed, draws_.secret, task.hash, to_string(stream), number}));
  return std::to_string(keyed_hash({seed, task.hash, to_string(stream), number}));
}

const std::string& ReferenceCache::torch_version() {
  const std::lock_guard lock(version_mutex_);
  if (torch_version_.empty())
    torch_version_ = ReferenceWorkers::Loan(*workers_, {}).use([](ReferenceWorker& worker) { return worker.torch(); });
  return torch_version_;
}

std::string ReferenceCache::key_of(const jobs::Task& task, Stream stream, std::uint32_t trial) {
  return Sha256()
      .field(std::to_string(draws_.seed))
      .field(is_secret(stream, trial) ? sha256_hex(draws_.secret) : "")
      .field(task.hash)
      .field(to_string(stream))
      .field(std::to_string(trial))
      .field(torch_version())
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
  const ReferenceWorkers::TaskTurn turn(*workers_, task.hash);
  const auto entry = json::parse(task.index_entry);
  json request = {
      {"task", task.id}, {"source", task.source}, {"inputs", entry.at("inputs")}, {"outputs", entry.at("outputs")}};
  for (const auto trial : missing) {
    const auto key = key_of(task, stream, trial);
    if (load(key)) continue;  // another lane asked for the same while we waited
    // A request each: what a place is lent for is one draw.
    request["trials"] = {{{"trial", trial}, {"key", key}, {"seed", seed_of(task, stream, trial)}}};
    const auto reply = workers_->draw({task.hash, task.id}, request);
    if (reply.value("ok", false)) continue;
    const auto words = fmt::format("no reference for task '{}': {}", task.id, reply.value("error", "no reason given"));
    if (reply.value("of_task", false)) turn.fail(words);
    throw Error(ErrorCode::external, words);
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
