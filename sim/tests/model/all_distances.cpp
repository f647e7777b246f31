// Prints all distances for the switches given as three digits (option, infer, share). First one byte for each initial
// TTL, TTL and final TTL, in this order. Then, for packets without the option, one byte for each TTL.
#include <cstdio>
#include <vector>

#include "distance.h"

int main(int, char** words) {
  using namespace vermilion;
  const VmDistance from{words[1][0] == '1', words[1][1] == '1', words[1][2] == '1'};
  std::vector<unsigned char> out;
  Headers h{};
  h.is_ip4 = h.has_ttl_option = 1;
  for (h.initial_ttl = 0; h.initial_ttl < 256; h.initial_ttl++)
    for (h.ttl = 0; h.ttl < 256; h.ttl++)
      for (h.final_ttl = 0; h.final_ttl < 256; h.final_ttl++) out.push_back(static_cast<u8>(distance(h, from)));
  h = {};
  h.is_ip6 = 1;
  for (h.ttl = 0; h.ttl < 256; h.ttl++) out.push_back(static_cast<u8>(distance(h, from)));
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : 1;
}
