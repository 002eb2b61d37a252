#include "runner/nkisim/estimate/residence.hpp"

#include <algorithm>
#include <type_traits>

#include "runner/nkisim/program/ranges.hpp"
#include "runner/nkisim/program/walk.hpp"

namespace nkigrid::nkisim {
namespace {

constexpr double kSbufLiveBytes = 22.0 * (1 << 20);  ///< of the 24 MiB, what tensors get

}  // namespace

Residence::Residence(const Program& program)
    : program_(program), homes_(homes_of(program)), tenants_(program.buffers.size()) {
  path_.push_back(0);
  survey(program.body, true);
  for (std::uint32_t b = 0; b < tenants_.size(); ++b) {
    if (tenants_[b].placed && tenants_[b].first) by_region_[tenants_[b].region].push_back(b);
  }
  peak_of(program.body, nullptr);
}

Overflow Residence::overflow_of(const Loop* region) const {
  const auto found = overflows_.find(region);
  return found == overflows_.end() ? Overflow{} : found->second;
}

/// @param is_body a branch's nodes stand where the branch stands
void Residence::survey(const Block& nodes, bool is_body) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (is_body) path_.back() = k;
    std::visit(
        [&](const auto& what) {
          using What = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<What, Loop>) {
            survey(what);
          } else if constexpr (std::is_same_v<What, If>) {
            survey(what.then_body, false);
            survey(what.else_body, false);
          } else if constexpr (std::is_same_v<What, Alloc>) {
            if (program_.buffers[what.buffer].kind != BufferKind::sbuf) return;
            Tenant& tenant = tenants_[what.buffer];
            const Home& home = homes_[what.buffer];
            tenant.region = home.loop != nullptr ? home.loop : (loops_.empty() ? nullptr : loops_.back());
            tenant.bytes = static_cast<double>(home.bytes);
            tenant.placed = true;
          } else {
            uses(what);
          }
        },
        nodes[k].what);
  }
}

void Residence::survey(const Loop& loop) {
  loops_.push_back(&loop);
  path_.push_back(0);
  survey(loop.body, true);
  path_.pop_back();
  loops_.pop_back();
}

template <class Op>
void Residence::uses(const Op& op) {
  for_each_access(op, [&](const Access& access, bool written) {
    use(access, written, op.head.instr == Instr::load);
    if (written && accumulates(op)) use(access, false, false);
    if (access.dynamic) use(*access.dynamic, false, false);
  });
}

void Residence::use(const Access& access, bool written, bool by_load) {
  Tenant& tenant = tenants_[root_of(program_, access.buffer)];
  if (!tenant.placed) return;
  std::size_t depth = 0;  // of the region's body
  if (tenant.region != nullptr) {
    const auto at = std::find(loops_.begin(), loops_.end(), tenant.region);
    if (at == loops_.end()) return;
    depth = static_cast<std::size_t>(at - loops_.begin()) + 1;
  }
  if (!tenant.first) tenant.first = path_[depth];
  tenant.last = path_[depth];
  const double sweeps = sweeps_of(access, depth);
  double& most = written ? tenant.write_sweeps : tenant.read_sweeps;
  most = std::max(most, sweeps);
  if (written) {
    ++tenant.writers;
    tenant.loads += by_load ? 1 : 0;
    return;
  }
  tenant.more_sweeps += sweeps - 1;
}

/// How often the open loops from `depth` inwards go over what they touch of a tensor: the trips of those that do not
/// move it.
double Residence::sweeps_of(const Access& access, std::size_t depth) const {
  double sweeps = 1;
  for (std::size_t k = depth; k < loops_.size() && !moves(access, *loops_[k]); ++k)
    sweeps *= static_cast<double>(loops_[k]->trips);
  return sweeps;
}

bool Residence::moves(const Access& access, const Loop& loop) const {
  return std::any_of(access.dims.begin(), access.dims.end(), [&](const Index& dim) {
    return std::any_of(dim.base.terms.begin(), dim.base.terms.end(), [&](const Term& term) {
      const Atom& atom = program_.atoms[term.atom];
      return atom.kind == Atom::Kind::loop && atom.id == loop.id;
    });
  });
}

