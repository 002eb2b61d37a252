#pragma once

#include <cstddef>

#include <httplib.h>

namespace nkigrid::cli {

/// The library's server, whose connections have bounds that the library's own have not (0.11 reads a line to its end,
/// however long, and a client may send a byte every four seconds for ever).
class BoundedServer : public httplib::Server {
 public:
  /// What a request may send and take; one that exceeds them is told 431, 413 or 408 where nothing was answered yet,
  /// and its connection ends.
  static constexpr std::size_t kMostHeadBytes = 64U << 10U;     ///< request line and headers
  static constexpr std::size_t kMostRequestBytes = 16U << 20U;  ///< head, body, and the frames of chunks around it
  static constexpr int kRequestSeconds = 60;                    ///< from its first byte to its last

 private:
  /// Called by the library for each connection that it has accepted.
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace nkigrid::cli
