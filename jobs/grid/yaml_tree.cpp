#include "jobs/grid/yaml_tree.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/core.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "jobs/base/text.hpp"
#include "jobs/grid/yaml_trouble.hpp"

namespace nkigrid::jobs {
namespace {

/// Anchors keep and aliases copy what they name; a few lines of nested ones would fill memory without a bound.
constexpr std::size_t kMaxNodes = 500'000;

/// What we refuse, of text that YAML itself takes: no slip is to be looked for.
struct Refused final : YAML::ParserException {
  using YAML::ParserException::ParserException;
};

Place place_in(const YAML::Mark& mark, std::uint32_t source) {
  if (mark.is_null()) return {0, 0, source};
  return {static_cast<std::uint32_t>(mark.line) + 1, static_cast<std::uint32_t>(mark.column) + 1, source};
}

Place in(Place place, std::uint32_t source) { return {place.line, place.col, source}; }

std::size_t count_nodes(const YamlNode& node) {
  std::size_t count = 1;
  for (const auto& item : node.items) count += count_nodes(item);
  return count;
}

/// Whether the quoted scalar at `at` ends before the file does. yaml-cpp 0.7 takes the rest of the file for
/// it when nothing closes it.
bool is_closed(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == '!' || text[at] == '&')) {  // its tag and anchor come first
    at = text.find_first_of(" \t\r\n", at);
    at = text.find_first_not_of(" \t\r\n", std::min(at, text.size()));
  }
  if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) return true;  // a tagged plain or block scalar
  const char quote = text[at];
  for (++at; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return true;
      ++at;  // '' is a quote inside
    }
  }
  return false;
}

/// Builds the tree from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Problems& problems, std::uint32_t source)
      : text_(text), problems_(problems), source_(source) {}

  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(node(YamlNode::Kind::null, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    count_copy(anchors_[anchor], mark);
    YamlNode copy = anchors_[anchor];
    copy.place = place_of(mark);
    add_leaf(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode scalar = node(YamlNode::Kind::scalar, mark);
    scalar.text = value;
    scalar.quoted = tag != "?";
    if (scalar.quoted && !is_closed(text_, static_cast<std::size_t>(mark.pos)))
      throw YAML::ParserException(mark, "a quote that nothing closes");
    if (!scalar.quoted && (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL")) {
      scalar.kind = YamlNode::Kind::null;
    }
    add_leaf(std::move(scalar), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back({node(YamlNode::Kind::list, mark), anchor, {}, {}, false});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back({node(YamlNode::Kind::map, mark), anchor, {}, {}, false});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::string key;
    Place key_place;
    bool has_key = false;
  };

  Place place_of(const YAML::Mark& mark) const { return place_in(mark, source_); }
  YamlNode node(YamlNode::Kind kind, const YAML::Mark& mark) {
    if (++nodes_ > kMaxNodes) throw Refused(mark, "the document is too large");
    YamlNode made;
    made.kind = kind;
    made.place = place_of(mark);
    return made;
  }
  void count_copy(const YamlNode& copied, const YAML::Mark& mark) {
    nodes_ += count_nodes(copied);
    if (nodes_ > kMaxNodes) throw Refused(mark, "the document is too large; write out its aliases");
  }
  void add_leaf(YamlNode leaf, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = leaf;
    attach(std::move(leaf));
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.node.kind == YamlNode::Kind::map) report_duplicates(done.node);
    if (done.anchor != 0) {
      count_copy(done.node, YAML::Mark::null_mark());
      anchors_[done.anchor] = done.node;
    }
    attach(std::move(done.node));
  }
  void attach(YamlNode child) {
    if (open_.empty()) {
      root_ = std::move(child);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::map && !parent.has_key) {
      if (child.kind != YamlNode::Kind::scalar)
        problems_.add(child.place, fmt::format("a key must be a word, not {}", describe(child)));
      parent.key = std::move(child.text);
      parent.key_place = child.place;
      parent.has_key = true;
      return;
    }
    child.key = std::exchange(parent.key, {});
    child.key_place = std::exchange(parent.key_place, {});
    if (child.kind == YamlNode::Kind::null && child.place > child.key_place)
      child.place = child.key_place;  // nothing stands nowhere: the parser names what comes next
    parent.has_key = false;
    parent.node.items.push_back(std::move(child));
  }
  void report_duplicates(const YamlNode& map) {
    std::map<std::string_view, Place> first;
    for (const auto& item : map.items) {
      const auto [at, is_new] = first.emplace(item.key, item.key_place);
      if (!is_new) {
        problems_.add(item.key_place,
                      fmt::format("duplicate key '{}' (first at line {}); keep one", item.key, at->second.line));
      }
    }
  }

  std::string_view text_;
  Problems& problems_;
  std::uint32_t source_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  YamlNode root_;
  std::size_t nodes_ = 0;
};

}  // namespace

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "empty";
    case YamlNode::Kind::list:
      return "a list";
    case YamlNode::Kind::map:
      return "a map";
    case YamlNode::Kind::scalar:
      break;
  }
  const auto shown = elide_middle(node.text, 100);
  return node.quoted ? fmt::format("the text '{}'", shown) : fmt::format("'{}'", shown);
}

std::optional<YamlNode> parse_yaml(std::string_view text, Problems& problems, std::uint32_t source) {
  if (const auto trouble = not_a_text(text)) {
    problems.add(in(trouble->place, source), trouble->message);
    return std::nullopt;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.substr(0, 3) == kByteOrderMark) text.remove_prefix(3);
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, problems, source);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second(text, problems, source);
    if (parser.HandleNextDocument(second)) {
      problems.add(second.take_root().place, "a second document in the file; keep one");
      return std::nullopt;
    }
  } catch (const Refused& error) {
    problems.add(place_in(error.mark, source), fmt::format("broken YAML: {}", error.msg));
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    const auto slip = likely_slip(text);
    problems.add(slip ? in(slip->place, source) : place_in(error.mark, source),
                 fmt::format("broken YAML: {}", slip ? slip->message : error.msg));
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace nkigrid::jobs
