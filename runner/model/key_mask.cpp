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

/// A text as a JSON reader sees its strings and a URL's reader its characters, without asking whether it is either:
/// what is quoted twice or cut is read, too.
struct Unescaped {
  std::string text;
  std::vector<std::size_t> from;  ///< where each character stood; at the end, the size

  explicit Unescaped(std::string_view raw) {
    for (std::size_t at = 0; at < raw.size();) at = add(raw, at);
    from.push_back(raw.size());
  }

 private:
  static constexpr std::size_t kMostEscape = 16;  // quoted three times: seven backslashes

  std::size_t add(std::string_view raw, std::size_t at) {
    from.push_back(at);
    const auto near = raw.substr(at, kMostEscape);
    const auto slashes = near.find_first_not_of('\\');
    if (slashes != 0 && slashes != std::string_view::npos) {
      const auto rest = near.substr(slashes);
      unsigned code = 0;
      if (rest[0] == '/') return text += '/', at + slashes + 1;
      if (rest[0] == 'u' && rest.size() > 4 &&
          std::from_chars(rest.data() + 1, rest.data() + 5, code, 16).ptr == rest.data() + 5 && code < 0x80)
        return text += static_cast<char>(code), at + slashes + 5;
    }
    unsigned percent = 0;
    if (raw[at] == '%' && near.size() > 2 &&
        std::from_chars(near.data() + 1, near.data() + 3, percent, 16).ptr == near.data() + 3 && percent < 0x80)
      return text += static_cast<char>(percent), at + 3;
    text += raw[at];
    return at + 1;
  }
};

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
  add_form(Unescaped(key).text);  // a key that has a per cent sign itself is looked for in what is decoded
  constexpr std::string_view kSame = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (const char* last : {"+/", "-_"}) {
    for (std::size_t before = 0; before < 3; ++before) add_form(base64(key, before, std::string(kSame) + last));
  }
}

void KeyMask::add(const KeyMask& other) { forms_.insert(forms_.end(), other.forms_.begin(), other.forms_.end()); }

std::string KeyMask::hide(std::string text) const {
  for (const auto& form : forms_) text = hide(form, std::move(text));
  return text;
}

std::string KeyMask::hide(const Form& form, std::string text) {
  const Unescaped seen(text);
  const auto lead = std::string_view(form.text).substr(0, form.lead);
  std::string shown;
  std::size_t kept = 0;  // of the text as it came
  for (auto at = seen.text.find(lead); at != std::string::npos;) {
    auto end = at + lead.size();
    while (end < seen.text.size() && end - at < form.text.size() && seen.text[end] == form.text[end - at]) ++end;
    while (end < seen.text.size() && hangs_on(static_cast<unsigned char>(seen.text[end]))) ++end;
    shown.append(text, kept, seen.from[at] - kept).append(kHidden);
    kept = seen.from[end];
    at = seen.text.find(lead, end);
  }
  if (kept == 0) return text;
  return shown.append(text, kept);
}

}  // namespace nkigrid::model
