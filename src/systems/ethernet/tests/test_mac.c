/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the MAC between two memories: exact times, ring wrap and DD (T-39),
 * frames fetched ahead (T-40), address filter, missed frames (T-17), frames in
 * several descriptors and buffers, pause frames, and interrupts. */
#include <string.h>

#include "macrig.h"
#include "systems/ethernet/link/mac82544_internal.h"

extern const struct weft_class weft_class_fault_bits;

enum { CABLE = 410, START = 266, RECEIVE = 668, MIN_WIRE = 576, GAP = 96 };

static weft_time_t ns(uint64_t n)
{
	return n * WEFT_NS;
}

/* The parts of a frame's time in order (hvia.md 7.1), in ns: descriptor 200,
 * bytes 240, start 266, line 576, cable 410, receiver 668, bytes 280,
 * descriptor. */
static void one_frame(void **state)
{
	struct macrig r;
	struct station *a, *b;
	weft_time_t t = ns(200 + 240), end;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	macrig_frame(a, 1, 46);
	macrig_post(a);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(macrig_nth(a, MAC_TX_DATA, 0)->time, ns(200));
	end = t + ns(START + MIN_WIRE);
	assert_int_equal(macrig_nth(a, LOG_SENT, 0)->time, end + ns(GAP));
	assert_int_equal(macrig_nth(a, MAC_TX_BACK, 0)->time, end + ns(GAP));
	assert_int_equal(macrig_nth(b, MAC_RX_DATA, 0)->time,
			 end + ns(CABLE + RECEIVE));
	assert_int_equal(macrig_nth(b, MAC_RX_BACK, 0)->time,
			 end + ns(CABLE + RECEIVE + 280));
	assert_memory_equal(b->mem + RX_BUFS, a->mem + TX_BUFS, 46);
	assert_int_equal(b->mem[RX_RING + MAC_RXD_LEN], 60); /* padded */
	assert_int_equal(b->mem[RX_RING + MAC_RXD_STATUS],
			 MAC_RX_DD | MAC_RX_EOP);
	assert_int_equal(a->mem[TX_RING + MAC_TXD_STA], MAC_STA_DD);
	assert_int_equal(mac_load(b->mac, MAC_GPRC), 1);
	assert_int_equal(mac_load(b->mac, MAC_GPRC), 0); /* read clears */
	macrig_fini(&r);
}

/* Returns the interval between full frames. If `ahead` is 0, the MAC fetches a
 * frame only after it has sent the frame before. If `ahead` is 1, the MAC
 * fetches the next frame while it sends, so that the interval is only the time
 * of a frame on the line. */
static weft_time_t interval(uint32_t ahead)
{
	struct mac_cfg cfg = MAC_CFG_DEFAULT;
	struct macrig r;
	weft_time_t t;
	uint32_t i;

	cfg.ahead = ahead;
	macrig_init(&r, &cfg, NULL, NULL);
	macrig_open(r.s[0], 8);
	macrig_open(r.s[1], 8);
	for (i = 0; i < 6; i++)
		macrig_frame(r.s[0], 1, 1514);
	macrig_post(r.s[0]);
	macrig_run(&r, WEFT_MS);
	t = macrig_nth(r.s[0], LOG_SENT, 5)->time -
	    macrig_nth(r.s[0], LOG_SENT, 4)->time;
	assert_int_equal(mac_stats(r.s[1]->mac)->rx_frames, 6);
	macrig_fini(&r);
	return t;
}

static void frames_follow_each_other_at_line_rate(void **state)
{
	assert_int_equal(interval(0), ns(12304 + 200 + 240 + START));
	assert_int_equal(interval(1), ns(12304));
}

/* T-39: both rings wrap many times. TDT == TDH means empty, and no descriptor
 * is used for two frames at once. */
static void ring_wraps_without_double_or_lost_descriptors(void **state)
{
	struct macrig r;
	struct station *a, *b;
	uint32_t i, k = 0;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	for (i = 0; i < 100; i++) {
		uint32_t from = a->tx_tail, at = k % 8;

		macrig_frame(a, 1, 60 + 11 * i);
		macrig_post(a);
		macrig_run(&r, (i + 1) * 20 * WEFT_US);
		assert_int_equal(mac_load(a->mac, MAC_TDH), a->tx_tail);
		assert_int_equal(a->mem[TX_RING + from * 16 + MAC_TXD_STA],
				 MAC_STA_DD);
		assert_memory_equal(b->mem + RX_BUFS + at * BUF,
				    a->mem + TX_BUFS + from * BUF, 60 + 11 * i);
		b->mem[RX_RING + at * 16 + MAC_RXD_STATUS] = 0;
		b->rx_tail = (b->rx_tail + 1) % 8;
		mac_store(b->mac, MAC_RDT, b->rx_tail);
		k++;
	}
	macrig_run(&r, WEFT_SEC);
	assert_int_equal(macrig_count(a, LOG_SENT), 100);
	assert_int_equal(mac_stats(b->mac)->missed, 0);
	macrig_fini(&r);
}

