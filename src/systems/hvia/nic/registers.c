/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of HVIA-GE (hvia.md 2.2, regs_map.h): configuration space,
 * doorbells, control registers, kernel packets, VI table, interrupt. */
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* ---- interrupt ---- */

void hv_irq(struct hv_nic *n, uint64_t causes)
{
	bool level;

	n->cause |= causes;
	level = n->ctrl & HVIA_CTRL_IRQ && n->cause & n->mask;
	if (level == n->irq_level)
		return;
	n->irq_level = level;
	weft_count(n->comp, HV_K_IRQS, level);
	weft_bus_of(n->bus)->irq(n->bus, level);
}

/* ---- kernel packets ---- */

void hv_kernel_packet(struct hv_nic *n, const uint8_t *p, uint32_t len)
{
	struct hv_kernel *k =
		&n->krx[(n->krx_first + n->krx_n) % n->p.kernel_rx];

	if (n->krx_n == n->p.kernel_rx || len > sizeof(k->data)) {
		hv_count(n, HV_K_KERNEL_LOST);
		return;
	}
	hv_count(n, HV_K_KERNEL_RX);
	memcpy(k->data, p, len);
	k->len = len;
	n->krx_n++;
	hv_irq(n, HVIA_INT_PACKET);
}

static uint64_t ktx_read(struct weft_comp *c, uint32_t i)
{
	const struct hv_nic *n = c->state;
	uint64_t v;

	memcpy(&v, n->ktx + 8 * i, 8);
	return v;
}

static void ktx_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hv_nic *n = c->state;

	memcpy(n->ktx + 8 * i, &val, 8);
}

static uint64_t krx_read(struct weft_comp *c, uint32_t i)
{
	const struct hv_nic *n = c->state;
	uint64_t v;

	memcpy(&v, n->krx[n->krx_first].data + 8 * i, 8);
	return v;
}

/* ---- control ---- */

enum { IDLE_MASK = HVIA_STATUS_SEND | HVIA_STATUS_RECV | HVIA_STATUS_MOVE };

static void ctrl_store(struct hv_nic *n, uint64_t val)
{
	if (val & HVIA_CTRL_RESET) {
		/* Engines end their current work. The card forgets all
		 * descriptors, posted or fetched. */
		memset(n->vi, 0, HVIA_VIS * sizeof(*n->vi));
		memset(n->pending, 0, sizeof(n->pending));
		memset(n->heads, 0, sizeof(n->heads));
		ring_clear(&n->recv.prep);
		ring_clear(&n->errors);
		vec_clear(&n->bells);
		n->err_overflow = false;
		n->err_info = 0;
		hv_apb_forget(n, ~0u);
		hv_ctrl_reset(n);
		n->cause = n->mask = 0;
		n->krx_n = 0;
		n->att.l1_count = 0;
		hv_irq(n, 0);
		hv_recv_kick(n);
		return;
	}
	if (n->ctrl & ~val & HVIA_CTRL_STOP)
		hv_apb_forget(n, ~0u);
	n->ctrl = val & 0x3f;
	hv_irq(n, 0);
	hv_send_kick(n);
	hv_recv_kick(n);
}

static uint64_t ctrl_read(struct weft_comp *c, uint32_t i)
{
	struct hv_nic *n = c->state;
	struct hv_att *a = &n->att;
	uint64_t v;
	uint64_t s;

	switch (i * 8) {
	case HVIA_ID:
		return HVIA_VERSION;
	case HVIA_CTRL:
		return n->ctrl;
	case HVIA_STATUS:
		s = n->comp->ports[HV_PORT_LINK].peer ? HVIA_STATUS_LINK : 0;
		if (n->send.state != SEND_IDLE)
			s |= HVIA_STATUS_SEND;
		if (n->recv.state != RECV_IDLE || hv_write_busy(n))
			s |= HVIA_STATUS_RECV;
		if (hv_move_left(n))
			s |= HVIA_STATUS_MOVE;
		if (n->ctrl & HVIA_CTRL_STOP && !(s & IDLE_MASK))
			s |= HVIA_STATUS_IDLE;
		return s | (uint64_t)n->gec.rx_used << 8;
	case HVIA_INT_CAUSE:
		return n->cause;
	case HVIA_INT_MASK:
		return n->mask;
	case HVIA_MAC:
		v = 0;
		memcpy(&v, n->mac, 6);
		return v;
	case HVIA_ATT_ADDR:
		return a->addr;
	case HVIA_ATT_DATA:
		return hv_sdram_load(n, (uint32_t)a->addr);
	case HVIA_ATT_L1_COUNT:
		return a->l1_count;
	case HVIA_ERR_POP:
		return ring_empty(&n->errors) ? 0 : ring_front(&n->errors)->pop;
	case HVIA_ERR_INFO:
		return n->err_info;
	case HVIA_ATT_BUSY:
		return hv_vi_holds(n, a->asked) || hv_send_uses(n, a->asked) ||
		       hv_recv_uses(n, a->asked);
	case HVIA_MOVE_FROM:
		return a->from;
	case HVIA_MOVE_TO:
		return a->to;
	case HVIA_MOVE_COUNT:
		return hv_move_left(n);
	case HVIA_ATT_HOST_L1:
		return a->host_l1;
	case HVIA_ATT_HOST_L2:
		return a->host_l2;
	case HVIA_PAYLOAD_MAX:
		return hv_payload(n);
	default:
		return 0;
	}
}

