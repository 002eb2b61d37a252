#pragma once

#include <bit>
#include <string>
#include <vector>

#include "runner/log/codec.hpp"
#include "tests/log/make_log.hpp"

namespace nkigrid::test {

/// Equal in every field, NaN equal to NaN of the same bits: the journal's bytes are a faithful picture
/// (codec_test proves it).
inline bool same(const log::Record& a, const log::Record& b) { return log::encode(a) == log::encode(b); }

inline log::AttemptId some_id(std::uint32_t replicate, std::uint32_t attempt = 1) {
  return {{"novice.ss.naive", "L1/012_gelu", replicate}, "0123456789abcdef", attempt};
}

/// One record of each kind with every field set, texts of about `text_bytes` with NUL and non-UTF-8 bytes in
/// them.
inline std::vector<log::Record> some_records(std::size_t text_bytes, std::uint32_t replicate = 1) {
  using namespace std::string_literals;
  std::string text = "NUL:\0 half a character:\xc3 "s;
  for (std::size_t i = text.size(); i < text_bytes; ++i) text += static_cast<char>('!' + i * 31 % 90);
  const auto id = some_id(replicate);
  log::Begin begin{.id = id, .inherited_turns = 2, .node = "node7", .rank = 3, .started = 1'750'000'000.25};
  log::Reply reply{.id = id,
                   .turn = 3,
                   .request = "request " + text,
                   .reply = "reply " + text,
                   .raw = "raw " + text,
                   .llm_s = 1.5,
                   .wait_s = 0.25,
                   .tokens_in = 1000,
                   .tokens_out = 200,
                   .tokens_cached = 50,
                   .api_retries = 2,
                   .cost_usd = 0.0125};
  log::Turn turn{.id = id,
                 .turn = 3,
                 .event = TurnEvent::bad_tool_args,
                 .nudged = true,
                 .flags = "args_peeled extract=last_fence",
                 .tool_calls = 2,
                 .compile_ok = 1,
                 .verify_ok = 0,
                 .stage = Stage::verify,
                 .code = Code::numeric_mismatch,
                 .line = 17,
                 .compile_s = 0.75,
                 .verify_s = 0.5,
                 .max_abs_err = 0.7,
                 .rel_l2 = kNaN,
                 .estimate_us = std::bit_cast<double>(0xfff8'0000'dead'beefULL),
                 .kernel = "kernel " + text,
                 .tool_output = text};
  log::End end{.id = id,
               .level = "L1",
               .category = "activation",
               .inherited_turns = 2,
               .outcome = Outcome::mismatch,
               .ended_by = EndedBy::turns,
               .reason = "because " + text,
               .nudged = true,
               .passed = 0,
               .strict_passed = 0,
               .best_passed = 1,
               .best_strict_passed = 1,
               .stage = Stage::verify,
               .code = Code::non_finite_uninit,
               .line = 99,
               .findings = R"({"message":"it does not match","hints":["never written"]})",
               .trials = 5,
               .trials_passed = 3,
               .max_abs_err = kNaN,
               .rel_l2 = 0.125,
               .turns = 3,
               .started = 1'750'000'000.25,
               .seconds = 12.5,
               .tokens_in = 5'000'000'000,
               .tokens_out = 200,
               .tokens_cached = 50,
               .cost_usd = 0.0125,
               .api_retries = 2,
               .estimate_us = 33.5,
               .node = "node7",
               .rank = 3,
               .synthetic = true};
  return {begin, reply, turn, end};
}

}  // namespace nkigrid::test