/* T-17: memory does not answer, so that frames fill the FIFO and later ones are
 * missed. When memory answers again, all frames are received. */
static void full_fifo_misses_frames_and_recovers(void **state)
{
	struct mac_cfg cfg = MAC_CFG_DEFAULT;
	struct macrig r;
	struct station *a, *b;
	uint32_t i;

	cfg.rx_fifo = 4 * 1514;
	cfg.ahead = 1;
	macrig_init(&r, &cfg, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 16);
	macrig_open(b, 16);
	b->blocked = true;
	for (i = 0; i < 7; i++)
		macrig_frame(a, 1, 1514);
	macrig_post(a);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(b->mac->rx.fill, 4 * 1514);
	assert_int_equal(mac_stats(b->mac)->missed, 3);
	assert_int_equal(mac_load(b->mac, MAC_MPC), 3);
	assert_true(mac_load(b->mac, MAC_ICR) & MAC_INT_RXO);
	macrig_release(b);
	macrig_frame(a, 1, 1514);
	macrig_post(a);
	macrig_run(&r, 2 * WEFT_MS);
	assert_int_equal(mac_stats(b->mac)->rx_frames, 5);
	assert_int_equal(b->mac->rx.fill, 0);
	macrig_fini(&r);
}

/* Without descriptors frames wait until RDT grants some. */
static void no_descriptors(void **state)
{
	struct macrig r;
	struct station *a, *b;
	uint32_t i;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 16);
	macrig_open(b, 8);
	for (i = 0; i < 10; i++)
		macrig_frame(a, 1, 100);
	macrig_post(a);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(mac_stats(b->mac)->rx_frames, 7);
	assert_int_equal(mac_load(b->mac, MAC_RDH), mac_load(b->mac, MAC_RDT));
	mac_store(b->mac, MAC_RDT, 2);
	macrig_run(&r, 2 * WEFT_MS);
	assert_int_equal(mac_stats(b->mac)->rx_frames, 10);
	macrig_fini(&r);
}

/* Software may store any value into the head. The ring has no descriptor at an
 * index of its length or more. Therefore the MAC fetches nothing until the head
 * is inside the ring. */
static void nothing_is_fetched_while_the_head_is_outside_the_ring(void **state)
{
	static const struct {
		uint32_t head, frames;
	} row[] = { { 7, 1 }, { 8, 0 }, { 9, 0 } };

	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct macrig r;
		struct station *b;
		uint32_t was;

		macrig_init(&r, NULL, NULL, NULL);
		b = r.s[1];
		macrig_open(r.s[0], 8);
		macrig_open(b, 8);
		mac_store(b->mac, MAC_RDT, 4);
		macrig_run(&r, WEFT_MS);
		was = macrig_count(b, MAC_RX_DESC);
		mac_store(b->mac, MAC_RDH, row[i].head);
		macrig_frame(r.s[0], 1, 100);
		macrig_post(r.s[0]);
		macrig_run(&r, 2 * WEFT_MS);
		assert_int_equal(mac_stats(b->mac)->rx_frames, row[i].frames);
		if (!row[i].frames)
			assert_int_equal(macrig_count(b, MAC_RX_DESC), was);
		mac_store(b->mac, MAC_RDH, 0);
		macrig_run(&r, 3 * WEFT_MS);
		assert_int_equal(mac_stats(b->mac)->rx_frames, 1);
		macrig_fini(&r);
	}
}

static uint64_t taken(uint32_t rctl, const uint8_t *dst)
{
	struct macrig r;
	uint64_t n;

	macrig_init(&r, NULL, NULL, NULL);
	macrig_open(r.s[0], 8);
	macrig_open(r.s[1], 8);
	mac_store(r.s[1]->mac, MAC_RCTL, rctl);
	memcpy(macrig_frame(r.s[0], 1, 64), dst, ETH_ADDR);
	macrig_post(r.s[0]);
	macrig_run(&r, WEFT_MS);
	n = mac_stats(r.s[1]->mac)->rx_frames;
	assert_int_equal(n + mac_stats(r.s[1]->mac)->filtered,
			 rctl & MAC_RCTL_EN ? 1 : 0);
	macrig_fini(&r);
	return n;
}

