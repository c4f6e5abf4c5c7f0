/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet frames for fuzz lines (systems/ethernet/link/wire.h). Forged frames
 * are packets of HVIA's kernel agents. */
#include <stdlib.h>
#include <string.h>

#include "line.h"
#include "systems/ethernet/link/wire.h"
#include "systems/hvia/nic/regs_map.h"

/* values of systems/hvia/lib/agent_packets.c */
enum { AGENT_BYTES = 104, ID = 42 };

/* Writes the symbols between preamble and FCS to b as bytes, and returns their
 * number. */
static uint32_t bytes_of(const uint16_t *sym, uint32_t n, uint8_t *b)
{
	uint32_t len = n - ETH_PREAMBLE - ETH_FCS;

	for (uint32_t i = 0; i < len; i++)
		b[i] = (uint8_t)sym[ETH_PREAMBLE + i];
	return len;
}

static void seal(uint16_t *sym, uint32_t n, bool inverted)
{
	uint8_t b[FUZZ_SYMBOLS];
	uint32_t fcs;

	if (n <= ETH_PREAMBLE + ETH_FCS)
		return;
	fcs = eth_fcs(b, bytes_of(sym, n, b)) ^ (inverted ? UINT32_MAX : 0);
	for (uint32_t i = 0; i < ETH_FCS; i++)
		sym[n - ETH_FCS + i] = fcs >> 8 * i & 0xff;
}

static void agent_packet(struct fuzz_in *in, uint8_t *b)
{
	uint32_t a = (uint32_t)take(in, 2);

	eth_addr_of(b + HVIA_F_DST, a & 1);
	eth_addr_of(b + HVIA_F_SRC, !(a & 1));
	b[HVIA_F_ETHERTYPE] = HVIA_ETHERTYPE >> 8;
	b[HVIA_F_ETHERTYPE + 1] = HVIA_ETHERTYPE & 0xff;
	b[HVIA_F_TYPE] = (uint8_t)(HVIA_T_CONN_REQ + (a >> 1 & 7) % 6);
	b[HVIA_F_DST_VI] = a >> 4 & 3;
	b[HVIA_F_SRC_VI] = a >> 6 & 3;
	b[ID] = (uint8_t)(1 + (a >> 8 & 3));
	for (uint32_t k = a >> 10 & 15; k; k--) {
		uint32_t at = (uint32_t)take(in, 1) % (AGENT_BYTES - 20);

		b[20 + at] = (uint8_t)take(in, 1);
	}
}

static uint32_t forge(struct fuzz_in *in, uint16_t *sym)
{
	uint8_t b[AGENT_BYTES] = { 0 };
	uint32_t n = 0;

	agent_packet(in, b);
	for (uint32_t i = 1; i < ETH_PREAMBLE; i++)
		sym[n++] = 0x55;
	sym[n++] = 0xd5;
	for (uint32_t i = 0; i < AGENT_BYTES; i++)
		sym[n++] = b[i];
	n += ETH_FCS;
	seal(sym, n, false);
	return n;
}

static enum fuzz_passes passes(const struct weft_raw *raw)
{
	uint8_t b[FUZZ_SYMBOLS];
	uint32_t fcs = 0;

	if (raw->n <= ETH_PREAMBLE + ETH_FCS + HVIA_F_TYPE)
		return FUZZ_NOTHING;
	for (uint32_t i = 0; i < ETH_FCS; i++)
		fcs |= (uint32_t)(raw->sym[raw->n - ETH_FCS + i] & 0xff)
		       << 8 * i;
	if (fcs != eth_fcs(b, bytes_of(raw->sym, raw->n, b)))
		return FUZZ_NOTHING;
	return b[HVIA_F_TYPE] >= HVIA_T_KERNEL ? FUZZ_CONTROL : FUZZ_DATA;
}

const struct fuzz_wire fuzz_wire_eth = { seal, forge, passes };
