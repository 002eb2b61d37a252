#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nkigrid::model {

/// Hides keys in what a server sends: servers and proxies echo what they were sent, and what they send is logged,
/// printed and shown to models.
class KeyMask {
 public:
  /// What stands in place of a key.
  static constexpr std::string_view kHidden = "[key]";
  /// A shorter key is a placeholder ("EMPTY", "none") that hides nothing and may be a word of any reply.
  static constexpr std::size_t kLeastKey = 8;
  /// Of a key of at least kLongKey characters, its beginning gives it away, too: servers print it with asterisks.
  static constexpr std::size_t kLongKey = 20, kLead = 8;

  KeyMask() = default;
  explicit KeyMask(std::string_view key) { add(key); }

  void add(std::string_view key);
  void add(const KeyMask& other);

  /// The text without the keys, whole or from their beginning on, plain, percent-encoded or in base64 at whatever
  /// offset (standard and URL alphabet), also where JSON spells characters with escapes. What hangs on one like a part
  /// of it goes with it; every other byte stays as it is.
  std::string hide(std::string text) const;

 private:
  struct Form {
    std::string text;
    std::size_t lead = 0;  ///< so many characters of it are taken for it
  };

  std::vector<Form> forms_;
};

}  // namespace nkigrid::model