static void filter_takes_own_broadcast_and_promiscuous_frames(void **state)
{
	static const uint8_t group[ETH_ADDR] = { 0x01, 0, 0x5e, 1, 2, 3 };
	uint8_t own[ETH_ADDR], other[ETH_ADDR];

	eth_addr_of(own, 1);
	eth_addr_of(other, 7);
	assert_int_equal(taken(MAC_RCTL_EN, own), 1);
	assert_int_equal(taken(0, own), 0);
	assert_int_equal(taken(MAC_RCTL_EN, other), 0);
	assert_int_equal(taken(MAC_RCTL_EN | MAC_RCTL_UPE, other), 1);
	assert_int_equal(taken(MAC_RCTL_EN, eth_broadcast), 0);
	assert_int_equal(taken(MAC_RCTL_EN | MAC_RCTL_BAM, eth_broadcast), 1);
	assert_int_equal(taken(MAC_RCTL_EN, group), 0);
	assert_int_equal(taken(MAC_RCTL_EN | MAC_RCTL_MPE, group), 1);
}

/* Sends one frame from three descriptors into buffers of 256 bytes. The
 * receiver keeps the FCS. */
static void gather_scatter(void **state)
{
	struct macrig r;
	struct station *a, *b;
	uint8_t *d;
	uint32_t fcs, i;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	mac_store(b->mac, MAC_RCTL, MAC_RCTL_EN | 3 << 16);
	macrig_frame(a, 1, 700);
	d = a->mem + TX_RING;
	for (i = 0; i < 3; i++) {
		uint64_t at = TX_BUFS + i * 250;

		memcpy(d + 16 * i, &at, 8);
		d[16 * i + MAC_TXD_LEN] = i < 2 ? 250 : 200;
		d[16 * i + MAC_TXD_LEN + 1] = 0;
		d[16 * i + MAC_TXD_CMD] =
			MAC_CMD_RS | MAC_CMD_IFCS | (i == 2 ? MAC_CMD_EOP : 0);
	}
	mac_store(a->mac, MAC_TDT, 3);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(mac_stats(b->mac)->rx_frames, 1);
	for (i = 0; i < 3; i++) {
		const uint8_t *s = b->mem + RX_RING + 16 * i;

		assert_int_equal(s[MAC_RXD_STATUS],
				 i < 2 ? MAC_RX_DD : MAC_RX_DD | MAC_RX_EOP);
		assert_int_equal(s[MAC_RXD_LEN] | s[MAC_RXD_LEN + 1] << 8,
				 i < 2 ? 256 : 704 - 512);
		assert_memory_equal(b->mem + RX_BUFS + i * BUF,
				    a->mem + TX_BUFS + 256 * i,
				    i < 2 ? 256 : 188);
		assert_int_equal(d[16 * i + MAC_TXD_STA], MAC_STA_DD);
	}
	memcpy(&fcs, b->mem + RX_BUFS + 2 * BUF + 188, 4);
	assert_int_equal(fcs, eth_fcs(a->mem + TX_BUFS, 700));
	macrig_fini(&r);
}

/* Malformed descriptors are consumed and send no frame. */
static void bad_descriptors(void **state)
{
	struct macrig r;
	struct station *a;
	uint32_t i;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	macrig_open(a, 8);
	macrig_open(r.s[1], 8);
	for (i = 0; i < 5; i++)
		macrig_frame(a, 1, 100);
	a->mem[TX_RING + MAC_TXD_LEN] = 13;		    /* short */
	a->mem[TX_RING + 16 + MAC_TXD_LEN] = 0;		    /* empty */
	a->mem[TX_RING + 32 + MAC_TXD_CMD] |= MAC_CMD_DEXT; /* other format */
	a->mem[TX_RING + 48 + MAC_TXD_LEN + 1] = 0x40;	    /* long */
	macrig_post(a);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(mac_stats(a->mac)->bad_desc, 4);
	assert_int_equal(mac_stats(r.s[1]->mac)->rx_frames, 1);
	for (i = 0; i < 5; i++)
		assert_int_equal(a->mem[TX_RING + 16 * i + MAC_TXD_STA],
				 MAC_STA_DD);
	mac_store(a->mac, MAC_TDT, 4711); /* a tail outside the ring */
	macrig_run(&r, 2 * WEFT_MS);
	assert_int_equal(macrig_count(a, LOG_SENT), 5);
	macrig_fini(&r);
}

