/* SPDX-License-Identifier: Apache-2.0 */
/* User library of the FORTH NIC: multipath and the event log (forth.md 7,
 * 10.2). */
#include "systems/forth/lib/device.h"
#include "systems/forth/lib/forth_internal.h"

struct weft_forth_note weft_forth_note_decode(uint64_t w)
{
	return (struct weft_forth_note){
		.count = forth_rnotify_count(w),
		.flow = forth_rnotify_flow(w),
		.source = forth_rnotify_source(w),
		.group = forth_rnotify_group(w),
		.bad_body = w & FORTH_RNOTIFY_BAD_BODY,
		.loss = w & FORTH_RNOTIFY_LOSS,
	};
}

void weft_forth_reseq_read(struct weft_forth *f, struct weft_forth_reseq *r_p)
{
	uint32_t counts = weft_forth_load(f, FORTH_RESEQ);
	uint32_t pool = weft_forth_load(f, FORTH_RESEQ_POOL);

	*r_p = (struct weft_forth_reseq){
		.losses = forth_reseq_losses(counts),
		.sync_lost = forth_reseq_sync_lost(counts),
		.overflows = forth_reseq_overflows(counts),
		.out_of_sync = weft_forth_load(f, FORTH_RESEQ_RX),
		.held = pool & 0xFFFF,
		.held_max = pool >> 16,
	};
}

void weft_forth_path_restart(struct weft_forth *f, uint32_t dst_mask)
{
	weft_forth_store(f, FORTH_RESEQ_TX, dst_mask);
}

void weft_forth_reseq_restart(struct weft_forth *f, uint32_t src_mask)
{
	weft_forth_store(f, FORTH_RESEQ_RX, src_mask);
}

void weft_forth_log_start(struct weft_forth *f)
{
	weft_forth_store(f, FORTH_LOG_CONTROL, FORTH_LOG_ON);
}

void weft_forth_log_start_credits(struct weft_forth *f)
{
	weft_forth_store(f, FORTH_LOG_CONTROL,
			 FORTH_LOG_ON | FORTH_LOG_CREDITS);
}

void weft_forth_log_stop(struct weft_forth *f)
{
	weft_forth_store(f, FORTH_LOG_CONTROL, 0);
}

uint32_t weft_forth_log_count(struct weft_forth *f)
{
	return weft_forth_load(f, FORTH_LOG_COUNT);
}

void weft_forth_log_read(struct weft_forth *f, uint32_t first, uint32_t n,
			 struct weft_forth_event *e_p)
{
	weft_forth_store(f, FORTH_LOG_INDEX, first);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t d[4];

		for (uint32_t k = 0; k < 4; k++)
			d[k] = weft_forth_load(f, FORTH_LOG_DATA + 4 * k);
		e_p[i] = (struct weft_forth_event){
			.time = d[0] | (uint64_t)d[1] << 32,
			.arg = d[2],
			.unit = d[3] & 0xFF,
			.event = d[3] >> 8 & 0xFF,
		};
	}
}

const char *weft_forth_unit_name(uint32_t unit)
{
	static const char *const name[LOG_UNITS] = {
		[LOG_ENGINE] = "engine",    [LOG_WRITE] = "write",
		[LOG_LINK0] = "link0",	    [LOG_LINK0 + 1] = "link1",
		[LOG_LINK0 + 2] = "link2",  [LOG_LINK0 + 3] = "link3",
		[LOG_RESEQ] = "resequence", [LOG_HOST] = "host",
	};

	return unit < LOG_UNITS ? name[unit] : "?";
}

const char *weft_forth_event_name(uint32_t event)
{
	static const char *const name[LOG_EVENTS] = {
		[LOG_START] = "start",
		[LOG_STOP] = "stop",
		[LOG_STALL] = "stall",
		[LOG_ERROR] = "error",
		[LOG_NOTIFY] = "notification",
		[LOG_INTERRUPT] = "interrupt",
		[LOG_CREDIT_OUT] = "credit sent",
		[LOG_CREDIT_IN] = "credit received",
	};

	return event < LOG_EVENTS ? name[event] : "?";
}
