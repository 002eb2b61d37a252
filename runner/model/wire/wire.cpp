#include "runner/model/wire/wire.hpp"

#include <fmt/format.h>

namespace nkigrid::model {

std::optional<ChatReply> read_again(std::string_view raw, const jobs::ModelSpec& model) {
  return std::visit(
      [&](const auto& api) -> std::optional<ChatReply> {
        if constexpr (requires { wire_of(api); }) return wire_of(api).reply(raw);
        return std::nullopt;
      },
      model.api);
}

std::string request_body(const ChatRequest& chat, const jobs::ModelSpec& model) {
  return std::visit(
      [&](const auto& api) -> std::string {
        if constexpr (requires { wire_of(api); }) return wire_of(api).request(chat, model, {}).body;
        return "";
      },
      model.api);
}

std::string url_below(std::string_view endpoint, std::string_view path) {
  while (endpoint.ends_with('/')) endpoint.remove_suffix(1);
  return fmt::format("{}{}", endpoint, path);
}

}  // namespace nkigrid::model
