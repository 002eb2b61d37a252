#include "runner/agent/agent.hpp"

#include "jobs/base/hash.hpp"
#include "runner/agent/final_check.hpp"
#include "runner/agent/kernel_steps.hpp"
#include "runner/agent/modes.hpp"
#include "runner/agent/play_turn.hpp"
#include "runner/agent/resume.hpp"
#include "runner/agent/session.hpp"
#include "runner/agent/task_message.hpp"
#include "runner/model/chat_json.hpp"
#include "runner/model/cost.hpp"

namespace nkigrid::agent {
namespace {

/// The conversation rebuilt from the history, or begun afresh when there is none or it is damaged.
Rebuilt start(const EpisodeJob& job) {
  if (!job.history.empty()) {
    try {
      return rebuild(job);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt) throw;
    }
  }
  Rebuilt fresh;
  fresh.talk.messages = first_messages(job.task, job.prompt, job.mode);
  fresh.talk.pending = fresh.talk.messages;
  return fresh;
}

void append_begin(const Session& session, double started) {
  session.append(log::Begin{session.job.id, session.talk.turns, session.job.node, session.job.rank, started});
}

double cost_of(const jobs::ModelSpec& model, const model::ChatReply& reply) {
  if (reply.recorded_cost) return *reply.recorded_cost;
  return model.price ? usd(*model.price, reply.usage) : 0;
}

log::Reply reply_record(const Session& session, const model::ChatReply& reply) {
  log::Reply record;
  record.id = session.job.id;
  record.turn = session.talk.turns + 1;
  record.request = to_lines(session.talk.pending);
  record.reply = model::to_json(reply);
  record.raw = reply.raw;
  record.llm_s = reply.llm_s;
  record.wait_s = reply.wait_s;
  record.tokens_in = reply.usage.input;
  record.tokens_out = reply.usage.output;
  record.tokens_cached = reply.usage.cached;
  record.api_retries = reply.api_retries;
  record.cost_usd = cost_of(session.job.model, reply);
  return record;
}

void count(AttemptUsage& usage, const log::Reply& record) {
  usage.tokens_in += record.tokens_in;
  usage.tokens_out += record.tokens_out;
  usage.tokens_cached += record.tokens_cached;
  usage.cost_usd += record.cost_usd;
  usage.api_retries += record.api_retries;
}

/// The unanswered reply of a dead attempt: copied as this attempt's own first record, then played. It is not paid for
/// again.
void replay(Session& session, log::Reply record) {
  const model::ChatReply reply = model::parse_reply(record.reply);
  record.id = session.job.id;
  session.append(record);
  trim_to(session.talk, reply.trimmed);
  play_turn(session, hear(session.talk, session.job, reply));
}

/// One request and what follows from it. @throws model::ChatError, InfraStop, Error{io}
void next_turn(Session& session, std::stop_token drain) {
  const EpisodeId& episode = session.job.id.episode;
  model::ChatRequest request;
  request.messages = session.talk.messages;
  request.tools = tools_of(session.job.mode);
  request.seed = sampling_seed(session.job.grid.seed, episode.cell, episode.task, episode.replicate);
  request.episode = episode;
  request.turn = session.talk.turns + 1;
  model::ChatReply reply = session.model.complete(request, drain);
  trim_to(session.talk, reply.trimmed);  // of a run that is replayed
  reply.trimmed = session.talk.trimmed;
  if (!reply.request.empty()) {
    reply.sent = model::sent_after(session.last_request, reply.request);
    session.last_request = std::move(reply.request);
  }
  const log::Reply record = reply_record(session, reply);
  session.append(record);
  count(session.usage, record);
  play_turn(session, hear(session.talk, session.job, reply));
}

/// Turns until the loop ends or is drained. @returns false when it was drained
bool play(Session& session, std::optional<log::Reply> unanswered, const std::stop_token& drain) {
  if (unanswered) replay(session, std::move(*unanswered));
  while (session.talk.ended_by == EndedBy::none) {
    if (drain.stop_requested()) return false;
    try {
      next_turn(session, drain);
    } catch (const model::ChatError& error) {
      session.usage.api_retries += error.api_retries;
      switch (error.failure) {
        case model::ChatFailure::context_full:
          if (session.job.mode.trim_on_full && trim(session.talk)) break;  // asked again, with less
          session.talk.ended_by = EndedBy::context_full;
          session.full = error.what();
          break;
        case model::ChatFailure::transient:
          throw InfraStop{Outcome::api_error, error.what()};
        case model::ChatFailure::away:
        case model::ChatFailure::interrupted:
          return false;
        case model::ChatFailure::fatal:
          throw;
      }
    }
  }
  return true;
}

log::End end_record(const Session& session, std::uint32_t inherited, double started) {
  log::End end;
  end.id = session.job.id;
  end.level = session.job.task.level;
  end.category = session.job.task.category;
  end.inherited_turns = inherited;
  end.started = started;
  end.node = session.job.node;
  end.rank = session.job.rank;
  end.max_abs_err = end.rel_l2 = end.estimate_us = kNaN;
  return end;
}

void append_end(const Session& session, log::End end, double seconds) {
  end.ended_by = session.talk.ended_by;
  end.nudged = session.talk.nudged;
  end.turns = session.talk.turns;
  end.seconds = seconds;
  end.tokens_in = session.usage.tokens_in;
  end.tokens_out = session.usage.tokens_out;
  end.tokens_cached = session.usage.tokens_cached;
  end.cost_usd = session.usage.cost_usd;
  end.api_retries = session.usage.api_retries;
  end.synthetic = session.talk.synthetic;
  session.append(end);
}

}  // namespace

EpisodeExit run_episode(const EpisodeJob& job, model::ChatModel& model, device::Device& device,
                        const std::function<void(const log::Record&)>& append, const Clock& clock,
                        std::stop_token drain) {
  Session session{.job = job, .model = model, .device = device, .append = append, .clock = clock};
  const double started = clock.unix_seconds();
  const Seconds begun = clock.monotonic();
  Rebuilt rebuilt = start(job);
  session.talk = std::move(rebuilt.talk);
  const std::uint32_t inherited = session.talk.turns;
  append_begin(session, started);
  log::End end = end_record(session, inherited, started);
  try {
    if (!play(session, std::move(rebuilt.unanswered), drain)) return EpisodeExit::drained;
    final_check(session, end);
    end.reason = session.full;
  } catch (const InfraStop& stop) {
    end = end_record(session, inherited, started);
    end.outcome = stop.outcome;
    end.reason = stop.reason;
  }
  append_end(session, std::move(end), (clock.monotonic() - begun).count());
  return EpisodeExit::ended;
}

}  // namespace nkigrid::agent