/// Bytes that a region wants at once, at most what there is: what is beyond it has been charged as overflow.
double Residence::peak_of(const Block& body, const Loop* region) {
  std::vector<double> demand(body.size() + 1, 0.0);  // by node
  const std::vector<std::uint32_t>& tenants = by_region_[region];
  for (const std::uint32_t id : tenants) {
    demand[*tenants_[id].first] += tenants_[id].bytes;
    demand[*tenants_[id].last + 1] -= tenants_[id].bytes;
  }
  for (std::size_t k = 1; k < demand.size(); ++k) demand[k] += demand[k - 1];
  std::vector<double> standing = demand;
  within(body, 0, true, demand);
  const auto most = std::max_element(demand.begin(), demand.end());
  const auto at = static_cast<std::size_t>(most - demand.begin());
  double excess = *most - kSbufLiveBytes;
  // The largest block tensors make room. What was only loaded is loaded again where it is read.
  std::vector<std::uint32_t> movable;
  for (const std::uint32_t id : tenants) {
    const bool lives = *tenants_[id].first <= at && at <= *tenants_[id].last;
    if (lives && program_.buffers[id].partition_dim > 0) movable.push_back(id);
  }
  std::stable_sort(movable.begin(), movable.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return tenants_[a].bytes > tenants_[b].bytes; });
  for (const std::uint32_t id : movable) {
    if (excess <= 0) break;
    excess -= evict(tenants_[id], excess, overflows_[region]);
    for (std::size_t k = *tenants_[id].first; k <= *tenants_[id].last; ++k) standing[k] -= tenants_[id].bytes;
  }
  surround(body, 0, true, standing);
  const double peak = std::min(*most, kSbufLiveBytes);
  peaks_[region] = peak;
  return peak;
}

/// A tensor that would fit alone goes as a whole; of a larger one, what is too much. @returns the bytes that it leaves
double Residence::evict(const Tenant& tenant, double excess, Overflow& overflow) const {
  if (tenant.writers == 1 && tenant.loads == 1) {
    overflow.reloaded += tenant.bytes * tenant.more_sweeps;
    return tenant.bytes;
  }
  const double gone = tenant.bytes <= kSbufLiveBytes ? tenant.bytes : std::min(excess, tenant.bytes);
  if (tenant.read_sweeps > 0) overflow.saved += gone * tenant.write_sweeps;  // else nobody wants it back
  overflow.restored += gone * tenant.read_sweeps;
  return gone;
}

/// Adds what the loops among the nodes want. @param at the node of the region's body that a branch's nodes stand in
void Residence::within(const Block& nodes, std::size_t at, bool is_body, std::vector<double>& demand) {
  double most = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    double wanted = 0;
    if (const Loop* loop = std::get_if<Loop>(&nodes[k].what)) {
      wanted = peak_of(loop->body, loop);
    } else if (const If* branch = std::get_if<If>(&nodes[k].what)) {
      within(branch->then_body, is_body ? k : at, false, demand);
      within(branch->else_body, is_body ? k : at, false, demand);
    }
    if (is_body) demand[k] += wanted;
    most = std::max(most, wanted);
  }
  if (!is_body) demand[at] += most;
}

/// @param standing bytes of the region's own tensors that stay, by node of its body
void Residence::surround(const Block& nodes, std::size_t at, bool is_body, const std::vector<double>& standing) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (is_body) at = k;
    if (const Loop* loop = std::get_if<Loop>(&nodes[k].what)) {
      around_[loop] = standing[at];
    } else if (const If* branch = std::get_if<If>(&nodes[k].what)) {
      surround(branch->then_body, at, false, standing);
      surround(branch->else_body, at, false, standing);
    }
  }
}

double Residence::trips_saved(const Map& load, const std::vector<const Loop*>& loops) {
  const Access& from = load.sources[0].access;
  const BufferKind kind = program_.buffers[from.buffer].kind;
  const bool fixed =
      (kind == BufferKind::param || kind == BufferKind::constant) && load.head.mask.empty() && !from.dynamic;
  const bool plain = std::all_of(from.dims.begin(), from.dims.end(), [&](const Index& dim) {
    return std::all_of(dim.base.terms.begin(), dim.base.terms.end(),
                       [&](const Term& term) { return program_.atoms[term.atom].kind == Atom::Kind::loop; });
  });
  if (!fixed || !plain) return 1;
  auto bytes = static_cast<double>(size_of(program_.buffers[from.buffer].dtype));
  for (const std::int64_t extent : load.head.shape) bytes *= static_cast<double>(extent);
  double saved = 1;
  for (std::size_t k = loops.size(); k-- > 0;) {
    const Loop& loop = *loops[k];
    double around = 0;
    for (std::size_t j = 0; j <= k; ++j) around += around_[loops[j]];
    const auto trips = static_cast<double>(loop.trips);
    if (moves(from, loop)) {
      bytes *= trips;
    } else if (loop.trips > 1) {
      if (bytes + resident_[&loop] + std::min(kSbufLiveBytes, peaks_[&loop] + around) > kSbufLiveBytes) break;
      resident_[&loop] += bytes;
      saved *= trips;
    }
  }
  return saved;
}

}  // namespace nkigrid::nkisim
