#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/grid/key_field.hpp"

namespace nkigrid::jobs {

class Fields;
class FlowMap;
struct Folders;

/// A Trainium node with the vendor's compiler and runtime.
struct NeuronSpec {
  static constexpr std::string_view kName = "neuron";
  static constexpr std::array<std::string_view, 4> kKeys = {"python", "libnrt", "cores", "compiler_flags"};

  std::string python = "auto";              ///< absolute path of the interpreter that has neuronxcc, or "auto"
  std::string libnrt = "auto";              ///< absolute path of libnrt.so, or "auto"
  std::vector<std::uint32_t> cores;         ///< NeuronCores that may be used, each once; empty: auto
  std::vector<std::string> compiler_flags;  ///< given to the compiler after our own, in this order
};

void read_own(Fields& fields, const Folders& folders, NeuronSpec& spec);
void write_own(const NeuronSpec& spec, FlowMap& map);
std::vector<KeyField> own_key_fields(const NeuronSpec& spec);

}  // namespace nkigrid::jobs
