#pragma once

#include <memory>

#include "runner/device/backend.hpp"
#include "runner/device/neuron/platform.hpp"

namespace nkigrid::device {

/// A Trainium node: the vendor's compiler makes NEFFs, its runtime executes them on leased NeuronCores.
/// docs/decisions/neuron.md.
/// @throws Error{config} for a compiler that cannot be driven, another SDK, another platform, or walls that `strict`
/// needs and this machine lacks; Error{external} for what is not installed or no device: each says what to do
std::unique_ptr<Backend> make_neuron_backend(const jobs::NeuronSpec& spec, const jobs::NkiOptions& options,
                                             const jobs::CheckSpec& check, const DevicePaths& paths,
                                             const NeuronRoots& roots = {});

/// What `doctor` says of this machine's Neuron parts, whichever backend a grid uses: compiler, with the time of its
/// import and of a small kernel; runtime; cores. @throws Error{external} with the same words where one of them lacks
std::string describe_neuron(const jobs::NeuronSpec& spec, const jobs::NkiOptions& options, const jobs::CheckSpec& check,
                            const DevicePaths& paths, const NeuronRoots& roots = {});

}  // namespace nkigrid::device
