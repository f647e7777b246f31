// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Sends damaged messages of the netlink family, and accesses registers without the driver. For
 * tests in a guest; linked statically.
 *
 *   netlink_fuzz NETDEV RESOURCE SEED COUNT < MESSAGES
 *
 * It reads messages in the format of netlink_send and runs COUNT steps. A step sends one of the
 * messages with changes: of bytes, of lengths and types of attributes, of its end, command and
 * flags, or with parts of another message. Every eighth step accesses a random register in
 * RESOURCE, the file of BAR 0, instead. The same seed gives the same steps. It prints the number of
 * steps for each errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "netlink_hex.h"
#include "netlink_socket.h"
#include "vermilion_netlink.h"

#define LINE 16384
#define MESSAGES 256
#define REGISTERS 0x2000u /* bytes of the lane's registers that are in use */

struct sample {
	unsigned int command, length;
	unsigned char bytes[LINE / 2];
};

static struct sample samples[MESSAGES];
static unsigned int count;
static uint64_t state;

/* splitmix64: Steele, Lea, Flood, OOPSLA 2014. */
static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static unsigned int below(unsigned int limit)
{
	return limit ? draw() % limit : 0;
}

static void read_samples(unsigned int ifindex)
{
	static char line[LINE], hex[LINE];
	char word[64], how[8];

	while (count < MESSAGES && fgets(line, sizeof(line), stdin)) {
		struct sample *sample = &samples[count];
		int length;

		hex[0] = 0;
		if (sscanf(line, "%63s %u %7s %16383s", word, &sample->command, how, hex) < 3)
			continue;
		length = netlink_bytes_of(hex, sample->bytes, sizeof(sample->bytes), ifindex);
		if (length < 0)
			continue;
		sample->length = length;
		count++;
	}
}

/* The offset of a random attribute, at the top level or in a nest. Wrong lengths cannot lead the
 * walk out of the message.
 */
static unsigned int some_attribute(const struct sample *sample)
{
	unsigned int at = 0, end = sample->length, found = 0, seen = 0;

	while (at + NLA_HDRLEN <= end) {
		const unsigned int length = sample->bytes[at] | sample->bytes[at + 1] << 8;
		const int nested = sample->bytes[at + 3] & 0x80;

		if (!below(++seen))
			found = at;
		if (nested && below(2))
			at += NLA_HDRLEN;
		else
			at += length < NLA_HDRLEN ? NLA_HDRLEN : NLA_ALIGN(length);
	}
	return found;
}

static void insert(struct sample *sample, unsigned int at, const unsigned char *bytes, unsigned int length)
{
	if (at > sample->length || sample->length + length > sizeof(sample->bytes))
		return;
	memmove(sample->bytes + at + length, sample->bytes + at, sample->length - at);
	memcpy(sample->bytes + at, bytes, length);
	sample->length += length;
}

static void damage(struct sample *sample)
{
	const unsigned int at = some_attribute(sample);
	const struct sample *other = &samples[below(count)];
	unsigned int i;

	if (sample->length < NLA_HDRLEN)
		return;
	switch (below(8)) {
	case 0: /* bits of the whole message */
		for (i = below(4) + 1; i--;)
			sample->bytes[below(sample->length)] ^= 1 << below(8);
		break;
	case 1: /* another value */
		for (i = at + NLA_HDRLEN; i < at + 12 && i < sample->length; i++)
			sample->bytes[i] = below(2) ? 0xff * below(2) : draw();
		break;
	case 2: /* another length */
		sample->bytes[at] = below(2) ? below(16) : draw();
		break;
	case 3: /* another type, nested or not */
		sample->bytes[at + 2] = below(2) ? below(48) : draw();
		sample->bytes[at + 3] ^= 0x80 * below(2);
		break;
	case 4: /* a shorter message */
		sample->length = below(sample->length);
		break;
	case 5: /* the attribute once more */
		i = sample->bytes[at] | sample->bytes[at + 1] << 8;
		if (at + i <= sample->length)
			insert(sample, at, sample->bytes + at, NLA_ALIGN(i) <= sample->length - at ? NLA_ALIGN(i) : i);
		break;
	case 6: /* a piece of another message */
		insert(sample, at, other->bytes, below(other->length));
		break;
	case 7: /* noise at the end */
		for (i = below(64); i-- && sample->length < sizeof(sample->bytes);)
			sample->bytes[sample->length++] = draw();
		break;
	}
}

static int step(struct netlink_socket *nl)
{
	static const unsigned int flags[] = { NLM_F_ACK, NLM_F_ACK, NLM_F_ACK, NLM_F_DUMP, NLM_F_ACK | NLM_F_ECHO };
	static struct sample sample;
	static unsigned char out[sizeof(struct genlmsghdr) + sizeof(sample.bytes)];
	struct genlmsghdr header = { .version = VERMILION_FAMILY_VERSION };
	unsigned int i;

	sample = samples[below(count)];
	for (i = below(4); i--;)
		damage(&sample);
	header.cmd = below(8) ? sample.command : below(32);
	if (!below(32))
		header.reserved = draw();
	memcpy(out, &header, sizeof(header));
	memcpy(out + sizeof(header), sample.bytes, sample.length);
	return netlink_throw(nl, nl->family, NLM_F_REQUEST | flags[below(5)], out, sizeof(header) + sample.length);
}

static void access_register(volatile uint32_t *registers)
{
	const unsigned int at = below(REGISTERS / 4);

	if (below(2))
		(void)registers[at];
	else
		registers[at] = below(2) ? draw() : below(4);
}

int main(int argc, char **argv)
{
	static unsigned long ends[4096];
	volatile uint32_t *registers;
	struct netlink_socket nl;
	unsigned long steps, i;
	int fd, error;

	if (argc != 5) {
		fprintf(stderr, "usage: netlink_fuzz NETDEV RESOURCE SEED COUNT < MESSAGES\n");
		return 2;
	}
	read_samples(netlink_ifindex(argv[1]));
	state = strtoull(argv[3], NULL, 0);
	steps = strtoul(argv[4], NULL, 0);
	fd = open(argv[2], O_RDWR);
	registers = fd < 0 ? MAP_FAILED : mmap(NULL, REGISTERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (registers == MAP_FAILED) {
		perror(argv[2]);
		return 1;
	}
	if (!count || netlink_open(&nl))
		return 1;
	for (i = 0; i < steps; i++) {
		if (i % 8 == 7) {
			access_register(registers);
			continue;
		}
		error = step(&nl);
		ends[error >= 0 && error < 4096 ? error : 4095]++;
		if (i % 100000 == 99999)
			printf("fuzz at %lu\n", i + 1);
	}
	for (error = 0; error < 4096; error++)
		if (ends[error])
			printf("fuzz errno %d %lu\n", error, ends[error]);
	printf("fuzz ends %lu\n", steps);
	return 0;
}
