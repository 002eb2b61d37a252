#include "runner/device/shared/run_frames.hpp"

#include <nlohmann/json.hpp>

namespace nkigrid::device {
namespace {

using nlohmann::json;

void add(json& head, const IntoSlot& asked) { head["slot"] = asked.slot; }
void add(json& head, const Explain&) { head["diagnose"] = true; }
void add(json& head, const CompareOrders& asked) { head["orders"] = asked.seed; }

RunQuestion question_in(const json& head) {
  if (head.contains("diagnose")) return Explain{};
  if (head.contains("orders")) return CompareOrders{head.at("orders")};
  return IntoSlot{head.at("slot")};
}

}  // namespace

std::string first_head(const OutputLayout& layout, std::size_t slots) {
  return json{{"outputs", layout.bytes}, {"slots", slots}, {"slot_bytes", layout.slot_bytes}}.dump();
}

proc::Mapping outputs_of_first(const proc::Frame& frame) {
  const auto head = json::parse(frame.head);
  return proc::Mapping::map(frame.descriptors.at(0).get(),
                            head.at("slots").get<std::size_t>() * head.at("slot_bytes").get<std::size_t>(),
                            proc::Mapping::Access::read_write);
}

std::string run_head(const RunQuestion& question, const TensorFile& arguments, const Poison& poison) {
  json head = {{"nan_bits", poison.nan_bits},
               {"int_byte", poison.int_byte},
               {"file_bytes", arguments.mapping.size()},
               {"inputs", json::array()}};
  for (const auto& tensor : arguments.tensors) head["inputs"].push_back({tensor.offset, tensor.bytes});
  std::visit([&](const auto& asked) { add(head, asked); }, question);
  return head.dump();
}

RunFrame parse_run(const proc::Frame& frame) {
  const auto head = json::parse(frame.head);
  RunFrame run;
  run.question = question_in(head);
  run.file = proc::Mapping::map(frame.descriptors.at(0).get(), head.at("file_bytes").get<std::size_t>(),
                                proc::Mapping::Access::read_only);
  for (const auto& place : head.at("inputs"))
    run.inputs.push_back(run.file.bytes().subspan(place.at(0).get<std::size_t>(), place.at(1).get<std::size_t>()));
  run.poison = {head.at("nan_bits").get<std::uint32_t>(), head.at("int_byte").get<std::uint8_t>()};
  return run;
}

}  // namespace nkigrid::device