/* A pause stops frames for exactly its time. A frame that has begun is sent to
 * its end first. */
static void pause_stops_frames_for_exactly_its_time(void **state)
{
	struct macrig r;
	struct station *a, *b;
	weft_time_t heard;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	mac_store(a->mac, MAC_CTRL, MAC_CTRL_RFCE);
	eth_addr_of(macrig_frame(b, 0, 60), 0);
	memcpy(b->mem + TX_BUFS, eth_pause_group, ETH_ADDR);
	memcpy(b->mem + TX_BUFS + 12, "\x88\x08\0\x01\0\x40", 6); /* 64 */
	macrig_post(b);
	heard = ns(200 + 240 + START + MIN_WIRE + CABLE);
	macrig_run(&r, heard);
	macrig_frame(a, 1, 60);
	macrig_post(a);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(macrig_nth(a, LOG_SENT, 0)->time,
			 heard + ns(64 * 512 + MIN_WIRE + GAP));
	assert_int_equal(mac_load(a->mac, MAC_XOFFRXC), 1);
	assert_int_equal(mac_stats(a->mac)->rx_frames, 0);
	macrig_fini(&r);
}

/* Three pause frames become due while a long frame is on the line. */
static void pauses_leave_in_order(void **state)
{
	static const uint16_t quanta[] = { 0, 7, 0 };
	static const uint8_t src[ETH_ADDR] = { 2 };
	struct macrig r;
	struct station *a, *b;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	mac_store(a->mac, MAC_CTRL, MAC_CTRL_RFCE);
	macrig_frame(b, 0, 1514);
	macrig_post(b);
	macrig_run(&r, 10 * WEFT_US);
	for (uint32_t i = 0; i < 3; i++)
		mac_tx_control(b->mac, eth_pause_new(r.sim, src, quanta[i]));
	macrig_run(&r, WEFT_MS);
	assert_int_equal(mac_load(a->mac, MAC_XONRXC), 2);
	assert_int_equal(mac_load(a->mac, MAC_XOFFRXC), 1);
	macrig_fini(&r);
}

/* A receiver whose FIFO fills up sends pause frames, so that no frame is
 * missed. */
static void no_loss(void **state)
{
	struct mac_cfg cfg = MAC_CFG_DEFAULT;
	struct macrig r;
	struct station *a, *b;
	uint32_t i, n = 0;

	cfg.rx_fifo = 8 * 1514;
	cfg.ahead = 1;
	macrig_init(&r, &cfg, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 64);
	macrig_open(b, 64);
	b->latency[MAC_RX_DATA] =
		30 * WEFT_US; /* the memory is slower than the line */
	mac_store(a->mac, MAC_CTRL, MAC_CTRL_RFCE);
	mac_store(b->mac, MAC_CTRL, MAC_CTRL_TFCE);
	mac_store(b->mac, MAC_FCRTH, 4 * 1514 & ~7);
	mac_store(b->mac, MAC_FCRTL, 2 * 1514 & ~7);
	mac_store(b->mac, MAC_FCTTV, 100);
	for (i = 0; i < 60; i++)
		memset(macrig_frame(a, 1, 1514) + 14, (int)i, 1500);
	macrig_post(a);
	macrig_run(&r, 10 * WEFT_MS);
	assert_int_equal(mac_stats(b->mac)->rx_frames, 60);
	assert_int_equal(mac_stats(b->mac)->missed, 0);
	assert_true(mac_load(b->mac, MAC_XOFFTXC) > 1);
	assert_true(mac_load(b->mac, MAC_XONTXC) > 0);
	for (i = 0; i < 60; i++)
		n += b->mem[RX_BUFS + i * BUF + 14] == i;
	assert_int_equal(n, 60);
	macrig_fini(&r);
}

/* RXT0 is raised after the moderation time, once for several frames. A load of
 * ICR clears RXT0. ITR sets the shortest interval between interrupts. */
