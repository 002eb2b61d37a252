// log_load append FOLDER LANES TURNS      turns through the journal, beside plain write + fdatasync of as many bytes
// log_load generate FOLDER TURNS          a journal of TURNS turns with 8 KiB of text each
// log_load seal JOURNAL                   seals it
// log_load segments GRID RUN TURNS        freezes GRID into RUN and writes segments with TURNS turns for each episode
// log_load fold RUN                       reads the ledger, then the turns
// Prints JSON; times in seconds, sizes in bytes. For bench_log.py.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "jobs/base/error.hpp"
#include "jobs/base/files.hpp"
#include "jobs/run_directory.hpp"
#include "runner/log/folder.hpp"
#include "runner/log/front_seal.hpp"
#include "runner/log/ledger.hpp"
#include "runner/log/segment.hpp"
#include "runner/log/turn_summaries.hpp"
#include "tests/log/make_log.hpp"

namespace {
using namespace nkigrid;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}
std::uint64_t peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// Text that looks like a kernel: words repeat, numbers do not.
std::string program_text(std::uint64_t seed, std::size_t bytes) {
  static constexpr std::array<const char*, 8> lines = {"    for i in nl.affine_range({}):\n",
                                                       "        tile = nl.load(x[nl.ds(i * {}, 128), :])\n",
                                                       "        acc = nl.add(acc, nl.multiply(tile, {}))\n",
                                                       "        nl.store(out[nl.ds(i * {}, 128), :], value=acc)\n",
                                                       "    # the tile of {} rows stays in SBUF\n",
                                                       "        s = nl.sum(tile, axis=[1], keepdims=True) / {}\n",
                                                       "    w = nl.load(weight[0:{}, :])\n",
                                                       "        y = nisa.activation(op=nl.exp, data=tile, scale={})\n"};
  std::string text;
  for (std::uint64_t n = seed * 6364136223846793005ULL + 1442695040888963407ULL; text.size() < bytes;
       n = n * 6364136223846793005ULL + 1442695040888963407ULL)
    text += fmt::format(fmt::runtime(lines[(n >> 33) % lines.size()]), (n >> 40) % 4096);
  text.resize(bytes);
  return text;
}

/// An episode's records: ten turns, a prompt that its task's replicates share, kernels that now and then come again.
std::vector<log::Record> episode_records(std::uint64_t episode, std::uint32_t turns) {
  const log::AttemptId id{{"qwen.agent.rank-aware", fmt::format("L1/{:03}_task", episode % 250),
                           static_cast<std::uint32_t>(episode / 250 + 1)},
                          "0123456789abcdef",
                          1};
  std::vector<log::Record> records = {log::Begin{.id = id, .node = "node1", .started = 1.75e9}};
  std::string answer = program_text(episode % 250, 1024), kernel;
  for (std::uint32_t turn = 1; turn <= turns; ++turn) {
    const auto seed = episode * 16 + turn;
    if (turn % 4 != 3) kernel = program_text(seed, 3072);  // every fourth check is of the kernel as it was
    log::Reply reply{.id = id,
                     .turn = turn,
                     .request = answer,
                     .reply = "{\"message\":\"" + kernel,
                     .llm_s = 2,
                     .tokens_in = 900,
                     .tokens_out = 800,
                     .cost_usd = 0.01};
    records.emplace_back(std::move(reply));
    answer = fmt::format("{{\"ok\":false,\"turn\":{}}}", seed) + program_text(seed ^ 0xabcdef, 1000);
    records.emplace_back(log::Turn{.id = id,
                                   .turn = turn,
                                   .tool_calls = 1,
                                   .compile_ok = 0,
                                   .stage = Stage::verify,
                                   .code = Code::oob,
                                   .line = 12,
                                   .kernel = kernel,
                                   .tool_output = answer});
  }
  records.emplace_back(log::End{.id = id,
                                .level = "L1",
                                .category = "unary",
                                .outcome = Outcome::mismatch,
                                .ended_by = EndedBy::turns,
                                .code = Code::numeric_mismatch,
                                .turns = turns});
  return records;
}

