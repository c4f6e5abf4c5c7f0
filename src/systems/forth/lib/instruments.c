/* SPDX-License-Identifier: Apache-2.0 */
/* User library of the FORTH RDMA NIC: control register, counters, sampler,
 * timers (forth.md 2.5-2.8, 10.1). */
#include <stddef.h>

#include "host/times.h"
#include "systems/forth/lib/forth_internal.h"

uint32_t weft_forth_load(struct weft_forth *f, uint32_t off)
{
	return weft_io_load32(f->host, &f->io, off);
}

void weft_forth_store(struct weft_forth *f, uint32_t off, uint32_t val)
{
	weft_io_store32(f->host, &f->io, off, val);
}

/* ---- control (2.6) ---- */

static void forth_control(struct weft_forth *f, uint32_t bits, bool on)
{
	f->control = on ? f->control | bits : f->control & ~bits;
	weft_forth_store(f, FORTH_CONTROL, f->control);
}

void weft_forth_enable(struct weft_forth *f, bool on)
{
	forth_control(f, FORTH_CTL_ENABLE, on);
}

void weft_forth_loopback(struct weft_forth *f, bool on)
{
	forth_control(f, FORTH_CTL_LOOP, on);
}

void weft_forth_reset(struct weft_forth *f, bool pointers)
{
	weft_forth_store(f, FORTH_CONTROL, f->control | FORTH_CTL_RESET);
	if (!pointers)
		return;
	weft_forth_store(f, FORTH_CONTROL,
			 f->control | FORTH_CTL_POINTER_RESET);
	for (uint32_t q = 0; q < f->info.queues; q++) {
		/* Slots start again at 0, but the NIC's count of departed
		 * transfers continues. */
		f->queue[q] = (struct forth_queue){ 0 };
		f->notify[q] = 0;
	}
}

void weft_forth_bench(struct weft_forth *f, uint32_t bits)
{
	weft_forth_store(f, FORTH_BENCH, bits);
}

/* ---- counters (2.5) ---- */

struct forth_counter {
	uint16_t off;	/* register */
	uint16_t field; /* offset in struct weft_forth_counters */
	bool error;
};

#define FORTH_C(reg, member)                                                   \
	{                                                                      \
		reg, offsetof(struct weft_forth_counters, member), false       \
	}
#define FORTH_E(reg, member)                                                   \
	{                                                                      \
		reg, offsetof(struct weft_forth_counters, member), true        \
	}

static const struct forth_counter forth_counters[] = {
	FORTH_C(FORTH_H2N_DMA_OPS, out.ops),
	FORTH_C(FORTH_N2H_DMA_OPS, in.ops),
	FORTH_C(FORTH_H2N_REQ, out.req),
	FORTH_C(FORTH_N2H_REQ, in.req),
	FORTH_C(FORTH_H2N_QWORD, out.qwords),
	FORTH_C(FORTH_N2H_QWORD, in.qwords),
	FORTH_C(FORTH_H2N_DMA_ACTIVE, out.active_pc),
	FORTH_C(FORTH_N2H_DMA_ACTIVE, in.active_pc),
	FORTH_C(FORTH_H2N_BUS_GRANTED, out.granted_pc),
	FORTH_C(FORTH_N2H_BUS_GRANTED, in.granted_pc),
	FORTH_C(FORTH_H2N_DISC, out.disconnects),
	FORTH_C(FORTH_N2H_DISC, in.disconnects),
	FORTH_C(FORTH_IRQ_ACTIVE, irq_pc),
	FORTH_C(FORTH_IRQ_ASSERTIONS, irqs),
	FORTH_C(FORTH_LOCAL_NOTIFY, local_notes),
	FORTH_C(FORTH_REMOTE_NOTIFY, remote_notes),
	FORTH_C(FORTH_SPLIT_OPS, split_ops),
	FORTH_C(FORTH_SPLIT_DURATION, split_pc),
	FORTH_E(FORTH_BODY_CRC_ERR, body_crc),
	FORTH_E(FORTH_HEADER_ALIGN_ERR, header_align),
	FORTH_E(FORTH_H2NET_FULL_ERR, h2net_full),
	FORTH_E(FORTH_NET2H_FULL_ERR, net2h_full),
	FORTH_C(FORTH_NET_OUT_CYCLES, out_cc),
	FORTH_C(FORTH_NET_IN_CYCLES, in_cc),
	FORTH_C(FORTH_NET_OUT_PACKETS, out_packets),
	FORTH_C(FORTH_NET_DEQ_WORDS, out_words),
	FORTH_C(FORTH_NET_IN_PACKETS, in_packets),
	FORTH_C(FORTH_NET_ENQ_WORDS, in_words),
	FORTH_E(FORTH_HEADER_CRC_ERR, header_crc),
	FORTH_E(FORTH_NET_ALIGN_ERR, net_align),
	FORTH_C(FORTH_NET_BACKPRESSURE, backpressure_cc),
	FORTH_C(FORTH_H2NET_START, h2net_start),
	FORTH_C(FORTH_NET2H_START, net2h_start),
	FORTH_E(FORTH_CREDIT_PARITY_ERR, credit_parity),
	FORTH_E(FORTH_CREDIT_LEAKED, credit_leaked),
	FORTH_E(FORTH_DESC_ERR, desc_errors),
	FORTH_C(FORTH_CREDIT_RESYNCS, resyncs),
	FORTH_C(FORTH_UNSYNC, unsync),
};
#define FORTH_N_COUNTERS (sizeof(forth_counters) / sizeof(forth_counters[0]))

