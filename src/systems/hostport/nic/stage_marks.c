/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the Host Port that are triggered and not fetched yet, see
 * stage_marks.h. This file keeps their ids for listeners, because the device
 * itself only counts instructions (WQ_PEND). */
#include "systems/hostport/nic/functional_units.h"

const char *hp_command_name(uint32_t byte)
{
	static const char *const name[16][2] = {
		[HP_M_FAST_SEND] = { "FAST_SEND", "FAST_SEND" },
		[HP_M_FAST_PUT] = { "FAST_PUT", "FAST_PUT" },
		[HP_M_FAST_GET] = { "FAST_GET", "FAST_GET_RSP" },
		[HP_M_MIS_PUT] = { "MISALIGNED_PUT", "MISALIGNED_PUT" },
		[HP_M_FAA] = { "FAA", "FAA_RSP" },
		[HP_M_CAS] = { "CAS", "CAS_RSP" },
		[HP_M_SEND] = { "SEND", "SEND" },
		[HP_M_PUT] = { "PUT", "PUT" },
		[HP_M_GET] = { "GET", "GET_RSP" },
	};
	const char *text =
		name[HP_MAIN(byte) & 15][hp_is_get(byte) && byte & HP_RESPONSE];

	return byte == HP_B_ACK ? "ACK" : text ? text : "invalid";
}

const char *hp_in_what(const struct hp_job *j)
{
	return hp_command_name(HP_CMD_BYTE(((const struct hp_in *)j)->cmd));
}

void hp_marks_accepted(struct hp_nic *n, uint32_t vpid, uint32_t count)
{
	uint64_t id = n->marks.load;

	n->marks.load = 0;
	if (!id)
		return;
	hp_mark(n, id, "Triggerpage");
	if (!count)
		weft_msg_end(n->comp, id, false);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t one = i ? weft_msg_fork(n->comp, id) : id;

		vec_push(&n->marks.wait, (struct hp_mark_wait){ one, vpid });
	}
}

uint64_t hp_marks_take(struct hp_nic *n, uint32_t vpid)
{
	struct hp_marks *m = &n->marks;

	for (size_t i = m->head; i < m->wait.n; i++) {
		struct hp_mark_wait *w = &m->wait.at[i];
		uint64_t id = w->id;

		if (!id || w->vpid != vpid)
			continue;
		w->id = 0;
		/* removes entries that were taken at the front, so that the
		 * list does not grow */
		while (m->head < m->wait.n && !m->wait.at[m->head].id)
			m->head++;
		if (m->head <= m->wait.n / 2)
			return id;
		m->wait.n -= m->head;
		memmove(m->wait.at, m->wait.at + m->head,
			m->wait.n * sizeof(*m->wait.at));
		m->head = 0;
		return id;
	}
	return 0;
}
