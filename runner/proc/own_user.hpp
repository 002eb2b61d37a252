#pragma once

namespace nkigrid::proc {

/// Gives up root for good: the process becomes a user, and a group, that nobody else on the machine is, where such
/// numbers are mapped, else the nobody of the system. @returns false, with errno, when neither is allowed
bool become_nobody() noexcept;

/// Whether a child of this process may, tried in one. Only root's may.
bool can_become_nobody() noexcept;

}  // namespace nkigrid::proc
