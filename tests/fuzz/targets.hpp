#pragma once

#include <string_view>

/// What is fuzzed: parsers of bytes that a foreigner writes. Each takes any bytes, and either reads them or refuses
/// them with the error that its callers expect; it traps (a check fails, a signal, another exception) where that is not
/// so. The suite replays a corpus through each; `./bootstrap fuzz` runs each under libFuzzer.
namespace nkigrid::fuzz {

void grid(std::string_view bytes);        ///< a grid file
void journal(std::string_view bytes);     ///< records in fragments with right CRCs, by a script in the bytes
void segment(std::string_view bytes);     ///< an HDF5 file, in memory
void program(std::string_view bytes);     ///< a traced kernel
void reply(std::string_view bytes);       ///< an answer of an openai server, and what is made of it
void stream(std::string_view bytes);      ///< the same in server-sent events
void extraction(std::string_view bytes);  ///< a model's text: code and calls in it
void frames(std::string_view bytes);      ///< what a child writes on its socket
void slurm_text(std::string_view bytes);  ///< arrays and node lists as a controller writes them

}  // namespace nkigrid::fuzz
