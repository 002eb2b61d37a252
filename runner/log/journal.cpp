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
#include <future>
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

  /// What one sync makes durable. The lane that handed over its first record writes it for all; the others sleep until
  /// its outcome is there and touch no lock on their way.
  struct Batch {
    std::vector<Encoded> records;
    std::promise<std::string> written;
    std::shared_future<std::string> failure = written.get_future();  ///< "" once it is durable
  };

  std::mutex mutex;
  std::condition_variable handed_over, may_write;
  std::shared_ptr<Batch> open = std::make_shared<Batch>();  ///< what nobody has begun to write
  std::string poison;                                       ///< "" or the failure that ended writing
  bool writing = false;
  bool closing = false;

  // Of whoever writes.
  std::uint64_t end = 0;  ///< offset after the last durable byte
  std::uint64_t next_sequence = 1;
  std::size_t last_batch = 1;
  std::chrono::steady_clock::duration last_sync{};

  void create(const fs::path& folder, LogHeader header);
  std::shared_ptr<Batch> hand_over(std::vector<Encoded> records);
  void write_for_all(std::unique_lock<std::mutex>& lock, std::shared_ptr<Batch> next);
  void gather(std::unique_lock<std::mutex>& lock);
  std::string write_batch(std::vector<Encoded>& batch) noexcept;
  void write_and_sync(std::vector<Encoded>& batch);
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

void Journal::State::write_and_sync(std::vector<Encoded>& batch) {
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

/// @returns "" or why it is not durable
std::string Journal::State::write_batch(std::vector<Encoded>& batch) noexcept try {
  write_and_sync(batch);
  return {};
} catch (const std::exception& error) {
  cut_back();
  return error.what();
}

/// Lanes that one sync released come back together: a wait of an eighth of a sync lets them share the next one, where
/// the first to come would have it alone. A lane by itself never waits.
void Journal::State::gather(std::unique_lock<std::mutex>& lock) {
  handed_over.wait_for(lock, last_sync / 8, [this] { return closing || open->records.size() >= last_batch; });
}

/// One lane's turn to write: all that waits, behind one sync. A thread of its own for this would cost each record two
/// switches.
/// @param next what records go to meanwhile
void Journal::State::write_for_all(std::unique_lock<std::mutex>& lock, std::shared_ptr<Batch> next) {
  may_write.wait(lock, [this] { return !writing; });
  writing = true;
  gather(lock);
  const auto batch = std::exchange(open, std::move(next));
  auto failure = poison;
  lock.unlock();
  const auto start = std::chrono::steady_clock::now();
  if (failure.empty()) failure = write_batch(batch->records);
  lock.lock();
  writing = false;
  last_batch = batch->records.size();
  last_sync = std::chrono::steady_clock::now() - start;
  poison = failure;
  may_write.notify_all();
  lock.unlock();
  batch->written.set_value(std::move(failure));
}

/// @returns the batch that the records are in; of the first of a batch once it is written
std::shared_ptr<Journal::State::Batch> Journal::State::hand_over(std::vector<Encoded> records) {
  std::unique_lock lock(mutex);
  if (!poison.empty()) throw Error(ErrorCode::io, poison);
  if (closing) throw Error(ErrorCode::internal, fmt::format("journal '{}' is closed", path.native()));
  auto batch = open;
  auto next = batch->records.empty() ? std::make_shared<Batch>() : nullptr;  // while nothing hangs on it
  std::move(records.begin(), records.end(), std::back_inserter(batch->records));
  if (next)
    write_for_all(lock, std::move(next));
  else if (batch->records.size() >= last_batch)
    handed_over.notify_one();  // whoever gathers has what it waits for
  return batch;
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
  if (records.empty()) return;
  std::vector<State::Encoded> payloads;
  for (const auto& record : records) {
    auto [payload, content] = encoded(record, state_->run_id, state_->path);
    payloads.push_back({std::move(payload), std::move(content)});
  }
  const auto batch = state_->hand_over(std::move(payloads));
  if (const auto& failure = batch->failure.get(); !failure.empty()) throw Error(ErrorCode::io, failure);
}

const fs::path& Journal::path() const noexcept { return state_->path; }
const std::string& Journal::warning() const noexcept { return state_->warning; }

void Journal::close() {
  {
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->handed_over.notify_all();
    state_->may_write.wait(lock, [this] { return !state_->writing && state_->open->records.empty(); });
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
