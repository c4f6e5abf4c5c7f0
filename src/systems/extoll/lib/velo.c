/* SPDX-License-Identifier: Apache-2.0 */
/* libvelo: contract in weft/velo.h. Source: extoll.md 3.2, 3.3, 6.1, 6.2.
 *
 * To send, the library writes header and payload by 8-byte stores to the
 * write-combining page of the process, then executes a fence. To receive, it
 * polls the status of the next slot, copies the payload, clears the status and
 * advances to the next slot. The library stores the read pointer
 * to the NIC every few slots. Copies of up to two cache lines take no extra
 * time, because the calibrated host times include them (7.1: H1, H8). */
#include <errno.h>
#include <string.h>

#include "host/times.h"
#include "systems/extoll/lib/driver.h"
#include "weft/velo.h"

enum { VELO_MAILBOX = 2 << 20 };

struct velo_port {
	struct extoll_drv drv;
	struct weft_io page; /* requester, WC */
	struct weft_io rp;   /* read pointer page, UC */
	uint8_t *box;
	weft_phys_t box_phys;
	uint32_t slots, slot_bytes, next;
	/* Slots between two stores of the read pointer, and slots read since
	 * the last such store. */
	uint32_t lazy, behind;
	uint32_t vpid, max_len;
};

/* ---- open, close ---- */

/* Allocates VPID and mailbox, and maps the two pages of the port. */
static int port_make(struct velo_port *p, const struct velo_attr *a)
{
	struct weft_host *h = p->drv.host;
	int vpid = extoll_drv_vpid(&p->drv, a->vpid_given ? a->vpid : -1);
	uint64_t slots = a->mailbox ? a->mailbox : VELO_MAILBOX;

	if (vpid < 0)
		return a->vpid_given ? VELO_INVALID_MBOX : VELO_ERR_MMAP;
	p->vpid = (uint32_t)vpid;
	p->slot_bytes = a->small ? EXTOLL_SLOT_SMALL : EXTOLL_SLOT;
	slots /= p->slot_bytes;
	/* The number of slots is limited, because EXTOLL_VELO_RX has 24 bits
	 * for it. */
	if (slots >= 2 && slots <= 0xffffff) {
		p->slots = (uint32_t)slots;
		p->box = weft_mem_alloc(h, (size_t)slots * p->slot_bytes,
					EXTOLL_SLOT, &p->box_phys);
	}
	if (p->box &&
	    weft_io_map(h, p->drv.dev, EXTOLL_BAR, extoll_velo_page(0, p->vpid),
			EXTOLL_PAGE, WEFT_WC, &p->page) &&
	    weft_io_map(h, p->drv.dev, EXTOLL_BAR,
			EXTOLL_VELO_RP + p->vpid * EXTOLL_RP_STRIDE,
			EXTOLL_PAGE, WEFT_UC, &p->rp))
		return VELO_SUCCESS;
	if (p->box)
		weft_mem_free(h, p->box);
	extoll_drv_vpid_free(&p->drv, p->vpid);
	return VELO_ERR_MMAP;
}

int velo_open(struct weft_host *h, const struct velo_attr *attr,
	      struct velo_port **port_p)
{
	static const struct velo_attr none;
	const struct velo_attr *a = attr ? attr : &none;
	struct velo_port *p = weft_host_calloc(h, 1, sizeof(*p));
	uint64_t flags;
	int ret;

	if (!p)
		return VELO_ERR_MMAP;
	ret = extoll_drv_open(h, &p->drv);
	if (ret) {
		weft_host_free(h, p);
		return ret == -ENODEV ? VELO_ERR_FDOPEN : VELO_ERR_MMAP;
	}
	p->lazy = a->lazy ? a->lazy : EXTOLL_LAZYNESS;
	p->max_len = EXTOLL_BUILD_VELO_MAX(p->drv.build);
	ret = port_make(p, a);
	if (ret) {
		extoll_drv_close(&p->drv);
		weft_host_free(h, p);
		return ret;
	}
	/* Store the read pointer after half of the slots at the latest.
	 * Otherwise a small mailbox would seem full to the NIC. */
	if (p->lazy > p->slots / 2)
		p->lazy = p->slots / 2;
	/* Sets protection, mailbox and permission to send. The NIC starts with
	 * an empty mailbox. */
	flags = EXTOLL_RX_ENABLE | (a->small ? EXTOLL_RX_SLOT64 : 0);
	extoll_drv_store(&p->drv, EXTOLL_VELO_RX_BASE + 8 * p->vpid,
			 p->box_phys);
	extoll_drv_store(&p->drv, EXTOLL_VELO_RX + 8 * p->vpid,
			 EXTOLL_RX(a->pd, p->slots, flags));
	extoll_drv_store(&p->drv, EXTOLL_VELO_TX + 8 * p->vpid,
			 EXTOLL_TX(p->drv.node, p->vpid, a->pd));
	/* a load returns after all stores have arrived */
	extoll_drv_load(&p->drv, EXTOLL_VELO_RX + 8 * p->vpid);
	*port_p = p;
	return VELO_SUCCESS;
}