static void ctrl_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hv_nic *n = c->state;
	struct hv_att *a = &n->att;

	switch (i * 8) {
	case HVIA_CTRL:
		ctrl_store(n, val);
		break;
	case HVIA_INT_CAUSE:
		n->cause &= ~val;
		hv_irq(n, 0);
		break;
	case HVIA_INT_MASK:
		n->mask = val & 7;
		hv_irq(n, 0);
		break;
	case HVIA_MAC:
		memcpy(n->mac, &val, 6);
		mac_set_address(n->gec.mac, 0, n->mac);
		break;
	case HVIA_ATT_ADDR:
		a->addr = val % HVIA_SDRAM_BYTES & ~7ULL;
		break;
	case HVIA_ATT_DATA:
		hv_sdram_store(n, (uint32_t)a->addr, val);
		a->addr = (a->addr + 8) % HVIA_SDRAM_BYTES;
		break;
	case HVIA_ATT_L1_COUNT:
		a->l1_count = val > HVIA_SDRAM_BYTES / HVIA_L1_BYTES
				      ? HVIA_SDRAM_BYTES / HVIA_L1_BYTES
				      : (uint32_t)val;
		break;
	case HVIA_ATT_BUSY:
		a->asked = (uint32_t)val;
		hv_apb_forget(n, a->asked);
		hv_vi_forget(n, a->asked);
		break;
	case HVIA_MOVE_FROM:
		a->from = val;
		break;
	case HVIA_MOVE_TO:
		a->to = val;
		break;
	case HVIA_MOVE_COUNT:
		hv_move_start(n, val);
		break;
	case HVIA_ATT_L2:
		hv_l2_store(n, val);
		break;
	case HVIA_ATT_HOST_L1:
		a->host_l1 = val;
		break;
	case HVIA_ATT_HOST_L2:
		a->host_l2 = val;
		break;
	default:
		hv_count(n, HV_K_BAD_ACCESS);
	}
}

static uint64_t kpkt_read(struct weft_comp *c, uint32_t i)
{
	const struct hv_nic *n = c->state;

	switch (HVIA_KTX_LENGTH + i * 8) {
	case HVIA_KTX_LENGTH:
		return n->ktx_len;
	case HVIA_KRX_LENGTH:
		return n->krx_n ? n->krx[n->krx_first].len : 0;
	default:
		return n->krx_n ? n->krx[n->krx_first].data[HVIA_F_TYPE] : 0;
	}
}

static void kpkt_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hv_nic *n = c->state;
	uint32_t len = val > UINT32_MAX ? 0 : (uint32_t)val, bytes;
	struct weft_slice s;

	if (HVIA_KTX_LENGTH + i * 8 == HVIA_KRX_LENGTH && n->krx_n) {
		n->krx_first = (n->krx_first + 1) % n->p.kernel_rx;
		n->krx_n--;
	}
	if (HVIA_KTX_LENGTH + i * 8 != HVIA_KTX_LENGTH)
		return;
	if (n->ktx_len || len < ETH_HEAD || len > HVIA_KPKT_BYTES) {
		hv_count(n, HV_K_BAD_ACCESS);
		return;
	}
	bytes = len < HVIA_F_MIN ? HVIA_F_MIN : len;
	s = weft_slice_word(n->comp->sim, bytes);
	memset(weft_slice_data(s), 0, bytes);
	memcpy(weft_slice_data(s), n->ktx, len);
	n->ktx_len = len;
	hv_count(n, HV_K_KERNEL_TX);
	hv_gec_put(n, &(struct hv_tx_frame){ .data = s, .kernel = true });
}

/* ---- doorbells ---- */

static void send_wrote(struct weft_comp *c, uint32_t vi, uint64_t val)
{
	hv_doorbell(c->state, vi, HVIA_Q_SEND, val);
}

static void recv_wrote(struct weft_comp *c, uint32_t vi, uint64_t val)
{
	hv_doorbell(c->state, vi, HVIA_Q_RECV, val);
}

/* clang-format off */
#define C(name_, off, width_, reset_, rw_, doc_)                               \
	{ .name = name_, .width = width_, .offset = off, .access = WEFT_RW,    \
	  .reset = reset_, .rw = rw_, .doc = doc_ }
#define A(name_, bar, off, n, access_, read_, wrote_, doc_)                    \
	{ .name = name_, .space = 1 + (bar), .width = 8, .offset = off,        \
	  .count = n, .stride = 8, .access = WEFT_##access_, .rw = ~0ULL,      \
	  .bare = true, .read = read_, .wrote = wrote_, .doc = doc_ }