/// A plain file to which blocks are appended, each made durable: what the machine can do.
class PlainFile {
 public:
  PlainFile(const fs::path& path, std::size_t bytes)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)), block_(bytes, 'x') {}
  void append() {
    write_all(fd_.get(), block_, "plain");
    if (::fdatasync(fd_.get()) != 0) throw_errno(errno, "sync", "plain");
  }

 private:
  Fd fd_;
  std::string block_;
};

const log::SealKey kKey(std::string(64, 'k'));  // a log is sealed as those of runs are

template <class Work>
double seconds_of(Work work) {
  const auto start = Clock::now();
  work();
  return since(start);
}

/// Plain syncs, single appends and lanes by turns, so that a busy disk is busy for all.
void append(const fs::path& folder, unsigned lanes, std::uint32_t turns) {
  fs::create_directories(folder);
  const auto records = episode_records(1, 2);
  const auto& reply = records[1];
  const auto& turn = records[2];
  std::vector<double> plain, one, many;
  for (int round = 0; round < 5; ++round) {
    log::Journal journal(folder, fmt::format("lanes{}-{}", lanes, round), test::made_header(), kKey);
    PlainFile file(folder / "plain", 4300);  // what a journal's record of a reply takes
    for (std::uint32_t i = 0; i < 2 * turns; ++i) {
      plain.push_back(seconds_of([&] { file.append(); }));
      one.push_back(seconds_of([&] { journal.append(i % 2 == 0 ? reply : turn); }));
    }
    const auto start = Clock::now();
    std::vector<std::jthread> threads;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      threads.emplace_back([&] {
        for (std::uint32_t i = 0; i < turns; ++i) journal.append(reply), journal.append(turn);
      });
    }
    threads.clear();
    many.push_back(since(start) / lanes / turns);
  }
  fmt::print("{{\"plain_s\": {}, \"one_lane_s\": {}, \"turn_s\": {}}}\n", median(plain), median(one), median(many));
}

void generate(const fs::path& folder, std::uint64_t turns) {
  fs::create_directories(folder);
  log::Journal journal(folder, "load", test::made_header(), kKey);
  std::uint64_t text = 0;
  std::vector<log::Record> batch;
  for (std::uint64_t episode = 0; episode * 10 < turns; ++episode) {
    for (auto& record : episode_records(episode, 10)) {
      if (const auto* reply = std::get_if<log::Reply>(&record)) text += reply->request.size() + reply->reply.size();
      if (const auto* turn = std::get_if<log::Turn>(&record)) text += turn->kernel.size() + turn->tool_output.size();
      batch.push_back(std::move(record));
    }
    if (batch.size() > 2000) journal.append(batch), batch.clear();
  }
  journal.append(batch);
  journal.close();
  fmt::print("{{\"turns\": {}, \"text_bytes\": {}, \"journal_bytes\": {}}}\n", turns, text,
             fs::file_size(journal.path()));
}

void seal(const fs::path& journal) {
  const auto start = Clock::now();
  log::seal_journal(journal, true, Seconds(600), {}, kKey);
  fmt::print("{{\"seconds\": {}, \"peak_bytes\": {}}}\n", since(start), peak_bytes());
}

/// Numbers that no two replies share, as measured ones: they do not deflate.
void measured(log::Reply& reply, std::uint64_t sequence) {
  const auto draw = sequence * 6364136223846793005ULL >> 20;
  reply.llm_s = 1 + static_cast<double>(draw % 1'000'003) * 1.7e-5;
  reply.tokens_in = static_cast<std::uint32_t>(500 + draw % 7919),
  reply.tokens_out = static_cast<std::uint32_t>(100 + draw % 1009);
  reply.cost_usd = reply.tokens_in * 5e-6 + reply.tokens_out * 25e-6;
}

