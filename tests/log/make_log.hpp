#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/base/files.hpp"
#include "jobs/base/hash.hpp"
#include "jobs/plan.hpp"
#include "runner/log/journal.hpp"
#include "runner/log/run_log.hpp"

/// Logs made by hand, for the tests of whoever reads logs.
///
///   auto plan = test::hand_plan({"novice.ss.naive", "novice.agent.naive"}, {{"L1/001_a", "L1", "unary"}},
///   3); test::write_log(run / "log", "made", plan, [](const EpisodeId& id) { return
///   test::Ended{Outcome::pass}; });
namespace nkigrid::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A plan without a grid file: every cell has every task; the keys are made from the names.
inline jobs::Plan hand_plan(const std::vector<std::string>& cells, std::vector<jobs::PlannedTask> tasks,
                            std::uint32_t replicates) {
  jobs::Plan plan;
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  plan.tasks = std::move(tasks);
  for (const auto& id : cells) {
    jobs::CellSpec cell;
    cell.id = id;
    const auto first = id.find('.'), last = id.rfind('.');
    cell.model = id.substr(0, first);
    cell.mode = id.substr(first + 1, last - first - 1);
    cell.prompt = id.substr(last + 1);
    cell.replicates = replicates;
    for (const auto& task : plan.tasks) cell.tasks.push_back(task.id);
    plan.cells.push_back(std::move(cell));
  }
  for (std::uint32_t c = 0; c < plan.cells.size(); ++c) {
    for (std::uint32_t t = 0; t < plan.tasks.size(); ++t) {
      plan.keys.push_back(sha256_hex(plan.cells[c].id + " " + plan.tasks[t].id).substr(0, 16));
      for (std::uint32_t r = 1; r <= replicates; ++r) plan.episodes.push_back({c, t, r, 0});
    }
  }
  return plan;
}

/// The run as one that was frozen without a key: its log is an unverified one.
inline void take_log_key(const std::filesystem::path& run) {
  std::filesystem::remove(run / "log_key");
  auto grid = read_file(run / "grid.yaml");
  const auto line = grid.find("\n  log_key:");
  grid.erase(line, grid.find('\n', line + 1) - line);
  write_file_atomic(run / "grid.yaml", grid);
}

/// How one episode shall have gone.
struct Ended {
  Outcome outcome = Outcome::pass;
  std::uint32_t attempt = 1;
  std::uint32_t turns = 1;
  Code code = Code::none;  ///< of the final check, and of every turn but a passing last one; none: a usual one
  Stage stage = Stage::none;
  bool strict = true;  ///< a pass passes the strict rule too
  bool synthetic = false;
  std::int8_t best_passed = -1;  ///< -1: as passed
  std::string reason = {};
  std::string flags = {};  ///< of every turn
};

/// A code that an outcome may have.
inline Code usual_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::compile_fail:
      return Code::unknown_api;
    case Outcome::compile_timeout:
      return Code::compile_timeout;
    case Outcome::run_fail:
      return Code::runtime_device;
    case Outcome::mismatch:
      return Code::numeric_mismatch;
    case Outcome::cheat:
      return Code::rule_violation;
    default:
      return Code::none;
  }
}

/// The records of one attempt: begin, replies, turns, end.
inline std::vector<log::Record> attempt_records(const log::AttemptId& id, const std::string& level,
                                                const std::string& category, Ended how) {
  if (how.code == Code::none) how.code = usual_code(how.outcome);
  std::vector<log::Record> records;
  records.emplace_back(
      log::Begin{.id = id, .inherited_turns = 0, .node = "node1", .rank = 0, .started = 1'750'000'000.0});
  const bool passed = how.outcome == Outcome::pass;
  for (std::uint32_t n = 1; n <= how.turns; ++n) {
    log::Reply reply{.id = id, .turn = n};
    reply.request = R"({"role":"user","content":"go"})";
    reply.reply = R"({"role":"assistant","content":"done"})";
    reply.llm_s = 0.5;
    reply.tokens_in = 100, reply.tokens_out = 20, reply.cost_usd = 0.001;
    records.emplace_back(reply);
    log::Turn turn{.id = id, .turn = n};
    const bool good = passed && n == how.turns;
    turn.tool_calls = 1;
    turn.flags = how.flags;
    turn.compile_ok = good || how.outcome == Outcome::mismatch || how.code == Code::none ? 1 : 0;
    turn.code = good ? Code::none : how.code;
    turn.stage = good ? Stage::none : how.stage;
    turn.max_abs_err = turn.rel_l2 = turn.estimate_us = kNaN;
    turn.kernel = "kernel " + to_string(id.episode);
    turn.tool_output = R"({"ok":true})";
    records.emplace_back(turn);
  }
  log::End end{.id = id, .level = level, .category = category};
  end.outcome = how.outcome;
  end.ended_by = passed ? EndedBy::compiled : EndedBy::turns;
  end.reason = how.reason;
  end.passed = passed;
  end.strict_passed = passed && how.strict;
  end.best_passed = how.best_passed < 0 ? end.passed : how.best_passed;
  end.best_strict_passed = static_cast<std::int8_t>(end.best_passed != 0 && how.strict);
  if (usual_code(how.outcome) != Code::none) end.stage = how.stage, end.code = how.code;
  end.max_abs_err = passed ? 1e-6 : kNaN;
  end.rel_l2 = passed ? 1e-7 : kNaN;
  end.turns = how.turns;
  end.started = 1'750'000'000.0, end.seconds = 2.5;
  end.tokens_in = 100u * how.turns, end.tokens_out = 20u * how.turns;
  end.cost_usd = 0.001 * how.turns;
  end.estimate_us = passed ? 12.5 : kNaN;
  end.node = "node1";
  end.synthetic = how.synthetic;
  records.emplace_back(end);
  return records;
}

inline log::LogHeader made_header() {
  return {.grid_hash = "made-grid-hash",
          .run_id = "made-run",
          .nkigrid_version = "0.1.0",
          .sdk = "2.24",
          .backend = "sim",
          .compiler = "made",
          .host = "made-host"};
}

/// The log whose files made_header() heads.
inline log::RunLog made_log(const std::filesystem::path& folder) { return {folder, made_header().run_id}; }

/// Writes `folder`/<name>.journal with one attempt for each planned episode that `how` gives an end; the
/// others stay pending.
/// @param how called with the episode's id; nothing: not begun
/// @returns the journal's path
inline std::filesystem::path write_log(const std::filesystem::path& folder, const std::string& name,
                                       const jobs::Plan& plan,
                                       const std::function<std::optional<Ended>(const EpisodeId&)>& how,
                                       const log::LogHeader& header = made_header()) {
  std::filesystem::create_directories(folder);
  log::Journal journal(folder, name, header);
  std::vector<log::Record> all;
  for (const auto& planned : plan.episodes) {
    const auto id = plan.id_of(planned);
    const auto ended = how(id);
    if (!ended) continue;
    const auto& task = plan.tasks[planned.task];
    for (auto& record : attempt_records({id, plan.key(planned.cell, planned.task), ended->attempt}, task.level,
                                        task.category, *ended)) {
      all.push_back(std::move(record));
    }
  }
  journal.append(all);
  journal.close();
  return journal.path();
}

}  // namespace nkigrid::test
