#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "jobs/grid/grid.hpp"
#include "runner/model/chat.hpp"
#include "runner/model/http.hpp"

/// What the requests of all wires have in common.
namespace nkigrid::model {

/// One key of a body whose value is JSON already.
struct WrittenKey {
  std::string key = {};  ///< "": none
  std::string json = {};
};

/// A POST of JSON below the endpoint, with what the grid adds to every request (`body`, `headers`).
HttpRequest post_json(const jobs::Remote& remote, std::string_view path, nlohmann::json body,
                      const WrittenKey& written = {});

/// Arguments of an earlier call as an object: mended, or `{"_invalid": "<text>"}` where they are none. Some servers
/// parse the history and would answer 400 for ever.
nlohmann::json sendable_arguments(const std::string& arguments);

/// A tool's name as a server takes it back: what a model calls may be no name at all, and servers refuse a conversation
/// for ever that holds one of other signs than letters, digits, `_` and `-`, of none, or of more than 64.
std::string sendable_name(const std::string& name);

/// A text of nothing but spaces: as a block of its own it is refused.
bool is_blank(std::string_view text);

/// Ids of calls as a server can take them back. Some give none, or the same ones in every turn, and then refuse a
/// conversation in which two are equal.
class CallIds {
 public:
  /// Of a call: as it is where it is new.
  std::string of_call(const std::string& id);
  /// Of an answer: that of the first call of this id that has none.
  std::string of_answer(const std::string& id);

 private:
  std::set<std::string> used_;
  std::map<std::string, std::deque<std::string>> open_;
  std::size_t made_ = 0;
};

/// Consecutive messages that stand in one message of Messages and Converse: answers of tools and what the user says
/// after them are the user's, and sides take turns.
struct Side {
  bool assistant = false;
  std::vector<const Message*> messages;
};

/// The sides of a conversation, its system messages left out. A reply without text, call or thought is none: those apis
/// refuse a message that is empty.
std::vector<Side> sides_of(const std::vector<Message>& messages);

/// What the system messages say.
std::string system_text(const std::vector<Message>& messages);

}  // namespace nkigrid::model