void segments(const std::string& grid_file, const fs::path& folder, std::uint32_t turns) {
  const auto grid = jobs::load_grid(grid_file, jobs::configs_folder());
  const auto run = jobs::freeze_run(grid, jobs::load_benchmark(grid.benchmark), folder);
  fs::create_directories(run.log_folder());
  std::optional<log::SegmentBuilder> builder(std::in_place);
  std::uint64_t sequence = 0, first = 1;
  std::uint32_t part = 0;
  std::string previous;
  const log::SealKey key(run.log_key);
  const auto write = [&] {
    log::SegmentReport about{
        .header = test::made_header(), .journal = "load", .part = ++part, .seq_first = first, .seq_last = sequence};
    about.header.run_id = run.run_id;
    about.previous = previous;
    const auto content = builder->finish(about);
    const auto front = log::make_front(key, content);
    previous = log::seal_of_front(front);
    write_file_atomic(log::part_path(run.log_folder(), "load", part), front + std::string(content));
    builder.emplace();
    first = sequence + 1;
  };
  for (const auto& planned : run.plan.episodes) {
    const log::AttemptId id{run.plan.id_of(planned), run.plan.key(planned.cell, planned.task), 1};
    const auto& task = run.plan.tasks[planned.task];
    const auto draw = (id.episode.replicate * 2654435761u + planned.task * 97 + planned.cell * 31) >> 7;
    const bool pass = draw % 100 < 20 + planned.cell * 7;
    const bool oob = draw % 3 == 0;
    test::Ended how{.outcome = pass  ? Outcome::pass
                               : oob ? Outcome::compile_fail
                                     : Outcome::mismatch,
                    .turns = turns,
                    .code = oob ? Code::oob : Code::numeric_mismatch,
                    .stage = Stage::verify};
    for (auto& record : test::attempt_records(id, task.level, task.category, how)) {
      if (auto* reply = std::get_if<log::Reply>(&record)) measured(*reply, sequence);
      builder->add(++sequence, std::move(record));
    }
    if (builder->is_full()) write();
  }
  write();
  fmt::print("{{\"episodes\": {}, \"turns\": {}, \"parts\": {}}}\n", run.plan.episodes.size(),
             run.plan.episodes.size() * turns, part);
}

void fold(const fs::path& folder) {
  auto start = Clock::now();
  const auto run = jobs::load_run(folder);
  const double load = since(start);
  start = Clock::now();
  const auto ledger = log::read_ledger(run);
  const double ledger_s = since(start);
  const auto ledger_peak = peak_bytes();
  start = Clock::now();
  std::uint64_t turns = 0, failed = 0;
  log::read_turn_summaries(run.plan, log::log_of(run),
                           [&](const log::TurnSummary& turn) { ++turns, failed += turn.code != Code::none; });
  fmt::print(
      "{{\"episodes\": {}, \"scored\": {}, \"load_s\": {}, \"ledger_s\": {}, \"ledger_peak_bytes\": {}, \"turns\": {}, "
      "\"failed\": {}, \"turns_s\": {}, \"peak_bytes\": {}}}\n",
      ledger.states.size(), ledger.scored(), load, ledger_s, ledger_peak, turns, failed, since(start), peak_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  try {
    if (what == "append" && words.size() == 4)
      append(words[1], static_cast<unsigned>(std::stoul(words[2])), static_cast<std::uint32_t>(std::stoul(words[3])));
    else if (what == "generate" && words.size() == 3)
      generate(words[1], std::stoull(words[2]));
    else if (what == "seal" && words.size() == 2)
      seal(words[1]);
    else if (what == "segments" && words.size() == 4)
      segments(words[1], words[2], static_cast<std::uint32_t>(std::stoul(words[3])));
    else if (what == "fold" && words.size() == 2)
      fold(words[1]);
    else
      return 2;
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