static void receive_interrupt_is_moderated_and_cleared_on_read(void **state)
{
	struct mac_cfg cfg = MAC_CFG_DEFAULT;
	struct macrig r;
	struct station *a, *b;
	weft_time_t t;

	cfg.moderation = ns(6600);
	macrig_init(&r, &cfg, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	mac_store(b->mac, MAC_IMS, MAC_INT_RXT0);
	macrig_frame(a, 1, 60);
	macrig_frame(a, 1, 60);
	macrig_post(a);
	macrig_run(&r, ns(20000));
	t = macrig_nth(b, MAC_RX_BACK, 0)->time + ns(180);
	assert_int_equal(macrig_count(b, LOG_IRQ), 1);
	assert_int_equal(macrig_nth(b, LOG_IRQ, 0)->time, t + ns(6600));
	assert_int_equal(mac_load(b->mac, MAC_ICR) & MAC_INT_RXT0,
			 MAC_INT_RXT0);
	assert_false(b->irq);
	mac_store(b->mac, MAC_ITR,
		  1000); /* ITR applies from the next interrupt on */
	mac_store(b->mac, MAC_ICS, MAC_INT_RXT0);
	assert_true(b->irq);
	mac_load(b->mac, MAC_ICR);
	mac_store(b->mac, MAC_ICS, MAC_INT_RXT0);
	assert_false(b->irq);
	macrig_run(&r, WEFT_MS);
	assert_true(b->irq);
	assert_int_equal(macrig_nth(b, LOG_IRQ, 2)->time,
			 macrig_nth(b, LOG_IRQ, 1)->time + 256000 * WEFT_NS);
	mac_store(b->mac, MAC_IMC, MAC_INT_RXT0);
	assert_false(b->irq);
	macrig_fini(&r);
}

/* The time that ITR sets ends while a receive interrupt waits for its
 * moderation (RDTR). Both interrupts come at their times. */
static void interrupt_moderation_outlasts_the_shortest_interval(void **state)
{
	struct macrig r;
	struct station *a, *b;
	weft_time_t t;

	macrig_init(&r, NULL, NULL, NULL);
	a = r.s[0];
	b = r.s[1];
	macrig_open(a, 8);
	macrig_open(b, 8);
	mac_store(b->mac, MAC_ITR, 400);  /* 102.4 us */
	mac_store(b->mac, MAC_RDTR, 200); /* 204.8 us */
	mac_store(b->mac, MAC_IMS, MAC_INT_RXT0 | MAC_INT_RXO);
	mac_store(b->mac, MAC_ICS, MAC_INT_RXO);
	mac_load(b->mac, MAC_ICR);
	mac_store(b->mac, MAC_ICS, MAC_INT_RXO); /* waits for ITR */
	macrig_frame(a, 1, 60);
	macrig_post(a);
	macrig_run(&r, ns(50000));
	t = macrig_nth(b, MAC_RX_BACK, 0)->time + ns(180);
	assert_int_equal(macrig_count(b, LOG_IRQ), 1);
	macrig_run(&r, ns(150000));
	assert_int_equal(macrig_count(b, LOG_IRQ), 2);
	assert_int_equal(macrig_nth(b, LOG_IRQ, 1)->time,
			 macrig_nth(b, LOG_IRQ, 0)->time + ns(102400));
	assert_int_equal(mac_load(b->mac, MAC_ICR), MAC_INT_RXO);
	macrig_run(&r, WEFT_MS);
	assert_int_equal(macrig_count(b, LOG_IRQ), 3);
	assert_int_equal(macrig_nth(b, LOG_IRQ, 2)->time, t + ns(204800));
	assert_int_equal(mac_load(b->mac, MAC_ICR) & MAC_INT_RXT0,
			 MAC_INT_RXT0);
	macrig_fini(&r);
}

/* A store to ICR clears the bits that are ones in the stored value. Stores to
 * other registers clear no bit of ICR. */
static void store_to_icr_clears_the_bits_it_names(void **state)
{
	struct macrig r;
	struct mac *m;

	macrig_init(&r, NULL, NULL, NULL);
	m = r.s[0]->mac;
	mac_store(m, MAC_IMS, MAC_INT_RXT0);
	mac_store(m, MAC_ICS, MAC_INT_RXT0 | MAC_INT_RXO);
	assert_true(r.s[0]->irq);
	mac_store(m, 0x1234, UINT32_MAX);
	mac_store(m, MAC_GPTC, UINT32_MAX);
	assert_true(r.s[0]->irq);
	mac_store(m, MAC_ICR, MAC_INT_RXT0);
	assert_false(r.s[0]->irq);
	assert_int_equal(mac_load(m, MAC_ICR), MAC_INT_RXO);
	macrig_fini(&r);
}

/* Either MAC is reset while frames move. Afterwards three more frames must
 * arrive. */
static void mac_sends_and_receives_after_a_reset_at_any_time(void **state)
{
	uint32_t at;
	uint64_t before;

	for (at = 0; at < 40000; at += 1000) {
		struct macrig r;

		macrig_init(&r, NULL, NULL, NULL);
		macrig_open(r.s[0], 8);
		macrig_open(r.s[1], 8);
		macrig_frame(r.s[0], 1, 1514);
		macrig_frame(r.s[0], 1, 60);
		macrig_post(r.s[0]);
		macrig_run(&r, ns(at));
		mac_store(r.s[at / 1000 % 2]->mac, MAC_CTRL, MAC_CTRL_RST);
		macrig_run(&r, ns(60000));
		r.s[0]->tx_tail = 0;
		macrig_open(r.s[0], 8);
		macrig_open(r.s[1], 8);
		mac_store(r.s[0]->mac, MAC_TDH, 0);
		mac_store(r.s[0]->mac, MAC_TDT, 0);
		macrig_run(&r, WEFT_MS);
		before = mac_stats(r.s[1]->mac)->rx_frames;
		for (uint32_t i = 0; i < 3; i++)
			macrig_frame(r.s[0], 1, 100 + i);
		macrig_post(r.s[0]);
		macrig_run(&r, 2 * WEFT_MS);
		assert_int_equal(mac_stats(r.s[1]->mac)->rx_frames, before + 3);
		assert_int_equal(mac_load(r.s[0]->mac, MAC_TDH), 3);
		macrig_fini(&r);
	}
}

static void counters_keep_what_was_counted_when_stored_to(void **state)
{
	static const uint16_t reg[] = {
		MAC_CRCERRS, MAC_RXERRC,  MAC_MPC,     MAC_XONRXC,
		MAC_XONTXC,  MAC_XOFFRXC, MAC_XOFFTXC, MAC_GPRC,
		MAC_GPTC,    MAC_RUC,	  MAC_ROC,
	};
	struct macrig r;

	macrig_init(&r, NULL, NULL, NULL);
	for (uint32_t i = 0; i < sizeof(reg) / sizeof(*reg); i++) {
		mac_store(r.s[0]->mac, reg[i], UINT32_MAX);
		assert_int_equal(mac_load(r.s[0]->mac, reg[i]), 0);
	}
	macrig_open(r.s[0], 8);
	macrig_open(r.s[1], 8);
	macrig_frame(r.s[0], 1, 60);
	macrig_frame(r.s[0], 1, 60);
	macrig_post(r.s[0]);
	macrig_run(&r, WEFT_MS);
	mac_store(r.s[0]->mac, MAC_GPTC, UINT32_MAX);
	assert_int_equal(mac_load(r.s[0]->mac, MAC_GPTC), 2);
	macrig_fini(&r);
}

/* IMC and ICS are write-only, and the other offsets of the list have no
 * register. */
static void an_offset_without_a_register_loads_as_zero(void **state)
{
	static const uint16_t off[] = { MAC_IMC, MAC_ICS, 0x1234, 0x7ffc };
	struct macrig r;

	macrig_init(&r, NULL, NULL, NULL);
	for (uint32_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		assert_int_equal(mac_load(r.s[0]->mac, off[i]), 0);
	macrig_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_frame),
		cmocka_unit_test(frames_follow_each_other_at_line_rate),
		cmocka_unit_test(ring_wraps_without_double_or_lost_descriptors),
		cmocka_unit_test(full_fifo_misses_frames_and_recovers),
		cmocka_unit_test(no_descriptors),
		cmocka_unit_test(
			nothing_is_fetched_while_the_head_is_outside_the_ring),
		cmocka_unit_test(
			filter_takes_own_broadcast_and_promiscuous_frames),
		cmocka_unit_test(gather_scatter),
		cmocka_unit_test(bad_descriptors),
		cmocka_unit_test(pause_stops_frames_for_exactly_its_time),
		cmocka_unit_test(pauses_leave_in_order),
		cmocka_unit_test(no_loss),
		cmocka_unit_test(
			receive_interrupt_is_moderated_and_cleared_on_read),
		cmocka_unit_test(
			interrupt_moderation_outlasts_the_shortest_interval),
		cmocka_unit_test(
			mac_sends_and_receives_after_a_reset_at_any_time),
		cmocka_unit_test(store_to_icr_clears_the_bits_it_names),
		cmocka_unit_test(counters_keep_what_was_counted_when_stored_to),
		cmocka_unit_test(an_offset_without_a_register_loads_as_zero),
	};

	return cmocka_run_group_tests_name("mac", tests, NULL, NULL);
}
