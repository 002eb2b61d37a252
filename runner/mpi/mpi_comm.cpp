#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <list>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "jobs/base/error.hpp"
#include "runner/mpi/comm.hpp"

namespace nkigrid::mpi {
namespace {

/// The one place where MPI's return codes are read. They exist only because the communicators have MPI_ERRORS_RETURN:
/// under the default handler MPI ends the job first.
void check(int code, std::string_view doing, std::string_view hint) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorCode::external, fmt::format("MPI cannot {} ({}): {}", doing, hint,
                                               std::string_view(text, static_cast<std::size_t>(length))));
}

/// Longest sleep between two looks at MPI: an idle rank must not burn its core.
constexpr std::chrono::microseconds kIdlePoll{1000};

class RealComm final : public Comm {
 public:
  RealComm(int* argc, char*** argv) : exceptions_(std::uncaught_exceptions()) {
    int provided = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "initialise", "start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "duplicate the world", "start");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(comm_, &rank_), "ask the rank", "start");
    check(MPI_Comm_size(comm_, &size_), "ask the size", "start");
    if (provided < MPI_THREAD_FUNNELED) {
      throw Error(ErrorCode::external,
                  "this MPI library does not support MPI_THREAD_FUNNELED; use another build of it");
    }
  }
  ~RealComm() override {
    // Finalize waits for the other ranks: never while unwinding, when they may not come.
    if (std::uncaught_exceptions() > exceptions_) return;
    MPI_Comm_free(&comm_);
    MPI_Finalize();
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }

  void send(int destination, int tag, std::string bytes, std::string_view hint) override {
    auto& sending = sending_.emplace_back(Sending{std::move(bytes), MPI_REQUEST_NULL});
    check(MPI_Isend(sending.bytes.data(), static_cast<int>(sending.bytes.size()), MPI_BYTE, destination, tag, comm_,
                    &sending.request),
          "send", hint);
  }

  std::optional<Incoming> poll(std::string_view hint) override {
    drive_sends(hint);
    int waiting = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &waiting, &status), "probe", hint);
    if (waiting == 0) return std::nullopt;
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "count", hint);
    Incoming message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(bytes), '\0')};
    check(MPI_Recv(message.bytes.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm_, MPI_STATUS_IGNORE),
          "receive", hint);
    return message;
  }

  void barrier(std::string_view hint) override {
    MPI_Request request;
    check(MPI_Ibarrier(comm_, &request), "enter a barrier", hint);
    for (;;) {
      drive_sends(hint);
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "wait at a barrier", hint);
      if (done != 0 && sending_.empty()) return;
      std::this_thread::sleep_for(kIdlePoll);
    }
  }

  void abort(ExitCode code) override {
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    std::_Exit(static_cast<int>(code));
  }

 private:
  struct Sending {
    std::string bytes;
    MPI_Request request;
  };
  /// Oldest first, and one look at most that finds nothing: any call drives all of them along, and where ranks
  /// outnumber cores each look in vain yields the core.
  void drive_sends(std::string_view hint) {
    while (!sending_.empty()) {
      int done = 0;
      check(MPI_Test(&sending_.front().request, &done, MPI_STATUS_IGNORE), "complete a send", hint);
      if (done == 0) return;
      sending_.pop_front();
    }
  }

  int exceptions_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::list<Sending> sending_;
};

}  // namespace
}  // namespace nkigrid::mpi

// What load_mpi.cpp looks for in the plugin.
extern "C" [[gnu::visibility("default")]] nkigrid::mpi::Comm* nkigrid_make_mpi(int* argc, char*** argv) {
  return std::make_unique<nkigrid::mpi::RealComm>(argc, argv).release();
}

/// One of the few calls that MPI allows before MPI_Init (MPI 3.1, 8.1.1).
extern "C" [[gnu::visibility("default")]] const char* nkigrid_mpi_version() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return text;
}
