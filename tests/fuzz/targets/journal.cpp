#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "runner/log/codec.hpp"
#include "runner/log/framing.hpp"
#include "runner/log/journal_reader.hpp"
#include "tests/fuzz/targets.hpp"

namespace nkigrid::fuzz {
namespace {

/// The bytes as a script: an act and a length, then so many bytes. Whoever fuzzes would never find a CRC.
std::string journal_of(std::string_view script) {
  std::string out = log::prologue(true);
  std::uint64_t sequence = 0;
  while (script.size() >= 3) {
    const auto act = static_cast<unsigned char>(script[0]);
    const auto length = static_cast<unsigned char>(script[1]) * 256U + static_cast<unsigned char>(script[2]);
    script.remove_prefix(3);
    const auto bytes = script.substr(0, length);
    script.remove_prefix(bytes.size());
    if (act % 8 == 7)
      out += bytes;  // no fragment
    else if (act % 8 == 6)
      out.append(length, '\0');
    else
      log::append_frame(out, out.size(), act % 8 == 5 ? sequence : sequence++, bytes);
  }
  return out;
}

void read(const std::string& bytes) {
  const Fd fd(::memfd_create("journal", MFD_CLOEXEC));
  write_all(fd.get(), bytes, "journal");
  try {
    for (const auto& key : {log::SealKey(), log::SealKey("k")}) {
      ::lseek(fd.get(), 0, SEEK_SET);
      log::read_journal_head(fd, "journal", key);
      const auto report = log::read_journal(
          fd, "journal", {}, [](std::uint64_t, log::Record&&) {}, key);
      if (key && report.records > 0) __builtin_trap();  // nobody sealed these
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) __builtin_trap();
  }
}

}  // namespace

void journal(std::string_view bytes) {
  read(journal_of(bytes));
  read(std::string(bytes));
  // What is read writes back to what reads the same.
  if (const auto payload = log::decode(bytes); payload && std::holds_alternative<log::LogHeader>(*payload)) {
    const auto again = log::decode(log::encode(std::get<log::LogHeader>(*payload)));
    if (!again || std::get<log::LogHeader>(*again).run_id != std::get<log::LogHeader>(*payload).run_id)
      __builtin_trap();
  }
}

}  // namespace nkigrid::fuzz