/* Closes the port. First the NIC refuses further messages for the mailbox. Then
 * the library loads EXTOLL_VELO_PENDING until no write to the mailbox is left
 * in the NIC. The answer to such a load follows all writes that have left the
 * NIC. */
void velo_close(struct velo_port *p)
{
	struct weft_host *h = p->drv.host;

	extoll_drv_drain(&p->drv);
	extoll_drv_store(&p->drv, EXTOLL_VELO_TX + 8 * p->vpid, 0);
	extoll_drv_store(&p->drv, EXTOLL_VELO_RX + 8 * p->vpid, 0);
	while (extoll_drv_load(&p->drv, EXTOLL_VELO_PENDING + 8 * p->vpid))
		weft_host_cpu(h, weft_host_time(h, T_extoll_retry));
	weft_mem_free(h, p->box);
	extoll_drv_vpid_free(&p->drv, p->vpid);
	extoll_drv_close(&p->drv);
	weft_host_free(h, p);
}

uint32_t velo_node(const struct velo_port *p)
{
	return p->drv.node;
}

uint32_t velo_vpid(const struct velo_port *p)
{
	return p->vpid;
}

uint32_t velo_max_len(const struct velo_port *p)
{
	return p->max_len;
}

/* ---- sending ---- */

int velo_connect(struct velo_port *p, struct velo_connection *c, uint32_t node,
		 uint32_t vpid)
{
	if (node > EXTOLL_NODE_MAX || (p->drv.nodes && node >= p->drv.nodes))
		return VELO_INVALID_NODE;
	if (vpid >= EXTOLL_VPIDS)
		return VELO_INVALID_MBOX;
	c->port = p;
	c->header = EXTOLL_SEND(node, vpid, 0, 0, 0);
	return VELO_SUCCESS;
}

void velo_disconnect(struct velo_connection *c)
{
	c->port = NULL;
}

static int send_as(struct velo_connection *c, const void *buf, uint32_t len,
		   uint32_t tag, uint32_t mtt, uint64_t flags)
{
	uint64_t m[1 + EXTOLL_VELO_LEN_MAX_R2 / 8];
	struct velo_port *p = c->port;

	if (!p)
		return VELO_ERROR;
	if (!len || len > p->max_len)
		return VELO_INV_MSG;
	if (mtt > 3)
		return VELO_INV_MTT;
	m[0] = c->header | EXTOLL_SEND(0, 0, mtt, tag, len) | flags;
	/* clear the last word, because the data may fill only a part of it */
	m[(len + 7) / 8] = 0;
	weft_host_move(p->drv.host, &m[1], buf, len);
	weft_io_copy(p->drv.host, &p->page, 0, m, EXTOLL_SEND_BYTES(len));
	weft_io_fence(p->drv.host);
	return VELO_SUCCESS;
}

int velo_send(struct velo_connection *c, const void *buf, uint32_t len,
	      uint32_t tag, uint32_t mtt)
{
	return send_as(c, buf, len, tag, mtt, 0);
}

int velo_send_irq(struct velo_connection *c, const void *buf, uint32_t len,
		  uint32_t tag, uint32_t mtt)
{
	return send_as(c, buf, len, tag, mtt, EXTOLL_SEND_IRQ);
}

/* ---- receiving ---- */

/* Returns the address of the status word of the k-th unread slot. */
static volatile uint64_t *slot_status(struct velo_port *p, uint32_t k)
{
	uint32_t i = (p->next + k) % p->slots;

	return (volatile uint64_t *)(p->box + (size_t)(i + 1) * p->slot_bytes -
				     8);
}

