#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/key_field.hpp"

namespace nkigrid::jobs {

class Fields;
class FlowMap;
struct Folders;

/// Where a key comes from; never the key itself.
struct KeySource {
  enum class Kind { none, env, file, command };
  Kind kind = Kind::none;
  std::string value;                 ///< variable or path
  std::vector<std::string> command;  ///< argv
  bool operator==(const KeySource&) const = default;
};

/// A header that goes with every request: a text of the grid, or a secret that is read as keys are.
struct HeaderSpec {
  std::string name;  ///< lower case
  std::string text;
  KeySource secret;  ///< kind none: `text` is the value
  bool operator==(const HeaderSpec&) const = default;
};

/// A model behind a server, whatever the server speaks.
struct Remote {
  std::string endpoint;  ///< base URL, e.g. http://gpu01:8000/v1
  std::string model;     ///< what the server calls it; default: the model's name in the grid
  KeySource key;
  std::string body;  ///< JSON of an object whose keys stand in every request as they are, or ""
  std::vector<HeaderSpec> headers;
};

/// Reads endpoint, model, key, body and headers of models.NAME.
/// @param usual_endpoint where the provider is; "": a grid must say it
Remote read_remote(Fields& fields, const Folders& folders, const std::string& model, std::string_view usual_endpoint);
void write_remote(const Remote& remote, FlowMap& map);
/// `key` alone: it stands further on.
void write_remote_key(const Remote& remote, FlowMap& map);
/// Body and the headers that are no secrets, where there are any: they may decide results.
std::vector<KeyField> remote_key_fields(const Remote& remote);

}  // namespace nkigrid::jobs
