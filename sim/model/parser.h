// Parses a frame's headers: the same fields as `Headers` in hw/src/vermilion/stream/Bundles.scala.
//
// Supported: Ethernet II; one tag 0x8100 (IEEE 802.1Q); 0x8100 or 0x88a8 followed by 0x8100 (802.1ad); IPv4 (RFC 791)
// with options; IPv6 (RFC 8200) with the extension headers 0 hop-by-hop, 43 routing, 60 destination, 44 fragment, 51
// authentication (RFC 4302); TCP (RFC 9293) and UDP (RFC 768).
//
// The parser reads only bytes inside the frame and inside its first 128. What does not lie there completely is unknown:
//   - IPv4: not IP unless version is 4, ihl at least 5 and the whole header there.
//   - IPv6: not IP unless version is 6 and 40 bytes there.
//   - The parser passes up to four extension headers. It stops at a fifth one, at one that is not completely there, and
//     at an AH whose length is not a multiple of 8 bytes (IPv6 requires this, RFC 4302 section 3.3.3.2.1). `proto` is
//     then the number of that header.
//   - At a fragment other than the first, it stops after the fragment header. The packet has no ports.
//
// has_ports: TCP or UDP, first fragment, 4 bytes of it there. is_tcp: has_ports, TCP and 14 bytes of it there.
// tcp_payload: is_tcp, data offset at least 5, and the packet ends after the TCP header.
//   - The end is given by the IP length (total length; payload length + 40), and by the frame if that is shorter than
//     128 bytes. For a longer frame the parser trusts the IP length.
//   - An IP length of 0 (jumbograms, some offloads) means no payload. Padding of the frame is no payload.
//   - For a first fragment its own length counts.
// ip_bytes: total length, or payload length + 40, as in the header, whatever the frame holds. 0 if the field is 0.
// vlan: the IDs (IEEE 802.1Q) of both tags, or of the only tag, or 0. Priority and DEI are not read.
// Of the other lengths in the headers, the parser uses only ihl and those of extension headers. Unknown fields are 0.
// l3_offset of a frame that is not IP is 14.
//
// TTL option (docs/ttl-option.md), of the given types: the parser searches the first 12 bytes of the IPv4 options, or
// of the options of a hop-by-hop header that is first and completely there. It passes padding and other options. The
// first option of the type decides: it is valid if its length is right and it lies completely within the options and
// those 12 bytes. An IPv4 end of options or a length below 2 ends the search. Types 0 and 1 are padding and disable the
// search.
#pragma once

#include "formats.h"
#include "records.h"

namespace vermilion {

using Headers = VmHeaders;

// Facts about the payload that the lane does not need. Code that edits payloads uses them.
struct Payload {
  u32 at = 0;              // where the header of `proto` begins; 0: not IP, or not in the first fragment
  bool divisible = false;  // no fragment, and no AH, which covers the payload
};

Headers parse(const u8* frame, u32 lenBytes, VmOptionTypes types, Payload* payload = nullptr);

// Bytes of the IP packet in a frame: ip_bytes, at most the bytes after the Ethernet header and its tags. If ip_bytes is
// 0, all of these bytes. For a frame that is not IP, the bytes after the first 14.
u32 ipBytes(const Headers& headers, u32 lenBytes);

}  // namespace vermilion
