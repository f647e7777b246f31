// SPDX-License-Identifier: GPL-2.0-only
// Linux's CoDel (include/net/codel_impl.h), as sch_codel calls it, in a queue behind a port (../port.h).
//
//   oracle-linux-codel NS_PER_BYTE LIMIT RESPOND TARGET INTERVAL MTU ECN CE_THRESHOLD CE_MASK CE_SELECTOR
//
// TARGET, INTERVAL and CE_THRESHOLD in units of 1,024 ns, MTU in bytes, LIMIT in packets. Standard output: a line each time
// the port asks for a packet: time, drops and marks so far, bytes of the packet that is sent, count, lastcount, inverse
// square root, mayDropAt or 0, dropNext, and whether it is dropping (0 where the queue is empty).
#include "../port.h"

struct sk_buff {
  struct port_packet packet;
};
static int INET_ECN_set_ce(struct sk_buff *skb) {
  return skb->packet.ds != PORT_NO_DS && (skb->packet.ds & 3) != 0;
}
static int skb_get_dsfield(struct sk_buff *skb) {
  return skb->packet.ds == PORT_NO_DS ? -1 : (int)skb->packet.ds;
}

#include <net/codel.h>
#include <net/codel_impl.h>

static struct codel_params params;
static struct codel_vars vars;
static struct codel_stats stats;
static struct port port;
static uint64_t now_ns;
static struct sk_buff buffer;  // of the packet that is looked at

u64 ktime_get_ns(void) {
  return now_ns;
}
static u32 length(const struct sk_buff *skb) {
  return skb->packet.bytes;
}
static codel_time_t enqueued(const struct sk_buff *skb) {
  return (codel_time_t)(skb->packet.ns >> CODEL_SHIFT);
}
static void drop(struct sk_buff *skb, void *ctx) {
  (void)skb;
  (void)ctx;
}
static struct sk_buff *take(struct codel_vars *v, void *ctx) {
  (void)v;
  (void)ctx;
  if (port.count == 0) return NULL;
  buffer.packet = port_pop(&port);
  return &buffer;
}

int port_admit(struct port *p, const struct port_packet *packet) {
  (void)packet;
  return p->count < p->limit;
}

unsigned port_dequeue(struct port *p, uint64_t now) {
  now_ns = now;
  const u32 before = stats.ecn_mark + stats.ce_mark;
  struct sk_buff *skb = codel_dequeue(NULL, &p->bytes, &params, &vars, &stats, length, enqueued, drop, take);
  const unsigned bytes = skb ? skb->packet.bytes : 0;
  p->marks += stats.ecn_mark + stats.ce_mark != before;  // Linux counts a packet twice that both rules mark
  p->drops = stats.drop_count;
  printf("%llu %u %u %u %u %u %u %u %u %d\n", (unsigned long long)now, p->drops, p->marks, bytes, vars.count,
         vars.lastcount, vars.rec_inv_sqrt, vars.first_above_time, vars.drop_next, bytes && vars.dropping);
  return bytes;
}

void port_update(struct port *p, uint64_t now) {
  (void)p;
  (void)now;
}

int main(int argc, char **argv) {
  if (argc != 11) {
    fprintf(stderr,
            "usage: oracle-linux-codel NS_PER_BYTE LIMIT RESPOND TARGET INTERVAL MTU ECN CE_THRESHOLD CE_MASK "
            "CE_SELECTOR\n");
    return 2;
  }
  u32 words[10];
  for (int i = 0; i < 10; i++) words[i] = (u32)strtoul(argv[i + 1], NULL, 10);
  port.ns_per_byte = words[0];
  port.limit = words[1];
  port.respond = words[2];
  codel_params_init(&params);
  codel_vars_init(&vars);
  codel_stats_init(&stats);
  params.target = words[3];
  params.interval = words[4];
  params.mtu = words[5];
  params.ecn = words[6] != 0;
  params.ce_threshold = words[7];
  params.ce_threshold_mask = (u8)words[8];
  params.ce_threshold_selector = (u8)words[9];
  port_run(&port, stdin);
}
