#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {

/// The next message; polls with a pause, as the runner does.
inline Incoming wait_message(Comm& comm) {
  for (;;) {
    if (auto message = comm.poll("test")) return std::move(*message);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// What every form of Comm must do; the same checks run on the loopback, on threads and under mpirun.
inline void check_ring(Comm& comm) {
  const int next = (comm.rank() + 1) % comm.size();
  const std::string big(3 << 20, static_cast<char>('a' + comm.rank()));
  comm.send(next, 7, std::string("hello\0bytes", 11), "ring");
  comm.send(next, 8, big, "ring");
  const auto first = wait_message(comm);
  const auto second = wait_message(comm);
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  EXPECT_EQ(first.source, previous);
  EXPECT_EQ(first.tag, 7);
  EXPECT_EQ(first.bytes, std::string("hello\0bytes", 11));
  EXPECT_EQ(second.tag, 8);
  EXPECT_EQ(second.bytes, std::string(3 << 20, static_cast<char>('a' + previous)));
  comm.barrier("ring end");
  EXPECT_FALSE(comm.poll("ring end").has_value());
}

}  // namespace nkigrid::mpi
