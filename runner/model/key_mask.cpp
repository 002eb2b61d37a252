#include "runner/model/key_mask.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace nkigrid::model {
namespace {

/// What keys, their encodings and the asterisks that stand for the rest of one are made of.
bool hangs_on(unsigned char c) {
  return std::isalnum(c) != 0 || std::string_view("-_*.~+/=%").find(static_cast<char>(c)) != std::string_view::npos;
}

/// The characters that the key alone decides when `before` bytes of something else go before it in its group of three.
/// @source RFC 4648, 4 and 5
std::string base64(std::string_view key, std::size_t before, std::string_view alphabet) {
  std::string bits;
  for (const unsigned char c : key) {
    for (int bit = 7; bit >= 0; --bit) bits += static_cast<char>((c >> bit) & 1);
  }
  std::string text;
  for (std::size_t at = (6 - before * 8 % 6) % 6; at + 6 <= bits.size(); at += 6) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value * 2 + static_cast<unsigned>(bits[at + i]);
    text += alphabet[value];
  }
  return text;
}

constexpr std::size_t kMostEscape = 16;  // quoted three times: seven backslashes

/// One character as a JSON reader sees it in a string and a URL's reader in a link, without asking whether this is
/// either: what is quoted twice or cut is read, too. @returns where the next one begins
std::size_t unescape(std::string_view raw, std::size_t at, char& seen) {
  const auto near = raw.substr(at, kMostEscape);
  const auto slashes = near.find_first_not_of('\\');
  if (slashes != 0 && slashes != std::string_view::npos) {
    const auto rest = near.substr(slashes);
    unsigned code = 0;
    if (rest[0] == '/') return seen = '/', at + slashes + 1;
    if (rest[0] == 'u' && rest.size() > 4 &&
        std::from_chars(rest.data() + 1, rest.data() + 5, code, 16).ptr == rest.data() + 5 && code < 0x80)
      return seen = static_cast<char>(code), at + slashes + 5;
  }
  unsigned percent = 0;
  if (raw[at] == '%' && near.size() > 2 &&
      std::from_chars(near.data() + 1, near.data() + 3, percent, 16).ptr == near.data() + 3 && percent < 0x80)
    return seen = static_cast<char>(percent), at + 3;
  seen = raw[at];
  return at + 1;
}

std::string unescaped(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  char seen = 0;
  for (std::size_t at = 0; at < raw.size(); text += seen) at = unescape(raw, at, seen);
  return text;
}

/// Characters of the unescaped text, by number.
struct Found {
  std::size_t begin, end;
};

/// The text without what was found in it unescaped. Nothing is kept for each byte: how many there are, a server
/// decides.
std::string without(const std::vector<Found>& found, std::string_view raw) {
  std::string shown;
  std::size_t at = 0, number = 0;
  char seen = 0;
  for (const auto& [begin, end] : found) {
    const auto kept = at;
    for (; number < begin; ++number) at = unescape(raw, at, seen);
    shown.append(raw, kept, at - kept).append(KeyMask::kHidden);
    for (; number < end; ++number) at = unescape(raw, at, seen);
  }
  return shown.append(raw, at);
}

}  // namespace

void KeyMask::add(std::string_view key) {
  if (key.size() < kLeastKey) return;
  const auto add_form = [&](std::string text) {
    const auto same = [&](const Form& form) { return form.text == text; };
    if (text.size() < kLeastKey || std::any_of(forms_.begin(), forms_.end(), same)) return;
    const auto lead = key.size() >= kLongKey ? kLead : text.size();
    forms_.push_back({std::move(text), lead});
  };
  add_form(std::string(key));
  add_form(unescaped(key));  // a key that has a per cent sign itself is looked for in what is decoded
  constexpr std::string_view kSame = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (const char* last : {"+/", "-_"}) {
    for (std::size_t before = 0; before < 3; ++before) add_form(base64(key, before, std::string(kSame) + last));
  }
}

void KeyMask::add(const KeyMask& other) { forms_.insert(forms_.end(), other.forms_.begin(), other.forms_.end()); }

std::string KeyMask::hide(std::string text) const {
  const auto seen = unescaped(text);
  std::vector<Found> found;
  for (const auto& [form, lead_size] : forms_) {
    const auto lead = std::string_view(form).substr(0, lead_size);
    for (auto at = seen.find(lead); at != std::string::npos;) {
      auto end = at + lead.size();
      while (end < seen.size() && end - at < form.size() && seen[end] == form[end - at]) ++end;
      while (end < seen.size() && hangs_on(static_cast<unsigned char>(seen[end]))) ++end;
      found.push_back({at, end});
      at = seen.find(lead, end);
    }
  }
  if (found.empty()) return text;
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.begin < b.begin; });
  std::vector<Found> joined;
  for (const auto& one : found) {
    if (!joined.empty() && one.begin < joined.back().end)
      joined.back().end = std::max(joined.back().end, one.end);
    else
      joined.push_back(one);
  }
  return without(joined, text);
}

}  // namespace nkigrid::model
