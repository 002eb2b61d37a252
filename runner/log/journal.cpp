#include "runner/log/journal.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/codec.hpp"
#include "runner/log/contradiction.hpp"
#include "runner/log/file_lock.hpp"
#include "runner/log/framing.hpp"
#include "runner/log/record_seal.hpp"

namespace nkigrid::log {
namespace fs = std::filesystem;
namespace {

/// @throws Error{internal} for a record that readers would refuse
std::pair<std::string, Sha256> encoded(const Record& record, const std::string& run_id, const fs::path& journal) {
  if (const auto found = contradiction(record); !found.empty()) {
    throw Error(ErrorCode::internal,
                fmt::format("a record of {} contradicts itself ({}); journal '{}' does not take it",
                            to_string(attempt_of(record).episode), found, journal.native()));
  }
  auto payload = encode(record, run_id);
  if (payload.size() > kMaxRecordBytes) {
    throw Error(ErrorCode::internal, fmt::format("record of {} bytes is too big for journal '{}' (at most {})",
                                                 payload.size(), journal.native(), kMaxRecordBytes));
  }
  Sha256 content;
  content.update(payload);
  return {std::move(payload), std::move(content)};
}

}  // namespace

struct Journal::State {
  /// A record as bytes. Each lane digests its own; what the writer adds for the seal is short.
  struct Encoded {
    std::string payload;
    Sha256 content;
  };

  fs::path path;
  std::string name;
  SealKey key;
  std::string run_id;
  Fd fd;
  std::string warning;

  std::mutex mutex;
  std::condition_variable handed_over, done;
  std::vector<Encoded> queue;             ///< what nobody has written yet
  std::uint64_t handed = 0, durable = 0;  ///< records handed over, records on the disk
  std::string poison;                     ///< "" or the failure that ended writing
  bool writing = false;                   ///< some lane writes for all
  bool closing = false;

  // Of whoever writes.
  std::uint64_t end = 0;  ///< offset after the last durable byte
  std::uint64_t next_sequence = 1;
  std::size_t last_batch = 1;
  std::chrono::steady_clock::duration last_sync{};

