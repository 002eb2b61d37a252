#include "runner/nkisim/capi.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "jobs/base/error.hpp"
#include "runner/nkisim/diagnose/diagnose.hpp"
#include "runner/nkisim/engine/run.hpp"
#include "runner/nkisim/estimate/estimate.hpp"
#include "runner/nkisim/program/parse.hpp"
#include "runner/nkisim/program/validate.hpp"

namespace {

using namespace nkigrid;
using namespace nkigrid::nkisim;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      out += fmt::format("\\u{:04x}",
                         static_cast<unsigned char>(c));  // names are bytes of a stranger: never invalid UTF-8
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string quoted(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ",") + quoted(text);
  return "[" + out + "]";
}

std::string json(const RunReport& report) {
  return fmt::format(R"({{"code":{},"line":{},"message":{},"hints":{},"unwritten":[{}]}})",
                     quoted(to_string(report.code)), report.line, quoted(report.message), quoted(report.hints),
                     fmt::join(report.unwritten, ","));
}

std::vector<std::span<const std::byte>> spans(const void* const* data, const size_t* bytes, size_t count) {
  std::vector<std::span<const std::byte>> out;
  for (std::size_t k = 0; k < count; ++k) out.emplace_back(static_cast<const std::byte*>(data[k]), bytes[k]);
  return out;
}

void put(char* to, std::size_t size, std::string_view text, bool cut) {
  if (to == nullptr || size == 0) return;
  if (text.size() >= size) text = cut ? text.substr(0, size - 1) : std::string_view();
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
}

Program load(const void* program, std::size_t size) {
  Program parsed = parse_program({static_cast<const char*>(program), program == nullptr ? 0 : size});
  validate(parsed);
  return parsed;
}

/// Runs `body`; errors become codes and `say` gets their text.
template <class Body, class Say>
int guarded(Body body, Say say) {
  try {
    return body();
  } catch (const Error& error) {
    say(error.what());
    return error.code() == ErrorCode::corrupt ? NKISIM_CORRUPT : NKISIM_MISUSE;
  } catch (const std::exception& error) {
    say(error.what());
    return NKISIM_MISUSE;
  }
}

/// A figure of the estimate; negative for no valid program.
template <class Figure>
double figure_of(const void* program, std::size_t size, Figure figure) {
  double result = -1;
  guarded(
      [&] {
        result = figure(profile_of(load(program, size)));
        return NKISIM_OK;
      },
      [](std::string_view) {});
  return result;
}

}  // namespace

int nkisim_validate(const void* program, size_t size, char* error, size_t error_size) {
  put(error, error_size, "", true);
  return guarded(
      [&] {
        load(program, size);
        return NKISIM_OK;
      },
      [&](std::string_view text) { put(error, error_size, text, true); });
}

int nkisim_run(const void* program, size_t size, const void* const* inputs, const size_t* input_bytes,
               size_t input_count, void* const* outputs, const size_t* output_bytes, size_t output_count,
               uint32_t poison_nan_bits, uint8_t poison_int_byte, char* report, size_t report_size) {
  put(report, report_size, "", true);
  return guarded(
      [&] {
        const Program parsed = load(program, size);
        const auto in = spans(inputs, input_bytes, input_count);
        std::vector<std::span<std::byte>> out;
        for (std::size_t k = 0; k < output_count; ++k)
          out.emplace_back(static_cast<std::byte*>(outputs[k]), output_bytes[k]);
        const RunReport result = run_program(parsed, in, out, {poison_nan_bits, poison_int_byte});
        put(report, report_size, json(result), false);
        return result.code == Code::none ? NKISIM_OK : NKISIM_FAULT;
      },
      [&](std::string_view text) {
        RunReport failed;
        failed.message = text;
        put(report, report_size, json(failed), false);
      });
}

int nkisim_diagnose(const void* program, size_t size, const void* const* inputs, const size_t* input_bytes,
                    size_t input_count, uint32_t poison_nan_bits, uint8_t poison_int_byte, char* causes,
                    size_t causes_size) {
  put(causes, causes_size, "", true);
  return guarded(
      [&] {
        const Program parsed = load(program, size);
        const auto in = spans(inputs, input_bytes, input_count);
        put(causes, causes_size, quoted(diagnose(parsed, in, {poison_nan_bits, poison_int_byte}).causes), false);
        return NKISIM_OK;
      },
      [](std::string_view) {});
}

double nkisim_estimate_us(const void* program, size_t size) {
  return figure_of(program, size, [](const Profile& profile) { return profile.us; });
}

double nkisim_counter(const void* program, size_t size, const char* name) {
  return figure_of(program, size, [&](const Profile& profile) {
    const auto found = std::find_if(kCounters.begin(), kCounters.end(),
                                    [&](const Counter& counter) { return counter.name == std::string_view(name); });
    return found == kCounters.end() ? -1 : profile.traffic.*found->bytes;
  });
}
