/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the kernel that include/net/red.h and lib/math/reciprocal_div.c use, for user space. The compiler includes this
 * file first; the headers that both name are empty files (sim/vermilion/oracle/linux.py). */
#ifndef ORACLE_KERNEL_H
#define ORACLE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
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

/* The program defines the clock and the random source. */
ktime_t ktime_get(void);
u32 get_random_u32(void);
static inline s64 ktime_us_delta(ktime_t later, ktime_t earlier) {
  return (later - earlier) / 1000;
}

#endif
