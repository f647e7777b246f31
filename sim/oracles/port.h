// A queue behind a port, for oracles that decide at departure: the same loop drives Linux's code and the model's.
//
// Packets come from standard input, one per line, in order of time: "NS BYTES DS", DS the byte of DSCP and ECN, or 256
// for a frame without one. The port takes the next packet when it has sent the last one; NS_PER_BYTE is its rate. It asks
// an empty queue once, and then waits for a packet. For each drop and mark the sources leave out RESPOND packets, so that a
// controller finds its level.
#ifndef ORACLE_PORT_H
#define ORACLE_PORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PORT_PLACES = 1 << 14, PORT_NO_DS = 256 };

struct port_packet {
  uint64_t ns;  // of its arrival
  unsigned bytes, ds;
};

struct port {
  uint64_t ns_per_byte;
  uint64_t update_ns;  // time between two calls of port_update, or 0
  unsigned limit;      // packets
  unsigned respond;    // packets
  // State.
  struct port_packet packets[PORT_PLACES];
  unsigned first, count;
  unsigned bytes;      // in the queue
  uint64_t idle_from;  // when the last packet is sent
  int asked;           // the empty queue was asked
  unsigned drops, marks;
  uint64_t left_out;  // packets, of those that the sources answered with
};

// What an oracle defines. `port_admit` says whether a packet is queued; `port_dequeue` takes packets by `port_pop`, and
// returns the bytes of the packet that is sent, 0 if the queue is empty.
int port_admit(struct port *port, const struct port_packet *packet);
unsigned port_dequeue(struct port *port, uint64_t now);
void port_update(struct port *port, uint64_t now);

static inline struct port_packet port_pop(struct port *port) {
  const struct port_packet packet = port->packets[port->first];
  port->first = (port->first + 1) % PORT_PLACES;
  port->count--;
  port->bytes -= packet.bytes;
  return packet;
}

// Everything that happens before the time `until`.
static inline void port_advance(struct port *port, uint64_t *next_update, uint64_t until) {
  for (;;) {
    const int sends = port->count > 0 || !port->asked;
    const int updates = port->update_ns != 0 && (!sends || *next_update <= port->idle_from);
    const uint64_t at = updates ? *next_update : port->idle_from;
    if ((!sends && !updates) || at >= until) return;
    if (updates) {
      port_update(port, at);
      *next_update += port->update_ns;
    } else {
      const unsigned bytes = port_dequeue(port, at);
      port->asked = bytes == 0;
      port->idle_from = at + bytes * port->ns_per_byte;
    }
  }
}

static inline void port_run(struct port *port, FILE *in) {
  uint64_t next_update = 0;  // the first one comes after the first packet
  unsigned long long ns;
  port->asked = 1;
  for (struct port_packet packet; fscanf(in, "%llu %u %u", &ns, &packet.bytes, &packet.ds) == 3;) {
    packet.ns = ns;
    if (next_update == 0) next_update = ns + port->update_ns;
    port_advance(port, &next_update, ns);
    const uint64_t answers = (uint64_t)port->respond * (port->drops + port->marks);
    if (port->left_out < answers) {
      port->left_out++;
      continue;
    }
    if (!port_admit(port, &packet)) continue;
    if (port->count == PORT_PLACES) {
      fprintf(stderr, "more than %d packets are queued\n", PORT_PLACES);
      exit(1);
    }
    if (port->count == 0 && port->idle_from < ns) port->idle_from = ns;
    port->packets[(port->first + port->count++) % PORT_PLACES] = packet;
    port->bytes += packet.bytes;
  }
  port_advance(port, &next_update, port->update_ns ? next_update + 100 * port->update_ns : UINT64_MAX);
}

// SplitMix64 (Steele, Lea, Flood 2014): 64 random bits.
static inline uint64_t port_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

#ifdef __cplusplus
}
#endif

#endif
