// SPDX-License-Identifier: GPL-2.0-only
// Linux's RED (include/net/red.h), as sch_red calls it, over packets whose queue is told.
//
//   oracle-linux MIN MAX WLOG MAX_P AVPKT RATE SEED [table]
//
// MIN, MAX in bytes; the weight is 2^-WLOG; MAX_P in 2^-32; AVPKT in bytes; RATE in bit/s. Standard input: a line a packet,
// "NS QUEUED SINCE": time, bytes queued before it, and where that is 0 the time since when the queue is empty. Standard output:
// "AVERAGE ACTION": average in bytes times 2^WLOG, action 0 pass, 1 early drop, 2 forced drop. With `table`: Scell_log alone.
#include <math.h>
#include <net/red.h>
#include <stdio.h>

static ktime_t now;
static u64 random_state;

ktime_t ktime_get(void) {
  return now;
}

// SplitMix64 (Steele, Lea, Flood 2014).
u32 get_random_u32(void) {
  u64 z = random_state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (u32)((z ^ z >> 31) >> 32);
}

// The idle table that `tc` sends: entry i holds the halvings after i cells of 2^log microseconds. By tc's rule, the exponent is
// taken to base e, and the packet's time is counted in the scheduler's ticks of 64 ns; red.h reads it by microseconds.
static int idle_table(int wlog, double avpkt, double rate, u8 *table) {
  const double ticks = ceil(1e6 * avpkt * 8 / rate * (1000.0 / 64)), decay = -log(1 - ldexp(1, -wlog)) / ticks;
  int log = 0;
  while (31 / decay / (1 << log) >= 512) log++;
  for (int i = 0; i < RED_STAB_SIZE; i++) {
    const double halvings = ldexp(i, log) * decay;
    table[i] = i == RED_STAB_SIZE - 1 || halvings > 31 ? 31 : (u8)halvings;
  }
  return log;
}

int main(int argc, char **argv) {
  if (argc != 8 && argc != 9) {
    fprintf(stderr, "usage: oracle-linux MIN MAX WLOG MAX_P AVPKT RATE SEED [table]\n");
    return 2;
  }
  const int wlog = atoi(argv[3]);
  u8 table[RED_STAB_SIZE];
  const int cell = idle_table(wlog, atof(argv[5]), atof(argv[6]), table);
  if (argc == 9) {
    printf("%d\n", cell);
    return 0;
  }
  struct red_parms parms;
  struct red_vars vars = {0};
  const u32 low = (u32)strtoul(argv[1], NULL, 10), high = (u32)strtoul(argv[2], NULL, 10);
  if (!red_check_params(low, high, (u8)wlog, (u8)cell, table)) {
    fprintf(stderr, "Linux refuses these parameters\n");
    return 2;
  }
  red_set_parms(&parms, low, high, (u8)wlog, 0, (u8)cell, table, (u32)strtoul(argv[4], NULL, 10));
  red_set_vars(&vars);
  random_state = strtoull(argv[7], NULL, 10);

  long long ns, since;
  for (unsigned queued; scanf("%lld %u %lld", &ns, &queued, &since) == 3;) {
    now = ns;
    vars.qidlestart = queued == 0 ? since : 0;
    vars.qavg = red_calc_qavg(&parms, &vars, queued);
    red_end_of_idle_period(&vars);
    printf("%lu %d\n", vars.qavg, red_action(&parms, &vars, vars.qavg));
  }
}
