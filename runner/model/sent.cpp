#include "runner/model/sent.hpp"

#include <algorithm>

#include "jobs/base/error.hpp"

namespace nkigrid::model {
namespace {

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

}  // namespace

Sent sent_after(std::string_view before, std::string_view request) {
  const std::size_t most = std::min(before.size(), request.size());
  std::size_t front = 0;
  while (front < most && before[front] == request[front]) ++front;
  while (front > 0 && is_inside_character(request, front)) --front;
  std::size_t back = 0;
  while (back < most - front && before[before.size() - 1 - back] == request[request.size() - 1 - back]) ++back;
  while (back > 0 && is_inside_character(request, request.size() - back)) --back;
  return {front, back, std::string(request.substr(front, request.size() - front - back))};
}

std::string request_of(const Sent& sent, std::string_view before) {
  if (sent.front > before.size() || sent.back > before.size() - sent.front)
    throw Error(ErrorCode::corrupt, "a request in the log is told by another than the one before it");
  return std::string(before.substr(0, sent.front)) + sent.text + std::string(before.substr(before.size() - sent.back));
}

}  // namespace nkigrid::model
