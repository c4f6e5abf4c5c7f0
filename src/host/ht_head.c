/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of HyperTransport packets: contract in ht_head.h. */
#include "host/ht_head.h"

void ht_request_pack(const struct ht_head *h, uint8_t out[8])
{
	out[0] = (uint8_t)((h->seq >> 2 & 3) << 6 | (h->cmd & 0x3f));
	out[1] = (uint8_t)(h->pass_pw << 7 | (h->seq & 3) << 5 |
			   (h->unit & 0x1f));
	out[2] = (uint8_t)((h->count & 3) << 6 | (h->tag & 0x1f));
	out[3] = (uint8_t)((h->addr & 0xfc) | (h->count >> 2 & 3));
	for (uint32_t i = 4; i < 8; i++)
		out[i] = (uint8_t)(h->addr >> 8 * (i - 3));
}

void ht_request_parse(const uint8_t in[8], struct ht_head *h)
{
	*h = (struct ht_head){
		.cmd = in[0] & 0x3f,
		.seq = (uint8_t)(in[0] >> 6 << 2 | (in[1] >> 5 & 3)),
		.pass_pw = in[1] >> 7,
		.unit = in[1] & 0x1f,
		.tag = in[2] & 0x1f,
		.count = (uint8_t)(in[2] >> 6 | (in[3] & 3) << 2),
		.addr = in[3] & 0xfc,
	};
	for (uint32_t i = 4; i < 8; i++)
		h->addr |= (uint64_t)in[i] << 8 * (i - 3);
}

void ht_answer_pack(const struct ht_head *h, uint8_t out[4])
{
	out[0] = h->cmd & 0x3f;
	out[1] = (uint8_t)(h->pass_pw << 7 | (h->unit & 0x1f));
	out[2] = (uint8_t)((h->count & 3) << 6 | h->error << 5 |
			   (h->tag & 0x1f));
	out[3] = h->count >> 2 & 3;
}

void ht_answer_parse(const uint8_t in[4], struct ht_head *h)
{
	*h = (struct ht_head){
		.cmd = in[0] & 0x3f,
		.pass_pw = in[1] >> 7,
		.unit = in[1] & 0x1f,
		.tag = in[2] & 0x1f,
		.error = in[2] >> 5 & 1,
		.count = (uint8_t)(in[2] >> 6 | (in[3] & 3) << 2),
	};
}
