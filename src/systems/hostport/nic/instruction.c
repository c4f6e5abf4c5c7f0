/* SPDX-License-Identifier: Apache-2.0 */
/* Table of instructions, with the fixed bits, the number of immediate words and
 * the properties of each instruction (hostport.md 5.2 to 5.5, ERR_CMD_INV of
 * 6.3). */
#include <string.h>

#include "systems/hostport/nic/nic.h"

struct form {
	uint8_t main;
	/* bits 2:0 of the command byte under the mask `fixed` must equal
	 * `value` */
	uint8_t fixed, value;
	/* mask of field L in the command byte, or 0 if the command has no L. L
	 * is the number of immediate words */
	uint8_t count;
	uint8_t least, most; /* limits of L */
	/* imm: number of immediate words of a command without L. first: index
	 * of the first immediate word */
	uint8_t imm, first;
	/* ack: bit A exists. three: has a response. rma: has a target window */
	bool ack, three, rma;
};

/* clang-format off */
static const struct form forms[] = {
	/* main          fixed value L  least most imm first A   3   RMA */
	{ HP_M_FAST_SEND, 0, 0,     7, 0,    5,   0,  3,    1,  0,  0 },
	{ HP_M_FAST_PUT,  0, 0,     3, 1,    3,   0,  5,    1,  0,  1 },
	{ HP_M_FAST_GET,  4, 0,     3, 1,    3,   0,  5,    0,  1,  1 },
	{ HP_M_MIS_PUT,   3, 0,     0, 0,    0,   1,  6,    1,  0,  1 },
	{ HP_M_FAA,       7, 2,     0, 0,    0,   1,  5,    0,  1,  1 },
	{ HP_M_CAS,       7, 3,     0, 0,    0,   2,  5,    0,  1,  1 },
	{ HP_M_SEND,      0, 0,     0, 0,    0,   0,  0,    1,  0,  0 },
	{ HP_M_PUT,       0, 0,     0, 0,    0,   0,  0,    1,  0,  1 },
	{ HP_M_GET,       4, 0,     0, 0,    0,   0,  0,    0,  1,  1 },
};
/* clang-format on */

void hp_vci_decode(struct hp_vci *v, const uint64_t *w, uint32_t vpid)
{
	uint32_t cmd = HP_VCI_CMD(w), byte = HP_CMD_BYTE(cmd), l;
	const struct form *f = forms, *end = f + sizeof(forms) / sizeof(*forms);

	while (f < end && f->main != HP_MAIN(byte))
		f++;
	l = f < end ? byte & f->count : 0;
	if (HP_CMD_ERR(cmd) || HP_CMD_GROUP(cmd) != HP_G_PORT || f == end ||
	    (byte & f->fixed) != f->value || l < f->least || l > f->most)
		f = NULL;
	*v = (struct hp_vci){ .vpid = (uint16_t)vpid,
			      .byte = (uint8_t)HP_CMD_BYTE(cmd),
			      .err = f ? HP_ERR_NOERR : HP_ERR_CMD_INV };
	memcpy(v->w, w, sizeof(v->w));
	if (!f)
		return;
	v->main = f->main;
	v->ack = f->ack && v->byte & HP_A;
	v->three = f->three;
	v->rma = f->rma;
	v->first = f->first;
	v->imm = f->count ? v->byte & f->count : f->imm;
	if (f->main == HP_M_FAST_GET)
		v->imm = 0; /* the immediate words are ignored (5.5) */
}
