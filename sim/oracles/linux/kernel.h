/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the kernel that red.h, codel_impl.h, sch_pie.c and reciprocal_div.c use, for user space. The compiler includes this
 * file first; the headers that they name are empty files (sim/vermilion/oracle/linux.py). */
#ifndef ORACLE_KERNEL_H
#define ORACLE_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef s64 ktime_t; /* ns */

struct nla_bitfield32 {
  u32 value, selector;
};
struct nlattr;
struct netlink_ext_ack;
static inline struct nla_bitfield32 nla_get_bitfield32(const struct nlattr *attribute) {
  (void)attribute;
  return (struct nla_bitfield32){0, 0};
}
enum { TC_RED_ECN = 1, TC_RED_HARDDROP = 2, TC_RED_NODROP = 8 };
#define NL_SET_ERR_MSG_MOD(ack, text) ((void)(ack))
#define EINVAL 22
#define U32_MAX UINT32_MAX
#define WARN(condition, ...) ((void)(condition))

#define DIV_ROUND_CLOSEST(x, y) (((x) + (y) / 2) / (y))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define do_div(n, d) ((n) /= (d))
#define EXPORT_SYMBOL(name) extern int unused_##name
#define EXPORT_SYMBOL_GPL EXPORT_SYMBOL
#define BUG() abort()
static inline int fls(unsigned x) {
  return x == 0 ? 0 : 32 - __builtin_clz(x);
}

#define U64_MAX UINT64_MAX
#define BITS_PER_BYTE 8
#define NSEC_PER_SEC 1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define USEC_PER_MSEC 1000L
#define unlikely(condition) (condition)
#define typecheck(type, x) 1
#define WRITE_ONCE(x, value) ((x) = (value))
#define clamp_t(type, x, low, high) min_t(type, max((type)(x), (type)(low)), high)
static inline u64 div_u64(u64 n, u32 d) {
  return n / d;
}
static inline u32 reciprocal_scale(u32 x, u32 range) {
  return (u32)((u64)x * range >> 32);
}

/* Of the queueing disciplines: a tick of their clock is 64 ns. */
struct Qdisc;
typedef u64 psched_time_t;
#define PSCHED_NS2TICKS(ns) ((ns) >> 6)
#define PSCHED_TICKS_PER_SEC PSCHED_NS2TICKS(NSEC_PER_SEC)
#define usecs_to_jiffies(us) (us)
#define qdisc_dev(qdisc) NULL
#define qdisc_cb_private_validate(skb, size) ((void)0)
#define qdisc_skb_cb(skb) (&(skb)->cb)
psched_time_t psched_get_time(void);
u32 psched_mtu(const void *device);
void get_random_bytes(void *to, size_t bytes);

/* The program defines the clock and the random source. */
ktime_t ktime_get(void);
u64 ktime_get_ns(void);
u32 get_random_u32(void);
static inline s64 ktime_us_delta(ktime_t later, ktime_t earlier) {
  return (later - earlier) / 1000;
}

#endif
