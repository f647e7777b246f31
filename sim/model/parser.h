// What a frame's headers say: the same fields as `Headers` in hw/src/vermilion/stream/Bundles.scala.
//
// Understood: Ethernet II; one tag 0x8100 (IEEE 802.1Q); 0x8100 or 0x88a8 followed by 0x8100 (802.1ad); IPv4 (RFC 791)
// with options; IPv6 (RFC 8200) with the extension headers 0 hop-by-hop, 43 routing, 60 destination, 44 fragment, 51
// authentication (RFC 4302); TCP (RFC 9293) and UDP (RFC 768).
//
// Only bytes inside the frame and inside its first 128 are looked at; what does not lie there wholly is not known:
//   - IPv4: not IP unless version is 4, ihl at least 5 and the whole header there.
//   - IPv6: not IP unless version is 6 and 40 bytes there.
//   - Up to four extension headers are passed; a fifth, one not wholly there, or an AH that is no multiple of 8 bytes, as it
//     must be in IPv6 (RFC 4302 section 3.3.3.2.1), ends the walk: `proto` is its number.
//   - A fragment other than the first ends the walk behind its fragment header; it has no ports.
//   has_ports: TCP or UDP, first fragment, 4 bytes of it there. is_tcp: has_ports, TCP and 14 bytes of it there.
//   tcp_payload: is_tcp, data offset at least 5, and the packet ends behind the TCP header: by its IP length (total
//   length; payload length + 40), and by the frame where that is shorter than 128 bytes. Of a longer frame the IP length
//   is believed. An IP length of 0 (jumbograms, some offloads) is no payload, and padding of the frame is none. A first
//   fragment is judged by its own length.
// ip_bytes: total length; payload length + 40; as it stands, whatever the frame holds. A field of 0 says nothing: 0.
// vlan: the IDs (IEEE 802.1Q) of both tags, of the one tag, or 0; priority and DEI are not read.
// No other length in the headers is believed or read, but for ihl and those of extension headers. Fields not known are
// 0; l3_offset of a frame that is not IP is 14.
//
// TTL option (docs/ttl-option.md), by the types given: looked for in the first 12 bytes of the IPv4 options, or of the
// options of a hop-by-hop header that stands first and is wholly there. Padding and other options are passed. The first
// of the type decides: it is there if its length is right and it lies wholly within the options and those 12 bytes. An
// IPv4 end of options or a length below 2 ends the search. Types 0 and 1 are padding: then there is none.
#pragma once

#include "formats.h"
#include "records.h"

namespace vermilion {

using Headers = VmHeaders;

// What the lane does not need of a packet's payload, for those who change it.
struct Payload {
  u32 at = 0;              // where the header of `proto` begins; 0: not IP, or not in the first fragment
  bool divisible = false;  // no fragment, and no AH, which covers the payload
};

Headers parse(const u8* frame, u32 lenBytes, VmOptionTypes types, Payload* payload = nullptr);

// Bytes of the IP packet in a frame: ip_bytes, at most what lies behind the Ethernet header and its tags; all of that where
// ip_bytes does not say. Of a frame that is not IP what lies behind its first 14 bytes.
u32 ipBytes(const Headers& headers, u32 lenBytes);

}  // namespace vermilion
