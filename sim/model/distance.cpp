#include "distance.h"

#include <algorithm>

namespace vermilion {

static u32 inferredInitial(u32 ttl) {
  for (u32 usual : {32u, 64u, 128u})
    if (ttl <= usual) return usual;
  return 255;
}

static bool isIp(const Headers& h) {
  return h.is_ip4 || h.is_ip6;
}

static bool hasInitial(const Headers& h, const VmDistance& from) {
  return isIp(h) && from.option && h.has_ttl_option && h.initial_ttl >= h.ttl;
}

// RFC 1112 and 919: 224.0.0.0 and above; RFC 4291: ff00::/8.
static bool toMany(const Headers& h) {
  return h.is_ip4 ? h.dst_addr[0] >= 0xe0000000 : h.dst_addr[3] >> 24 == 0xff;
}

bool hasDistance(const Headers& h, const VmDistance& from) {
  return isIp(h) && !toMany(h) && (hasInitial(h, from) || from.infer);
}

u32 distance(const Headers& h, const VmDistance& from) {
  const bool ip = isIp(h);
  const bool option = hasInitial(h, from);
  if (!option && !(ip && from.infer)) return DistanceMax;
  const u32 initial = option ? h.initial_ttl : inferredInitial(h.ttl);
  const u32 hops = initial - h.ttl;
  if (!from.share) return std::min(hops, DistanceMax);
  const bool known = option && h.final_ttl != 0 && h.final_ttl < initial;
  const u32 path = known ? initial - h.final_ttl : AssumedPathHops;
  return std::min((DistanceMax + 1) * hops / path, DistanceMax);
}

}  // namespace vermilion
