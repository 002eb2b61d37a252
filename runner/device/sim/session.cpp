#include "runner/device/sim/session.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "jobs/base/error.hpp"

namespace nkigrid::device {
namespace {

using nlohmann::json;

constexpr double kSendSeconds = 30;
constexpr std::size_t kMostFree = 16;
constexpr std::size_t kPage = 4096;

std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

nkisim::RunReport parse_report(const json& head) {
  nkisim::RunReport report;
  report.code = parse_code(head.at("code").get<std::string>()).value_or(Code::none);
  report.line = head.at("line");
  report.message = head.at("message");
  report.hints = head.at("hints").get<std::vector<std::string>>();
  report.unwritten = head.at("unwritten").get<std::vector<std::uint64_t>>();
  return report;
}

}  // namespace

OutputPool::Buffer OutputPool::take(std::size_t size) {
  {
    const std::lock_guard lock(mutex_);
    // Best fit, and none that would waste most of a large one.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->mapping.size() >= size && it->mapping.size() <= 4 * size + (1 << 20) &&
          (best == free_.end() || it->mapping.size() < best->mapping.size()))
        best = it;
    }
    if (best != free_.end()) {
      auto buffer = std::move(*best);
      free_.erase(best);
      return buffer;
    }
  }
  Buffer buffer;
  const auto rounded = round_up(std::max<std::size_t>(size, 1), 64 * kPage);
  buffer.fd = proc::make_shared_memory("nkigrid-outputs", rounded);
  buffer.mapping = proc::Mapping::map(buffer.fd.get(), rounded, proc::Mapping::Access::read_write);
  return buffer;
}

void OutputPool::give_back(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(buffer));
  if (free_.size() > kMostFree) free_.erase(free_.begin());
}

OutputLayout layout_of(std::span<const std::size_t> output_bytes) {
  OutputLayout layout;
  std::size_t offset = 0;
  for (const auto size : output_bytes) {
    layout.bytes.push_back(size);
    layout.offsets.push_back(offset);
    offset += round_up(size, 64);
  }
  layout.slot_bytes = round_up(std::max<std::size_t>(offset, 1), kPage);
  return layout;
}

SimSession::SimSession(ForkServers& servers, OutputPool& pool, const std::string& program, const OutputLayout& layout)
    : pool_(pool), layout_(layout), buffer_(pool.take(layout.slot_bytes * kSlots)), job_(servers.run().start()) {
  const json head = {{"outputs", layout_.bytes}, {"slots", kSlots}, {"slot_bytes", layout_.slot_bytes}};
  const std::array<int, 1> descriptors = {buffer_.fd.get()};
  // A child that is gone already shows at the first run.
  static_cast<void>(
      proc::write_frame(job_.work(), head.dump(), program, descriptors, proc::deadline_after(kSendSeconds)));
}

SimSession::~SimSession() {
  try {
    if (!over_) {
      job_.cancel();
      static_cast<void>(ended());
    }
    if (lost_) return;  // somebody may still write to the buffer: let it go
    pool_.give_back(std::move(buffer_));
  } catch (const std::exception&) {
    // A buffer that cannot be kept is a buffer made anew.
  }
}

RunOutcome SimSession::ended() {
  over_ = true;
  RunOutcome outcome;
  const auto end = job_.wait(proc::deadline_after(kReapSeconds));
  lost_ = !end;
  if (lost_) return outcome;
  outcome.words = proc::describe(end->end);
  const auto* signaled = std::get_if<proc::Signaled>(&end->end);
  outcome.kind =
      signaled != nullptr && signaled->signal == SIGSYS ? RunOutcome::Kind::denied : RunOutcome::Kind::crashed;
  return outcome;
}

RunOutcome SimSession::ask(const std::string& more, const TensorFile& arguments, const nkisim::Poison& poison,
                           Seconds timeout) {
  json head = {{"nan_bits", poison.nan_bits},
               {"int_byte", poison.int_byte},
               {"file_bytes", arguments.mapping.size()},
               {"inputs", json::array()}};
  head.update(json::parse(more));
  for (const auto& tensor : arguments.tensors) head["inputs"].push_back({tensor.offset, tensor.bytes});
  const std::array<int, 1> descriptors = {arguments.fd.get()};
  try {
    const auto deadline = proc::deadline_after(timeout.count());
    static_cast<void>(proc::write_frame(job_.work(), head.dump(), {}, descriptors, deadline));
    auto read = proc::read_frame(job_.work(), deadline);
    if (read.end == proc::ReadEnd::late) {
      job_.cancel();
      static_cast<void>(ended());
      return {RunOutcome::Kind::late, {}, {}};
    }
    if (read.end != proc::ReadEnd::frame) {
      job_.cancel();
      return ended();
    }
    const auto reply = json::parse(read.frame.head);
    if (!reply.contains("error")) return {RunOutcome::Kind::ran, {}, std::move(read.frame.head)};
    auto outcome = ended();
    outcome.words = reply.at("error");
    return outcome;
  } catch (const std::exception& error) {
    return {RunOutcome::Kind::machinery, {}, error.what()};
  }
}

RunOutcome SimSession::run(const TensorFile& arguments, std::size_t slot, const nkisim::Poison& poison,
                           Seconds timeout) {
  auto outcome = ask(json{{"slot", slot}}.dump(), arguments, poison, timeout);
  if (outcome.kind != RunOutcome::Kind::ran) return outcome;
  try {
    return {RunOutcome::Kind::ran, parse_report(json::parse(outcome.words)), {}};
  } catch (const std::exception& error) {
    return {RunOutcome::Kind::machinery, {}, error.what()};
  }
}

nkisim::Diagnosis SimSession::diagnose(const TensorFile& arguments, Seconds timeout) {
  nkisim::Diagnosis found;
  try {
    const auto outcome = ask(json{{"diagnose", true}}.dump(), arguments, {}, timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return found;
    const auto reply = json::parse(outcome.words);
    found.causes = reply.at("causes").get<std::vector<std::string>>();
    found.narrow = reply.at("narrow").get<std::vector<std::string>>();
  } catch (const std::exception&) {
    // Words only: a verdict never depends on them.
  }
  return found;
}

std::optional<std::vector<nkisim::OrderFinding>> SimSession::compare_orders(const TensorFile& arguments,
                                                                            std::uint64_t seed, Seconds timeout) {
  try {
    const auto outcome = ask(json{{"orders", seed}}.dump(), arguments, {}, timeout);
    if (outcome.kind != RunOutcome::Kind::ran) return std::nullopt;
    const auto reply = json::parse(outcome.words);
    std::vector<nkisim::OrderFinding> found;
    for (const auto& one : reply.at("orders")) {
      found.push_back({one.at("line"), one.at("loop"), one.at("rounding"), one.at("text")});
    }
    return found;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::span<const std::byte> SimSession::output(std::size_t slot, std::size_t output) const {
  return buffer_.mapping.bytes().subspan(slot * layout_.slot_bytes + layout_.offsets.at(output),
                                         layout_.bytes.at(output));
}

}  // namespace nkigrid::device
