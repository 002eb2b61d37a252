#pragma once

#include <memory>
#include <string>

#include "runner/device/backend.hpp"
#include "runner/device/neuron/roots.hpp"

namespace nkigrid::device {

/// A Trainium node: the vendor's compiler makes NEFFs, its runtime executes them on leased NeuronCores.
/// docs/decisions/neuron.md.
/// @throws Error{config} for a compiler that cannot be driven, another SDK, another platform, or walls that `strict`
/// needs and this machine lacks; Error{external} for what is not installed or no device: each says what to do
std::unique_ptr<Backend> make_backend(const jobs::NeuronSpec& spec, const BackendSetup& setup,
                                      std::shared_ptr<BackendServers> none = {}, const NeuronRoots& roots = {});

/// What `doctor` says of this machine's Neuron parts: compiler, with the time of its import and of a small kernel;
/// runtime; cores. @throws Error{external} with the same words where one of them lacks
std::string describe_parts(const jobs::NeuronSpec& spec, const BackendSetup& setup, const NeuronRoots& roots = {});

}  // namespace nkigrid::device
