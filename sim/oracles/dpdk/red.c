// DPDK's RED (rte_red.h) over packets whose queue is told.
//
//   oracle-rte-red MIN MAX MAXP_INV WQ_LOG2 PACKET_NS SEED fresh|kept
//
// MIN, MAX in packets; max_p is 1 / MAXP_INV; the weight is 2^-WQ_LOG2; PACKET_NS is the idle packet's time. DPDK
// keeps one random number from drop to drop; with `fresh` each packet has its own. Standard input: a line a packet, "NS QUEUED SINCE": time, packets queued before it, and where that is 0 the time since when the queue is empty. Standard
// output: "AVERAGE ACTION": average in packets times 2^(10 + WQ_LOG2), action 0 pass, 1 forced drop, 2 early drop.
#include <rte_red.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// SplitMix64 (Steele, Lea, Flood 2014). DPDK's own numbers have 22 bits, and their remainder by up to 10^6 is not even.
static uint32_t draw(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) >> 32);
}

int main(int argc, char **argv) {
  if (argc != 8) {
    fprintf(stderr, "usage: oracle-rte-red MIN MAX MAXP_INV WQ_LOG2 PACKET_NS SEED fresh|kept < PACKETS\n");
    return 2;
  }
  struct rte_red_config config;
  struct rte_red red;
  if (rte_red_config_init(&config, (uint16_t)atoi(argv[4]), (uint16_t)atoi(argv[1]), (uint16_t)atoi(argv[2]),
                          (uint16_t)atoi(argv[3])) != 0 ||
      rte_red_rt_data_init(&red) != 0) {
    fprintf(stderr, "DPDK refuses these parameters\n");
    return 2;
  }
  const double packet = atof(argv[5]);
  uint64_t state = strtoull(argv[6], NULL, 10);
  const int fresh = strcmp(argv[7], "fresh") == 0;
  rte_red_rand_seed = (uint32_t)state;
  rte_red_rand_val = draw(&state);
  long long ns, since;
  for (unsigned queued; scanf("%lld %u %lld", &ns, &queued, &since) == 3;) {
    if (fresh) rte_red_rand_val = draw(&state);
    rte_red_mark_queue_empty(&red, 0);
    // DPDK's clock counts RTE_RED_S for each packet that the port could have sent.
    const uint64_t idle = (uint64_t)((double)(ns - since) / packet * RTE_RED_S);
    const int action = rte_red_enqueue(&config, &red, queued, idle);
    printf("%u %d\n", red.avg, action);
  }
}
