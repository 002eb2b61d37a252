// write_turns FOLDER NAME LANES ROWS [finish]: a run without a model, to be killed at any moment (test_kill9.py).
//
// Seals what dead writers left (ROWS turns a segment), takes over their episodes, then plays turns on LANES threads
// into a journal of its own. What is durable is said on standard output, one line each, after append() has returned:
//   start | seal | play | R episode attempt turn | T episode attempt turn | E episode attempt | done
// Without `finish` it begins episode after episode for ever; with it, it ends those that were begun, seals and leaves.
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/reader.hpp"
#include "runner/log/segment.hpp"
#include "tests/log/make_log.hpp"

namespace {
using namespace nkigrid;
namespace fs = std::filesystem;

constexpr std::uint32_t kTurns = 5;  // of an episode

void say(const std::string& line) {
  const auto bytes = line + "\n";
  if (::write(STDOUT_FILENO, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) ::_exit(3);
}

/// What a reader can recompute: some kilobytes that name episode, attempt and turn.
std::string text_of(const char* what, const log::AttemptId& id, std::uint32_t turn) {
  const auto word = fmt::format("{} {} {} {};", what, id.episode.replicate, id.attempt, turn);
  std::string text;
  for (std::uint32_t i = 0; i < 20 + (id.episode.replicate * 7 + turn * 13) % 150; ++i) text += word;
  return text;
}

struct Past {
  std::uint32_t attempts = 0, replies = 0, turns = 0;
  bool ended = false;
};

/// The state of every episode that was begun, from the whole log.
std::map<std::uint32_t, Past> read_past(const fs::path& folder) {
  std::map<std::uint32_t, Past> past;
  log::LogVisitor visitor;
  visitor.begin = [&](const log::Begin& r) {
    auto& p = past[r.id.episode.replicate];
    p.attempts = std::max(p.attempts, r.id.attempt);
  };
  visitor.reply = [&](const log::Reply& r) {
    auto& p = past[r.id.episode.replicate];
    p.replies = std::max(p.replies, r.turn);
  };
  visitor.turn = [&](const log::Turn& r) {
    auto& p = past[r.id.episode.replicate];
    p.turns = std::max(p.turns, r.turn);
  };
  visitor.end = [&](const log::End& r) {
    if (r.outcome == Outcome::pass) past[r.id.episode.replicate].ended = true;
  };
  log::read_log(test::made_log(folder), log::Texts::skip, visitor);
  return past;
}

void play(log::Journal& journal, std::uint32_t episode, const Past& past) {
  log::AttemptId id{{"novice.ss.naive", "L1/001_add", episode}, "0123456789abcdef", past.attempts + 1};
  if (past.attempts > 0) {
    log::End dead{.id = id, .outcome = Outcome::killed};
    dead.id.attempt = past.attempts;
    journal.append(dead);
  }
  journal.append(log::Begin{.id = id, .inherited_turns = past.turns, .node = "here"});
  for (auto turn = past.turns + 1; turn <= kTurns; ++turn) {
    log::Reply reply{
        .id = id, .turn = turn, .request = text_of("answer", id, turn - 1), .reply = text_of("reply", id, turn)};
    journal.append(reply);
    say(fmt::format("R {} {} {}", episode, id.attempt, turn));
    journal.append(log::Turn{
        .id = id, .turn = turn, .kernel = text_of("kernel", id, turn), .tool_output = text_of("answer", id, turn)});
    say(fmt::format("T {} {} {}", episode, id.attempt, turn));
  }
  journal.append(log::End{
      .id = id, .outcome = Outcome::pass, .ended_by = EndedBy::turns, .passed = 1, .best_passed = 1, .turns = kTurns});
  say(fmt::format("E {} {}", episode, id.attempt));
}

void seal_dead(const fs::path& folder, std::uint64_t rows) {
  say("seal");
  for (const auto& stem : log::stems_of(folder)) {
    const auto journal = folder / (stem.name + ".journal");
    if (fs::exists(journal)) log::seal_journal(journal, true, Seconds(0), {.rows = rows});
  }
}

/// Of the run whose log folder it is, or of none.
log::LogHeader header_for(const fs::path& folder) {
  auto header = test::made_header();
  if (jobs::is_run(folder.parent_path())) header.run_id = jobs::load_run(folder.parent_path()).run_id;
  return header;
}

void run(const fs::path& folder, const std::string& name, unsigned lanes, std::uint64_t rows, bool finish) {
  say("start");
  seal_dead(folder, rows);
  auto past = read_past(folder);
  std::vector<std::pair<std::uint32_t, Past>> work;
  for (const auto& [episode, p] : past) {
    if (!p.ended) work.emplace_back(episode, p);
  }
  const auto fresh = past.empty() ? 1 : past.rbegin()->first + 1;
  log::Journal journal(folder, name, header_for(folder));
  say("play");
  std::atomic<std::uint32_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&] {
      for (;;) {
        const auto i = next++;
        if (i < work.size())
          play(journal, work[i].first, work[i].second);
        else if (finish)
          return;
        else
          play(journal, fresh + i - static_cast<std::uint32_t>(work.size()), {});
      }
    });
  }
  threads.clear();
  journal.close();
  seal_dead(folder, rows);
  seal_dead(folder, rows);  // now that all are taken over, no journal has to stay
  say("done");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  try {
    run(argv[1], argv[2], static_cast<unsigned>(std::stoul(argv[3])), std::stoull(argv[4]), argc > 5);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
