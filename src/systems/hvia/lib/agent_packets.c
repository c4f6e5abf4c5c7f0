/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent: builds and parses connection packets (hvia.md 6.3). The header
 * is the one of 3.8 with two more fields at offsets 20 and 22. The layout of
 * the body is Weft's own choice, because the source prints none. The table
 * gives the offset, content and length in bytes of each field.
 *
 * 20  payload bytes of a frame of this card (REQ, ACCEPT), or
 *     next frame that the service expects (DISCONNECT)          2
 * 22  status bits of a refused frame (DISCONNECT)               2
 * 42  id of the connection                                      8
 * 50  maximum transfer size                                     4
 * 54  reliability                                               2
 * 56  flags: peer 1, RDMA write 2, RDMA read 4                  1
 * 57  length of sender's discriminator                          1
 * 58  length of receiver's discriminator                        1
 * 60  quality of service                                        8
 * 68  sender's discriminator                                   16
 * 84  receiver's discriminator                                 16 */
#include "systems/hvia/lib/agent.h"

#include <string.h>

#include "base/bytes.h"
#include "host/times.h"

enum {
	B_ID = 42,
	B_MAX = 50,
	B_LEVEL = 54,
	B_FLAGS = 56,
	B_LEN_FROM = 57,
	B_LEN_TO = 58,
	B_QOS = 60,
	B_FROM = 68,
	B_TO = 84,
	B_BYTES = 104, /* whole quadwords */
};
enum { F_PEER = 1, F_RDMA_WRITE = 2, F_RDMA_READ = 4 };
enum { B_WORD = HVIA_F_SEQ, B_ERROR = HVIA_F_LENGTH };

void agent_send(struct hvia_agent *a, struct weft_host *h,
		const struct hvia_pkt *p)
{
	uint8_t f[B_BYTES];

	memset(f, 0, B_BYTES);
	memcpy(f + HVIA_F_DST, p->mac, 6);
	memcpy(f + HVIA_F_SRC, a->mac, 6);
	f[HVIA_F_ETHERTYPE] = HVIA_ETHERTYPE >> 8;
	f[HVIA_F_ETHERTYPE + 1] = HVIA_ETHERTYPE & 0xff;
	f[HVIA_F_TYPE] = p->type;
	put_le(f + HVIA_F_DST_VI, p->dst_vi, 2);
	put_le(f + HVIA_F_SRC_VI, p->src_vi, 2);
	put_le(f + B_WORD, p->word, 2);
	put_le(f + B_ERROR, p->error, 2);
	put_le(f + B_ID, p->id, 8);
	put_le(f + B_MAX, p->attr.max_transfer, 4);
	put_le(f + B_LEVEL, p->attr.reliability, 2);
	f[B_FLAGS] = (uint8_t)((p->peer ? F_PEER : 0) |
			       (p->attr.rdma_write ? F_RDMA_WRITE : 0) |
			       (p->attr.rdma_read ? F_RDMA_READ : 0));
	f[B_LEN_FROM] = p->from.len;
	f[B_LEN_TO] = p->to.len;
	put_le(f + B_QOS, p->attr.qos, 8);
	memcpy(f + B_FROM, p->from.disc, HVIA_DISC);
	memcpy(f + B_TO, p->to.disc, HVIA_DISC);
	while (agent_load(a, h, HVIA_KTX_LENGTH))
		host_nap(h, T_hvia_turn);
	weft_io_copy(h, &a->ctrl, HVIA_KTX, f, sizeof(f));
	agent_store(a, h, HVIA_KTX_LENGTH, sizeof(f));
}

/* Quadwords of the window that carry fields. All types use the first
 * WORDS_SHORT of them. The other quadwords of the window are not read, because
 * a load takes 0.8 us. */
static const uint8_t words[] = { 0, 8, 16, 40, 48, 56, 64, 72, 80, 88, 96 };
enum { WORDS_SHORT = 5, WORDS = sizeof(words) };

enum agent_got agent_recv(struct hvia_agent *a, struct weft_host *h,
			  struct hvia_pkt *p)
{
	uint8_t f[B_BYTES] = { 0 };
	uint64_t n = agent_load(a, h, HVIA_KRX_LENGTH);
	bool ok;

	if (!n)
		return AGENT_NONE;
	for (uint32_t i = 0; i < WORDS; i++) {
		uint64_t w;

		if (i == WORDS_SHORT &&
		    (f[HVIA_F_TYPE] > HVIA_T_CONN_ACCEPT || n < B_BYTES))
			break;
		w = agent_load(a, h, HVIA_KRX + words[i]);
		memcpy(f + words[i], &w, 8);
	}
	agent_store(a, h, HVIA_KRX_LENGTH, 0);
	if (n < B_BYTES)
		return AGENT_OTHER;
	memset(p, 0, sizeof(*p));
	p->type = f[HVIA_F_TYPE];
	memcpy(p->mac, f + HVIA_F_SRC, 6);
	p->dst_vi = (uint32_t)get_le(f + HVIA_F_DST_VI, 2);
	p->src_vi = (uint32_t)get_le(f + HVIA_F_SRC_VI, 2);
	p->word = (uint16_t)get_le(f + B_WORD, 2);
	p->error = (uint16_t)get_le(f + B_ERROR, 2);
	p->id = get_le(f + B_ID, 8);
	p->attr.max_transfer = (uint32_t)get_le(f + B_MAX, 4);
	p->attr.reliability = (uint16_t)get_le(f + B_LEVEL, 2);
	p->peer = f[B_FLAGS] & F_PEER;
	p->attr.rdma_write = f[B_FLAGS] & F_RDMA_WRITE;
	p->attr.rdma_read = f[B_FLAGS] & F_RDMA_READ;
	p->attr.qos = get_le(f + B_QOS, 8);
	p->from.len = f[B_LEN_FROM];
	p->to.len = f[B_LEN_TO];
	memcpy(p->from.mac, p->mac, 6);
	memcpy(p->to.mac, f + HVIA_F_DST, 6);
	memcpy(p->from.disc, f + B_FROM, HVIA_DISC);
	memcpy(p->to.disc, f + B_TO, HVIA_DISC);
	ok = p->id && p->from.len <= HVIA_DISC && p->to.len <= HVIA_DISC &&
	     p->dst_vi < HVIA_VIS && p->src_vi < HVIA_VIS &&
	     p->type >= HVIA_T_CONN_REQ && p->type <= HVIA_T_NO_MATCH;
	return ok ? AGENT_PACKET : AGENT_OTHER;
}
