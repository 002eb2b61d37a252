#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runner/log/records.hpp"
#include "runner/log/seal_key.hpp"

namespace nkigrid::log {

/// A rank's append-only journal (docs/formats/journal.md): magic and version, then frames of length, CRC-32,
/// sequence number and payload. append() returns when its records are on the disk; one fdatasync serves all
/// that wait (group commit).
///
/// @threads append() from any number of lanes.
class Journal {
 public:
  /// Creates `folder`/<name>.journal; never opens an existing one: a new owner writes a new file. Holds an
  /// flock.
  /// @param name one that no journal and no segment of the folder has (host, rank, time, pid)
  /// @param key seals each record; none: they stay unproven
  /// @throws Error{io} when it cannot be created and written, or the name is taken: nothing is left behind.
  Journal(std::filesystem::path folder, std::string name, const LogHeader& header, const SealKey& key = {});
  ~Journal();
  Journal(const Journal&) = delete;

  /// Appends and waits until the record is durable.
  /// @throws Error{io} naming the file, on this and every later call, once a write or sync has failed (the
  /// writer is poisoned);
  ///         Error{internal} for a record over 256 MiB, one that contradicts itself (contradiction.hpp) or after
  ///         close(), which poisons nothing.
  void append(const Record& record);

  /// Appends several in this order behind one sync. They are durable together when it returns, not atomic
  /// when it throws.
  void append(std::span<const Record> records);

  const std::filesystem::path& path() const noexcept;

  /// "" or why the file could not be locked (a file system without flock): to be shown once, work goes on.
  const std::string& warning() const noexcept;

  /// Waits for what was handed over and closes the file; a second call does nothing. @throws Error{io}, also
  /// when poisoned
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nkigrid::log
