// SPDX-License-Identifier: GPL-2.0-only
// Linux's PIE (net/sched/sch_pie.c), as its qdisc calls it, in a queue behind a port (../port.h).
//
//   oracle-linux-pie NS_PER_BYTE LIMIT RESPOND UPDATE TARGET ALPHA BETA MTU ECN BYTE_MODE SEED linux|rfc
//
// UPDATE in ns, TARGET in units of 64 ns, ALPHA and BETA in 1/16 per second, as tc's. The burst allowance is 150 ms. With
// `rfc`, the probability stays at 1 or below and an early verdict sets the accumulated probability to 0, as RFC 8033 has it,
// and a delay is at most 2^26 - 1 units, as in the model.
// Standard output: a line for each update: time, drops and marks so far, probability, accumulated probability, delay,
// delay before, burst allowance, bytes queued.
//
// PIE_FUNCTIONS names a file with pie_drop_early, pie_process_dequeue and pie_calculate_probability of sch_pie.c.
#include "../port.h"

struct sk_buff {
  struct {
    _Alignas(8) char data[16];
  } cb;
  u32 len;
};
static u64 clock_ticks, random_bits;
static u32 device_mtu;

#include <net/pie.h>
#include PIE_FUNCTIONS

static struct pie_params params;
static struct pie_vars vars;
static struct port port;
static u64 random_state;
static int rfc;

psched_time_t psched_get_time(void) {
  return clock_ticks;
}
u32 psched_mtu(const void *device) {
  (void)device;
  return device_mtu;
}
void get_random_bytes(void *to, size_t bytes) {
  memcpy(to, &random_bits, bytes);
}

int port_admit(struct port *p, const struct port_packet *packet) {
  random_bits = port_random(&random_state);
  int marked = 0, lost = 1;
  if (p->count < p->limit) {
    lost = pie_drop_early(NULL, &params, &vars, p->bytes, packet->bytes);
    marked = lost && params.ecn && vars.prob <= MAX_PROB / 10 && packet->ds != PORT_NO_DS && (packet->ds & 3) != 0;
  }
  p->drops += lost && !marked;
  p->marks += marked;
  if (lost && (!marked || rfc)) vars.accu_prob = 0;
  return !lost || marked;
}

unsigned port_dequeue(struct port *p, uint64_t now) {
  if (p->count == 0) return 0;
  const struct port_packet packet = port_pop(p);
  struct sk_buff skb = {.len = packet.bytes};
  get_pie_cb(&skb)->enqueue_time = packet.ns >> 6;
  clock_ticks = now >> 6;
  pie_process_dequeue(&skb, &params, &vars, p->bytes);
  if (rfc) vars.qdelay = min_t(u64, vars.qdelay, (1 << 26) - 1);
  return packet.bytes;
}

void port_update(struct port *p, uint64_t now) {
  pie_calculate_probability(&params, &vars, p->bytes);
  if (rfc && vars.prob > MAX_PROB) vars.prob = MAX_PROB;
  printf("%llu %u %u %llu %llu %llu %llu %llu %u\n", (unsigned long long)now, p->drops, p->marks,
         (unsigned long long)vars.prob, (unsigned long long)vars.accu_prob, (unsigned long long)vars.qdelay,
         (unsigned long long)vars.qdelay_old, (unsigned long long)vars.burst_time, p->bytes);
}

int main(int argc, char **argv) {
  if (argc != 13) {
    fprintf(stderr,
            "usage: oracle-linux-pie NS_PER_BYTE LIMIT RESPOND UPDATE TARGET ALPHA BETA MTU ECN BYTE_MODE SEED "
            "linux|rfc\n");
    return 2;
  }
  u64 words[11];
  for (int i = 0; i < 11; i++) words[i] = strtoull(argv[i + 1], NULL, 10);
  port.ns_per_byte = words[0];
  port.limit = (unsigned)words[1];
  port.respond = (unsigned)words[2];
  port.update_ns = words[3];
  pie_params_init(&params);
  pie_vars_init(&vars);
  params.target = words[4];
  params.alpha = (u32)words[5];
  params.beta = (u32)words[6];
  device_mtu = (u32)words[7];
  params.ecn = words[8] != 0;
  params.bytemode = words[9] != 0;
  random_state = words[10];
  rfc = strcmp(argv[12], "rfc") == 0;
  port_run(&port, stdin);
}