/* Returns the number of slots of the next message, 0 if it has not arrived as a
 * whole. */
static uint32_t message_slots(struct velo_port *p)
{
	uint64_t s;

	for (uint32_t k = 0; k < p->slots; k++) {
		s = *slot_status(p, k);
		if (!s)
			return 0;
		if (s & EXTOLL_STATUS_EOM)
			return k + 1;
	}
	return 0;
}

int velo_check(struct velo_port *p)
{
	return message_slots(p) ? VELO_SUCCESS : VELO_NO_MSG;
}

void velo_commit(struct velo_port *p)
{
	if (p->behind)
		weft_io_store64(p->drv.host, &p->rp, 0, p->next);
	p->behind = 0;
}

int velo_recv(struct velo_port *p, void *buf, uint32_t *src_p, uint32_t *tag_p,
	      uint32_t *mtt_p, uint32_t *len_p)
{
	uint32_t n = message_slots(p), len = 0;
	uint64_t s = *slot_status(p, 0);

	if (!n)
		return VELO_NO_MSG;
	for (; n; n--) { /* copy and empty a slot */
		volatile uint64_t *status = slot_status(p, 0);
		uint32_t k = EXTOLL_STATUS_LEN(*status);

		weft_host_move(p->drv.host, (uint8_t *)buf + len,
			       (uint8_t *)(uintptr_t)status - (k + 7) / 8 * 8,
			       k);
		*status = 0;
		p->next = (p->next + 1) % p->slots;
		p->behind++;
		len += k;
	}
	if (p->behind >= p->lazy)
		velo_commit(p);
	if (src_p)
		*src_p = VELO_SRC(EXTOLL_STATUS_NODE(s), EXTOLL_STATUS_VPID(s));
	if (tag_p)
		*tag_p = EXTOLL_STATUS_TAG(s);
	if (mtt_p)
		*mtt_p = EXTOLL_STATUS_MTT(s);
	if (len_p)
		*len_p = len;
	return s & EXTOLL_STATUS_ERROR ? VELO_ERROR : VELO_SUCCESS;
}

int velo_recv_mtt(struct velo_port *p, uint32_t mtt, void *buf, uint32_t *src_p,
		  uint32_t *tag_p, uint32_t *len_p)
{
	if (mtt > 3)
		return VELO_INV_MTT;
	if (!message_slots(p))
		return VELO_NO_MSG;
	if (EXTOLL_STATUS_MTT(*slot_status(p, 0)) != mtt)
		return VELO_NO_MATCH;
	return velo_recv(p, buf, src_p, tag_p, NULL, len_p);
}

/* Sleeps until the first empty slot is written. */
bool velo_wait(struct velo_port *p, weft_time_t deadline)
{
	uint32_t k = 0;

	if (message_slots(p))
		return true;
	while (k + 1 < p->slots && *slot_status(p, k))
		k++;
	return weft_host_poll64(p->drv.host, slot_status(p, k), 0, deadline);
}

const void *velo_mailbox(const struct velo_port *p, size_t *bytes_p)
{
	*bytes_p = (size_t)p->slots * p->slot_bytes;
	return p->box;
}

void velo_arm(struct velo_port *p)
{
	weft_io_store64(p->drv.host, &p->rp, 0, p->next | EXTOLL_RP_ARM);
	p->behind = 0;
}

bool velo_wait_irq(struct velo_port *p, weft_time_t deadline)
{
	while (!message_slots(p)) {
		velo_arm(p);
		if (message_slots(p))
			break;
		if (!extoll_drv_event_wait(&p->drv, deadline))
			return false;
		while (extoll_drv_event(&p->drv))
			;
	}
	return true;
}

void velo_counters(struct velo_port *p, struct velo_counters *c)
{
	*c = (struct velo_counters){
		.sent = extoll_drv_load(&p->drv, EXTOLL_VELO_SENT),
		.received = extoll_drv_load(&p->drv, EXTOLL_VELO_RECEIVED),
	};
	for (uint32_t i = 0; i < EXTOLL_DROP_N; i++)
		c->dropped +=
			extoll_drv_load(&p->drv, EXTOLL_VELO_DROP + 8 * i);
	for (uint32_t i = 0; i < EXTOLL_DISCARD_N; i++)
		c->discarded +=
			extoll_drv_load(&p->drv, EXTOLL_VELO_DISCARD + 8 * i);
}
