#include "runner/model/key_mask.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nkigrid::model {
namespace {

bool is_unreserved(unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '~'; }

/// What keys, their encodings and the asterisks that stand for the rest of one are made of.
bool hangs_on(unsigned char c) {
  return std::isalnum(c) != 0 || std::string_view("-_*.~+/=%").find(static_cast<char>(c)) != std::string_view::npos;
}

std::string percent_encoded(std::string_view key, bool upper) {
  std::string text;
  for (const unsigned char c : key)
    text += is_unreserved(c) ? std::string(1, static_cast<char>(c))
                             : fmt::format(fmt::runtime(upper ? "%{:02X}" : "%{:02x}"), c);
  return text;
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

/// As JSON writers spell it that escape slashes.
std::string slashed(std::string_view key) {
  std::string text;
  for (const char c : key) text += c == '/' ? std::string("\\/") : std::string(1, c);
  return text;
}

/// Applies `change` to every string of a document, names included. @returns whether any changed
template <class Change>
bool change_strings(nlohmann::ordered_json& json, const Change& change) {
  bool any = false;
  if (json.is_string()) {
    auto changed = change(json.get<std::string>());
    any = changed != json.get_ref<const std::string&>();
    if (any) json = std::move(changed);
  } else if (json.is_array()) {
    for (auto& item : json) any = change_strings(item, change) || any;
  } else if (json.is_object()) {
    nlohmann::ordered_json renamed = nlohmann::ordered_json::object();
    for (auto& [name, value] : json.items()) {
      any = change_strings(value, change) || any;
      auto changed = change(name);
      any = any || changed != name;
      renamed[std::move(changed)] = std::move(value);
    }
    json = std::move(renamed);
  }
  return any;
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
  add_form(slashed(key));  // first: of a key that it would cut off at a slash nothing stays behind
  add_form(std::string(key));
  for (const bool upper : {true, false}) add_form(percent_encoded(key, upper));
  constexpr std::string_view kSame = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  for (const char* last : {"+/", "-_"}) {
    for (std::size_t before = 0; before < 3; ++before) add_form(base64(key, before, std::string(kSame) + last));
  }
}

void KeyMask::add(const KeyMask& other) { forms_.insert(forms_.end(), other.forms_.begin(), other.forms_.end()); }

std::string KeyMask::hide(std::string text) const {
  for (const auto& form : forms_) {
    const std::string_view lead = std::string_view(form.text).substr(0, form.lead);
    for (auto at = text.find(lead); at != std::string::npos; at = text.find(lead, at + kHidden.size())) {
      auto end = at + lead.size();
      while (end < text.size() && end - at < form.text.size() && text[end] == form.text[end - at]) ++end;
      while (end < text.size() && hangs_on(static_cast<unsigned char>(text[end]))) ++end;
      text.replace(at, end - at, kHidden);
    }
  }
  return text;
}

std::string KeyMask::hide_in_json(std::string text) const {
  if (forms_.empty()) return text;
  if (text.find("\\u") != std::string::npos || text.find("\\/") != std::string::npos) {
    auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!json.is_discarded() && change_strings(json, [&](std::string s) { return hide(std::move(s)); }))
      text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  return hide(std::move(text));
}

}  // namespace nkigrid::model