  void create(const fs::path& folder, LogHeader header);
  void write_for_all(std::unique_lock<std::mutex>& lock);
  void gather(std::unique_lock<std::mutex>& lock);
  void write_batch(std::vector<Encoded>& batch);
  void cut_back() noexcept;
};

/// Born under a hidden name and linked in when its header is durable: no reader meets half a header, no two
/// writers share a file, and no sealer can lock it before its owner does.
void Journal::State::create(const fs::path& folder, LogHeader header) {
  header.journal = name;
  run_id = header.run_id;
  path = folder / (name + ".journal");
  std::string hidden = (folder / ("." + name + ".journal.XXXXXX")).native();
  fd = Fd(::mkostemp(hidden.data(), O_CLOEXEC));
  if (!fd) throw_errno(errno, "create journal", path.native());
  try {
    const auto lock = try_lock(fd, path);
    if (lock == LockResult::unsupported) {
      warning = fmt::format(
          "journal '{}' is not locked (its file system has no flock); let no two programs seal this folder "
          "at once",
          path.native());
    }
    std::string bytes = prologue(static_cast<bool>(key));
    auto head = encode(header);
    add_seal(key, name, 0, std::move(Sha256().update(head)), head);
    end = append_frame(bytes, bytes.size(), 0, head);
    write_all(fd.get(), bytes, path);
    if (::fchmod(fd.get(), new_file_mode(folder)) != 0 || ::fsync(fd.get()) != 0)
      throw_errno(errno, "sync journal", path.native());
    // A segment of that name would hide our records: readers skip what a segment of the same stem covers.
    if (fs::exists(folder / (name + ".h5"))) throw_errno(EEXIST, "create journal", path.native());
    if (::link(hidden.c_str(), path.c_str()) != 0) throw_errno(errno, "create journal", path.native());
    ::unlink(hidden.c_str());
    fsync_directory(folder);
  } catch (...) {
    ::unlink(hidden.c_str());
    throw;
  }
}

void Journal::State::cut_back() noexcept {
  // Best effort: a reader copes with a torn tail as well.
  if (::ftruncate(fd.get(), static_cast<off_t>(end)) == 0) ::fsync(fd.get());
}

void Journal::State::write_batch(std::vector<Encoded>& batch) {
  std::string bytes;
  std::uint64_t offset = end;
  std::uint64_t sequence = next_sequence;
  for (auto& [payload, content] : batch) {
    add_seal(key, name, sequence, std::move(content), payload);
    offset = append_frame(bytes, offset, sequence++, payload);
  }
  write_all(fd.get(), bytes, path);
  int result = 0;
  do result = ::fdatasync(fd.get());
  while (result != 0 && errno == EINTR);
  if (result != 0) throw_errno(errno, "sync journal", path.native());
  end = offset;
  next_sequence = sequence;
}

/// Lanes that one sync released come back together: a wait of an eighth of a sync lets them share the next one, where
/// the first to come would have it alone. A lane by itself never waits.
void Journal::State::gather(std::unique_lock<std::mutex>& lock) {
  handed_over.wait_for(lock, last_sync / 8, [this] { return closing || queue.size() >= last_batch; });
}

/// One lane's turn to write: all that waits, behind one sync. A thread of its own for this would cost each record two
/// switches.
void Journal::State::write_for_all(std::unique_lock<std::mutex>& lock) {
  writing = true;
  gather(lock);
  auto batch = std::exchange(queue, {});
  lock.unlock();
  std::string failure;
  const auto start = std::chrono::steady_clock::now();
  try {
    write_batch(batch);
  } catch (const std::exception& error) {
    failure = error.what();
    cut_back();
  }
  lock.lock();
  writing = false;
  last_batch = batch.size();
  last_sync = std::chrono::steady_clock::now() - start;
  if (failure.empty())
    durable += batch.size();
  else
    poison = std::move(failure);
  done.notify_all();
}

Journal::Journal(fs::path folder, std::string name, const LogHeader& header, const SealKey& key)
    : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->key = key;
  state_->create(folder, header);
}

Journal::~Journal() {
  try {
    close();
  } catch (const std::exception&) {
    // Whoever waited in append() has been told; nothing that was acknowledged is lost.
  }
}

void Journal::append(const Record& record) { append(std::span(&record, 1)); }

void Journal::append(std::span<const Record> records) {
  std::vector<State::Encoded> payloads;
  for (const auto& record : records) {
    auto [payload, content] = encoded(record, state_->run_id, state_->path);
    payloads.push_back({std::move(payload), std::move(content)});
  }
  std::unique_lock lock(state_->mutex);
  if (!state_->poison.empty()) throw Error(ErrorCode::io, state_->poison);
  if (state_->closing) throw Error(ErrorCode::internal, fmt::format("journal '{}' is closed", state_->path.native()));
  std::move(payloads.begin(), payloads.end(), std::back_inserter(state_->queue));
  const auto ticket = state_->handed += payloads.size();
  if (state_->writing) state_->handed_over.notify_one();  // it may still be gathering
  while (state_->durable < ticket && state_->poison.empty()) {
    if (state_->writing)
      state_->done.wait(lock);
    else
      state_->write_for_all(lock);
  }
  if (state_->durable < ticket) throw Error(ErrorCode::io, state_->poison);
}

const fs::path& Journal::path() const noexcept { return state_->path; }
const std::string& Journal::warning() const noexcept { return state_->warning; }

void Journal::close() {
  {
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->handed_over.notify_all();
    state_->done.wait(lock, [this] { return !state_->writing && (state_->queue.empty() || !state_->poison.empty()); });
  }
  if (!state_->fd) return;
  try {
    state_->fd.close();
  } catch (Error& error) {
    throw std::move(error.add_context(fmt::format("journal '{}'", state_->path.native())));
  }
  if (!state_->poison.empty()) throw Error(ErrorCode::io, state_->poison);
}

}  // namespace nkigrid::log