#define D(name_, off, wrote_, doc_)                                            \
	{ .name = name_, .space = 1 + HVIA_BAR_DOORBELL, .width = 8,           \
	  .offset = off, .count = HVIA_VIS, .stride = HVIA_PAGE,               \
	  .access = WEFT_MIXED, .rw = ~0ULL, .bare = true, .wrote = wrote_,    \
	  .doc = doc_ }

const struct weft_reg hv_regs[] = {
	[HV_R_VENDOR] = C("vendor", 0x00, 2, HVIA_VENDOR_ID, 0, "vendor"),
	[HV_R_DEVICE] = C("device", 0x02, 2, HVIA_DEVICE_ID, 0, "device"),
	[HV_R_COMMAND] = { "command", .width = 2, .offset = HVIA_CFG_COMMAND,
	  .access = WEFT_RW, .rw = HVIA_CMD_MEMORY | HVIA_CMD_MASTER,
	  .wrote = hv_command_wrote, .doc = "1 memory accesses, 2 master" },
	C("status", 0x06, 2, 0x0020, 0, "66 MHz"),
	C("class", 0x08, 4, 0x02000000, 0, "Ethernet controller"),
	C("header", 0x0E, 1, 0, 0, "header type"),
	C("bar0", 0x10, 4, 0, ~0u & ~(HVIA_BAR_DOORBELL_BYTES - 1u), "doorbells"),
	C("bar1", 0x14, 4, 0, ~0u & ~(HVIA_BAR_CTRL_BYTES - 1u), "control registers"),
	C("irq_line", 0x3C, 1, 0, 0xff, "interrupt line"),
	C("irq_pin", 0x3D, 1, 1, 0, "INTA#"),
	D("send", HVIA_DB_SEND, send_wrote, "send doorbell, a page per VI (2.3)"),
	D("recv", HVIA_DB_RECV, recv_wrote, "receive doorbell"),
	A("control", HVIA_BAR_CTRL, 0, 0x98 / 8, MIXED, ctrl_read, ctrl_wrote,
	  "control registers (2.2)"),
	A("kpkt", HVIA_BAR_CTRL, HVIA_KTX_LENGTH, 3, MIXED, kpkt_read, kpkt_wrote,
	  "kernel packets: bytes to send; bytes, type of the oldest received"),
	A("ktx", HVIA_BAR_CTRL, HVIA_KTX, 2048 / 8, RW, ktx_read, ktx_wrote,
	  "kernel packet to send"),
	A("krx", HVIA_BAR_CTRL, HVIA_KRX, 2048 / 8, RO, krx_read, NULL,
	  "kernel packet received"),
	A("vi", HVIA_BAR_CTRL, HVIA_VI_TABLE, HVIA_VIS * 4, MIXED, hv_vi_read,
	  hv_vi_wrote, "VI table, 32 bytes per VI (3.4)"),
	{ 0 }
};
/* clang-format on */

/* ---- accesses of the host ---- */

/* Handles an access of the host. With memory accesses off the card ignores a
 * store and does not answer a load. */
void hv_access(struct hv_nic *n, const struct weft_bus_note *note)
{
	bool mine = !note->space || hv_command(n) & HVIA_CMD_MEMORY;
	uint64_t v;

	if (note->kind == WEFT_NOTE_STORE) {
		/* Accesses outside configuration space must be of whole
		 * quadwords. */
		for (uint32_t i = 0, k; mine && i < note->bytes; i += k) {
			k = note->bytes - i < 8 ? note->bytes - i : 8;
			if (note->space && (k < 8 || note->off % 8)) {
				hv_count(n, HV_K_BAD_ACCESS);
				break;
			}
			v = 0;
			memcpy(&v, note->data + i, k);
			weft_reg_store(n->comp, note->space,
				       (uint32_t)note->off + i, k, v);
		}
		weft_bus_consumed(n->bus, 1);
		return;
	}
	if (!mine)
		return;
	v = weft_reg_load(n->comp, note->space, (uint32_t)note->off,
			  note->bytes);
	if (note->space == 1 + HVIA_BAR_CTRL) {
		/* A load has side effects. A read on behalf of a store has
		 * none. */
		if (note->off == HVIA_ATT_DATA) {
			n->att.addr = (n->att.addr + 8) % HVIA_SDRAM_BYTES;
		} else if (note->off == HVIA_ATT_BUSY) {
			hv_vi_forget(n, n->att.asked); /* drops only descriptors
							  that no engine uses */
		} else if (note->off == HVIA_ERR_POP &&
			   !ring_empty(&n->errors)) {
			n->err_info = ring_front(&n->errors)->info;
			ring_pop(&n->errors);
		}
	}
	weft_bus_of(n->bus)->reply(n->bus, &v, note->bytes);
}