void weft_forth_counters_read(struct weft_forth *f,
			      struct weft_forth_counters *c_p)
{
	for (size_t i = 0; i < FORTH_N_COUNTERS; i++)
		*(uint32_t *)((char *)c_p + forth_counters[i].field) =
			weft_forth_load(f, forth_counters[i].off);
	c_p->line_errors = 0;
	for (uint32_t off = FORTH_RIO0_UNKNOWN; off <= FORTH_RIO1_TX_FULL;
	     off += 4)
		c_p->line_errors += weft_forth_load(f, off);
}

void weft_forth_counters_clear(struct weft_forth *f)
{
	for (uint32_t off = FORTH_H2N_DMA_OPS; off <= FORTH_NET2H_FULL_ERR;
	     off += 4)
		weft_forth_store(f, off, 0);
	weft_forth_store(f, FORTH_NET_OUT_CYCLES, 0);
}

uint64_t weft_forth_counters_errors(const struct weft_forth_counters *c)
{
	uint64_t sum = c->line_errors;

	for (size_t i = 0; i < FORTH_N_COUNTERS; i++)
		if (forth_counters[i].error)
			sum += *(const uint32_t *)((const char *)c +
						   forth_counters[i].field);
	return sum;
}

/* ---- sampler (2.8) ---- */

void weft_forth_sample_start(struct weft_forth *f, uint32_t interval_pc,
			     uint32_t n)
{
	weft_forth_store(f, FORTH_SAMPLE_INTERVAL, interval_pc);
	weft_forth_store(f, FORTH_SAMPLE_COUNT, n);
}

void weft_forth_sample_read(struct weft_forth *f, uint32_t first, uint32_t n,
			    struct weft_forth_sample *s_p)
{
	weft_forth_store(f, FORTH_SAMPLE_DATA, 2 * first);
	for (uint32_t i = 0; i < n; i++) {
		s_p[i].out = weft_forth_load(f, FORTH_SAMPLE_DATA);
		s_p[i].in = weft_forth_load(f, FORTH_SAMPLE_DATA);
	}
}

/* ---- timers (2.7) and credits ---- */

void weft_forth_timer_arm(struct weft_forth *f, uint32_t value)
{
	weft_forth_store(f, FORTH_CUM_TIMER, value);
}

uint32_t weft_forth_timer_read(struct weft_forth *f)
{
	return weft_forth_load(f, FORTH_CUM_TIMER);
}

uint32_t weft_forth_timestamp(struct weft_forth *f)
{
	return weft_forth_load(f, FORTH_TIMESTAMP);
}

double weft_forth_pc_ns(struct weft_forth *f)
{
	uint32_t a, b;
	weft_time_t t;

	if (f->pc_ns > 0)
		return f->pc_ns;
	a = weft_forth_timestamp(f);
	t = weft_host_now(f->host);
	weft_host_sleep(f->host,
			t + weft_host_time(f->host, T_forth_clock_span));
	b = weft_forth_timestamp(f);
	t = weft_host_now(f->host) - t;
	f->pc_ns = (double)t / WEFT_NS / (double)(uint32_t)(b - a);
	return f->pc_ns;
}

void weft_forth_credit(struct weft_forth *f, uint32_t flow, uint32_t *sent_p,
		       uint32_t *forwarded_p)
{
	uint32_t v = weft_forth_load(f, FORTH_CREDIT_STATE + 4 * (flow % 8));

	*sent_p = v & 0xFFF;
	*forwarded_p = v >> 16 & 0xFFF;
}

/* ---- errors of the bus (2.2) ---- */

uint32_t weft_forth_bus_errors(struct weft_forth *f)
{
	static const struct {
		bool pcix;
		uint32_t bit, ours;
	} bits[] = {
		{ false, FORTH_STATUS_DATA_PARITY, WEFT_FORTH_BUS_PERR },
		{ false, FORTH_STATUS_SIG_TARGET_ABORT,
		  WEFT_FORTH_BUS_REFUSED },
		{ false, FORTH_STATUS_RCV_TARGET_ABORT,
		  WEFT_FORTH_BUS_TARGET_ABORT },
		{ false, FORTH_STATUS_RCV_MASTER_ABORT,
		  WEFT_FORTH_BUS_MASTER_ABORT },
		{ false, FORTH_STATUS_SIG_SERR, WEFT_FORTH_BUS_SERR },
		{ false, FORTH_STATUS_PARITY, WEFT_FORTH_BUS_PARITY },
		{ true, FORTH_PCIX_STATUS_DISCARDED, WEFT_FORTH_BUS_DISCARDED },
		{ true, FORTH_PCIX_STATUS_UNEXPECTED,
		  WEFT_FORTH_BUS_UNEXPECTED },
		{ true, FORTH_PCIX_STATUS_MESSAGE, WEFT_FORTH_BUS_READ_FAILED },
	};
	uint32_t ours = 0;
	uint32_t s = weft_cfg_load(f->host, f->dev, FORTH_CFG_STATUS, 2);
	uint32_t x = weft_cfg_load(f->host, f->dev, FORTH_CFG_PCIX_STATUS, 4);

	if (s == 0xFFFF || x == 0xFFFFFFFF)
		return WEFT_FORTH_BUS_SILENT;
	weft_cfg_store(f->host, f->dev, FORTH_CFG_STATUS, 2,
		       s & FORTH_STATUS_W1C);
	weft_cfg_store(f->host, f->dev, FORTH_CFG_PCIX_STATUS, 4,
		       x & FORTH_PCIX_STATUS_W1C);
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		ours |= (bits[i].pcix ? x : s) & bits[i].bit ? bits[i].ours : 0;
	return ours;
}
