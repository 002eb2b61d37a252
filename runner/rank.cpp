#include "runner/rank.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/build_name.hpp"
#include "jobs/base/error.hpp"
#include "jobs/base/notice.hpp"
#include "jobs/forecast/simulation.hpp"
#include "runner/log/endpoint_notes.hpp"
#include "runner/log/live_shards.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/stopped_by.hpp"

namespace nkigrid::runner {
namespace {

/// Unique in the log's folder; never an input of a draw.
std::string unique_name(const RunOptions& options, int rank) {
  std::random_device device;
  return log::journal_name(options.shard, rank, fmt::format("{:08x}{:08x}", device(), device()));
}

log::LogHeader header_of(const RankContext& at, const device::Device& device) {
  return {at.run.grid_hash, at.run.run_id,     build_name(), at.run.grid.device.nki.sdk,
          device.backend(), device.compiler(), at.node};
}

std::uint32_t lanes_of(const RankContext& at) {
  if (at.options.lanes > 0) return at.options.lanes;
  if (at.run.grid.lanes > 0) return at.run.grid.lanes;
  const char* text = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const auto ranks_here = static_cast<std::uint32_t>(std::max(1, text != nullptr ? std::atoi(text) : 1));
  return jobs::auto_lanes(at.run.grid, std::max(1U, std::thread::hardware_concurrency()), ranks_here);
}

bool is_for_coordinator(int tag) { return tag <= static_cast<int>(Tag::sealed); }

/// What `status` tells of endpoints that fail, while this process lives.
EndpointGate::Notes endpoint_notes(const RankContext& at) {
  return [&run = at.run, shard = at.options.shard](const std::string& model, const std::string& text,
                                                   log::EndpointNote kind) {
    log::note_endpoint(run.log_folder(), shard, model, text, kind);
  };
}

/// Closes and seals a rank's journal. @returns an empty trouble when all went well.
Trouble seal(log::Journal& journal, const jobs::Run& run, const log::SealProgress& progress) {
  try {
    journal.close();
    log::seal_journal(journal.path(), true, Seconds(600), {}, log::SealKey(run.log_key), progress);
    return {};
  } catch (const Error& error) {
    return {exit_code(error.code()), error.what(), {}};
  }
}

/// A rank has died and MPI lets the others live: all that is durable stays, what is in flight belongs to the next
/// attempts.
void give_up(const RankContext& at, int lost) {
  const auto reason = fmt::format("rank {} has given no sign of life for {:.0f} s and is taken for dead", lost,
                                  Heartbeat::kSilent.count());
  notice("rank {}: {}; `nkigrid resume {}` goes on", at.comm.rank(), reason, at.run.folder.string());
  if (at.comm.rank() == 0) log::note_failure(at.run.log_folder(), at.options.shard, reason);
  at.comm.abort(ExitCode::external);
}

}  // namespace

Rank::Rank(RankContext context, std::shared_ptr<device::Device> device, Leader* leader)
    : at_(std::move(context)),
      device_(std::move(device)),
      leader_(leader),
      permits_([this] { bell_.ring(); }, leader_ != nullptr ? &leader_->permits() : nullptr,
               own_permits(at_.run.grid, endpoint_part(at_.options), at_.comm.rank(), at_.comm.size())),
      gate_(at_.run.grid, permits_, at_.clock, endpoint_notes(at_)),
      journal_(at_.run.log_folder(), unique_name(at_.options, at_.comm.rank()), header_of(at_, *device_),
               log::SealKey(at_.run.log_key)),
      turns_(at_.run.grid),
      histories_(at_.run),
      lane_context_{
          .run = at_.run,
          .device = *device_,
          .journal = journal_,
          .clock = at_.clock,
          .models = model::make_models(at_.run.grid.models, at_.run.benchmark, at_.run.folder / "inputs" / "profiles",
                                       gate_, at_.options.keys, {at_.run.log_folder(), at_.options.servers_of}),
          .node = at_.node,
          .rank = static_cast<std::uint32_t>(at_.comm.rank()),
          .turns = turns_,
          .histories = histories_,
          .gate = gate_},
      lanes_(std::in_place, lane_context_, bell_, lanes_of(at_)),
      stopper_(at_.run, at_.options, at_.comm.rank(), *lanes_),
      worker_(at_.comm, *lanes_, permits_, at_.node,
              {.start = [this](const Start& start) { begin(start); },
               .move_end = [this](const TimeLeft& left) { move_end(left); }}),
      heartbeat_(at_.comm, at_.clock) {
  if (!journal_.warning().empty()) warn("{}", journal_.warning());
}

RunResult Rank::work() {
  if (leader_ != nullptr) leader_->start();
  while (!worker_.result()) {
    bool moved = take_messages();
    if (!sealed_) moved = pump() || moved;
    if (leader_ != nullptr) leader_->tick(turns_);
    watch_ranks();
    seal_when_idle();
    if (leader_ != nullptr && leader_->may_finish()) {
      heartbeat_.before_sealing();
      leader_->finish();
    }
    moved ? backoff_.moved() : bell_.wait(backoff_.next());
  }
  lanes_.reset();
  at_.comm.barrier("end of the run");
  return *worker_.result();
}

bool Rank::take_messages() {
  bool moved = false;
  while (auto message = at_.comm.poll("run")) {
    moved = true;
    if (heartbeat_.took(*message)) continue;
    if (is_for_coordinator(message->tag))
      leader_->handle(*message);
    else
      worker_.handle(*message);
  }
  return moved;
}

bool Rank::pump() {
  if (const auto news = stopper_.look(at_.stop.load(), at_.clock.monotonic()))
    worker_.send(Tag::trouble, encode(*news), "report a stop");
  return worker_.pump(at_.clock.monotonic());
}

void Rank::watch_ranks() {
  if (const auto lost = heartbeat_.look()) give_up(at_, *lost);
}

void Rank::seal_when_idle() {
  if (sealed_ || !worker_.finishing() || !lanes_->idle()) return;
  sealed_ = true;
  heartbeat_.before_sealing();
  const bool tells = leader_ != nullptr && !at_.options.quiet;
  if (leader_ != nullptr) leader_->end_progress();
  const auto progress = tells ? log::tell_seal_progress(at_.clock) : log::SealProgress();
  worker_.send(Tag::sealed, encode(seal(journal_, at_.run, progress)), "report the seal");
}

void Rank::begin(const Start& start) {
  begun_ = true;
  histories_.expect(start.resumed);
  if (start.seconds_left < 0) return;
  const auto now = at_.clock.monotonic();
  turns_.set_end(now, now + Seconds(start.seconds_left));
  stopper_.set_end(now + Seconds(start.seconds_left));
}

void Rank::move_end(const TimeLeft& left) {
  const auto end = at_.clock.monotonic() + Seconds(left.seconds);
  turns_.move_end(end);
  stopper_.set_end(end);
}

}  // namespace nkigrid::runner
