#include "distance.h"

#include <algorithm>

namespace vermilion {

static u32 inferredInitial(u32 ttl) {
  for (u32 usual : {32u, 64u, 128u})
    if (ttl <= usual) return usual;
  return 255;
}

u32 distance(const Headers& h, const VmDistance& from) {
  const bool ip = h.is_ip4 || h.is_ip6;
  const bool option = ip && from.option && h.has_ttl_option && h.initial_ttl >= h.ttl;
  if (!option && !(ip && from.infer)) return DistanceMax;
  const u32 initial = option ? h.initial_ttl : inferredInitial(h.ttl);
  const u32 hops = initial - h.ttl;
  if (!from.share) return std::min(hops, DistanceMax);
  const bool known = option && h.final_ttl != 0 && h.final_ttl < initial;
  const u32 path = known ? initial - h.final_ttl : AssumedPathHops;
  return std::min((DistanceMax + 1) * hops / path, DistanceMax);
}

}  // namespace vermilion
