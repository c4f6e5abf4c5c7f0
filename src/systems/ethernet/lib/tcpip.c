/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of TCP over IPv4 (hvia.md 6.6): headers of 20 + 20 + 12 bytes with
 * time stamps, so that 1448 bytes of data fit. The stations have addresses
 * 10.0.h.l and port 5001, and checksums are valid. Sequence numbers count from
 * 0, because the start of a connection is not modelled. */
#include <string.h>

#include "base/bytes.h"
#include "systems/ethernet/lib/stack.h"

enum {
	TYPE = 0x0800,
	IP = 20,
	TCP = 32,
	HEAD = IP + TCP,
	PORT = 5001,
	RST_ACK = 0x14,
	ACK = 0x10,
	PSH_ACK = 0x18,
};

static uint16_t tcpip_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static uint32_t tcpip_sum16(const uint8_t *p, uint32_t n)
{
	uint32_t s = 0;

	for (; n > 1; n -= 2, p += 2)
		s += (uint32_t)get_be(p, 2);
	return n ? s + ((uint32_t)*p << 8) : s;
}

/* Returns the checksum over segment and pseudo header. */
static uint16_t tcp_sum(const uint8_t *p, uint32_t len)
{
	return tcpip_fold(tcpip_sum16(p + 12, 8) + 6 + TCP + len +
			  tcpip_sum16(p + IP, TCP + len));
}

static void tcp_put(uint8_t *p, uint32_t from, uint32_t to,
		    const struct stack_seg *g)
{
	uint8_t *t = p + IP;

	memset(p, 0, HEAD);
	p[0] = 0x45;
	put_be(p + 2, HEAD + g->len, 2);
	put_be(p + 6, 0x4000, 2); /* do not fragment */
	p[8] = 64;
	p[9] = 6;
	put_be(p + 12, 0x0a000000 | (from & 0xffff), 4);
	put_be(p + 16, 0x0a000000 | (to & 0xffff), 4);
	put_be(p + 10, tcpip_fold(tcpip_sum16(p, IP)), 2);
	put_be(t, PORT, 2);
	put_be(t + 2, PORT, 2);
	put_be(t + 4, g->seq, 4);
	put_be(t + 8, g->ack, 4);
	t[12] = TCP / 4 << 4;
	t[13] = g->reset ? RST_ACK : g->len ? PSH_ACK : ACK;
	/* The largest window, because windows are not modelled. */
	put_be(t + 14, 0xffff, 2);
	t[20] = t[21] = 1; /* options: NOP, NOP, time stamps */
	t[22] = 8;
	t[23] = 10;
	put_be(t + 16, tcp_sum(p, g->len), 2);
}

static bool tcp_get(const uint8_t *p, uint32_t len, struct stack_seg *g)
{
	uint32_t total = (uint32_t)get_be(p + 2, 2);

	if (p[0] != 0x45 || p[9] != 6 || total < HEAD || total > len ||
	    tcpip_fold(tcpip_sum16(p, IP)) || tcp_sum(p, total - HEAD))
		return false;
	*g = (struct stack_seg){ (uint32_t)get_be(p + IP + 4, 4), total - HEAD,
				 (uint32_t)get_be(p + IP + 8, 4),
				 p[IP + 13] == RST_ACK };
	return true;
}

const struct stack_proto stack_tcpip = { "TCP/IP", TYPE,    true,
					 HEAD,	   tcp_put, tcp_get };
