#include "runner/log/record_seal.hpp"

#include <cstring>
#include <utility>
#include <variant>

#include "runner/log/codec.hpp"

namespace nkigrid::log {
namespace {

// Field 63, bytes, 32 of them: any reader of records passes over a number that it does not know.
constexpr std::string_view kFieldHead = "\xfe\x20";
constexpr std::size_t kRecordSealBytes = 2 + 32;

/// Name and number keep a record from being told again elsewhere.
Mac record_mac(const SealKey& key, std::string_view journal, std::uint64_t sequence, Sha256 content) {
  const auto digest = content.digest();
  Sha256 all;
  all.field(journal).field(std::to_string(sequence));
  all.field({reinterpret_cast<const char*>(digest.data()), digest.size()});
  return key.seal("nkigrid record 1", std::move(all));
}

}  // namespace

void add_seal(const SealKey& key, std::string_view journal, std::uint64_t sequence, Sha256 content,
              std::string& payload) {
  if (!key) return;
  const auto mac = record_mac(key, journal, sequence, std::move(content));
  payload += kFieldHead;
  payload.append(reinterpret_cast<const char*>(mac.data()), mac.size());
}

bool RecordProof::holds(std::uint64_t sequence, std::string_view payload) {
  if (!key_) return true;
  if (payload.size() < kRecordSealBytes) return false;
  const auto content = payload.substr(0, payload.size() - kRecordSealBytes);
  const auto seal = payload.substr(content.size());
  auto journal = journal_;
  if (sequence == 0) {
    const auto head = decode(payload, false);
    if (head && std::holds_alternative<LogHeader>(*head)) journal = std::get<LogHeader>(*head).journal;
  }
  const auto mac = record_mac(key_, journal, sequence, std::move(Sha256().update(content)));
  if (!seal.starts_with(kFieldHead) || std::memcmp(seal.data() + 2, mac.data(), mac.size()) != 0) return false;
  journal_ = std::move(journal);
  return true;
}

}  // namespace nkigrid::log
