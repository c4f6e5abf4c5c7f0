/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE: the registers and formats for drivers and user libraries (hvia.md 2,
 * 3, 5.6).
 *
 * BAR0 holds doorbells, a page per VI. BAR1 holds control registers, kernel
 * packets and the VI table. All values are little endian, and registers have 64
 * bits. The source prints no register, therefore hvia.md 2.2 reconstructs the
 * offsets. Choices that 2.2 leaves open are marked "own". */
#ifndef SYSTEMS_HVIA_NIC_REGS_MAP_H
#define SYSTEMS_HVIA_NIC_REGS_MAP_H

#include <stdint.h>

/* Numbers of our own, because the source names none. */
#define HVIA_VENDOR_ID 0x10EEu
#define HVIA_DEVICE_ID 0x4856u
#define HVIA_VERSION   0x00010000u

enum {
	HVIA_BAR_DOORBELL = 0,
	HVIA_BAR_CTRL = 1,
	HVIA_BAR_CTRL_BYTES = 0x10000,
	HVIA_VIS = 1024,
	/* largest number of descriptors posted to one queue */
	HVIA_QUEUE_MAX = 1024,
	HVIA_SEGMENTS = 252, /* largest number of segments of a descriptor */
	HVIA_PAGE = 4096,
	HVIA_PTAGS = 4096, /* 12 bits */
};

/* Registers of configuration space that a driver sets. */
enum {
	HVIA_CFG_COMMAND = 0x04,
	HVIA_CMD_MEMORY = 1 << 1,
	HVIA_CMD_MASTER = 1 << 2,
};
#define HVIA_BAR_DOORBELL_BYTES (HVIA_VIS * HVIA_PAGE)

/* ---- doorbells (2.3) ---- */

enum { HVIA_DB_SEND = 0x00, HVIA_DB_RECV = 0x08 };
enum { HVIA_Q_SEND, HVIA_Q_RECV };

static inline uint64_t hvia_doorbell(uint32_t vi, uint32_t queue)
{
	return (uint64_t)vi * HVIA_PAGE +
	       (queue == HVIA_Q_SEND ? HVIA_DB_SEND : HVIA_DB_RECV);
}
/* Makes a token. `offset` counts from hvia_desc_base() of the region to the
 * descriptor, and is a multiple of 64. */
static inline uint64_t hvia_token(uint32_t handle, uint32_t offset)
{
	return (uint64_t)offset << 32 | handle;
}
#define HVIA_TOKEN_HANDLE(t) ((uint32_t)(t))
#define HVIA_TOKEN_OFFSET(t) ((uint32_t)((t) >> 32))

/* Returns the address from which offsets of descriptors count: the multiple of
 * 64 at or below the start of the region, because descriptors are aligned but
 * regions begin anywhere. A descriptor in front of the region's start is still
 * out of bounds. */
static inline uint64_t hvia_desc_base(uint64_t va)
{
	return va & ~63ULL;
}

/* ---- control registers (2.2) ---- */

enum {
	HVIA_ID = 0x000,
	HVIA_CTRL = 0x008,
	HVIA_STATUS = 0x010,
	HVIA_INT_CAUSE = 0x018, /* write ones to clear */
	/* a cause whose bit is 1 raises the interrupt */
	HVIA_INT_MASK = 0x020,
	/* station address, with the first byte on the line lowest */
	HVIA_MAC = 0x028,
	HVIA_ATT_ADDR = 0x030, /* SDRAM byte address, a multiple of 8 */
	/* The 64 bits at ATT_ADDR. Each access increments ATT_ADDR by 8. */
	HVIA_ATT_DATA = 0x038,
	/* number of handles of level 1. The card refuses higher handles */
	HVIA_ATT_L1_COUNT = 0x040,
	/* load: removes and returns the next error (HVIA_ERR_VALID) */
	HVIA_ERR_POP = 0x048,
	/* token of the error that ERR_POP returned last */
	HVIA_ERR_INFO = 0x050,
	/* Own choice, 6.2. A store of a handle makes the card drop the
	 * addresses that it has prefetched from the region, and the receive
	 * descriptors that it has fetched from the region. A load returns 1
	 * while an engine works with the region. */
	HVIA_ATT_BUSY = 0x058,
	/* Own choice (6.2): registers that move entries of level 2 during
	 * compaction. FROM and TO are indices of level 2. A store to COUNT
	 * starts a move of that number of entries, lowest index first, in 2
	 * cycles each. A load of COUNT returns the number left. Engines must be
	 * stopped (CTRL.STOP, STATUS.IDLE), because they could read a
	 * half-moved table. */
	HVIA_MOVE_FROM = 0x060,
	HVIA_MOVE_TO = 0x068,
	HVIA_MOVE_COUNT = 0x070,
	/* Own choice: sets one level-2 entry, by a store of index << 32 | page
	 * address. */
	HVIA_ATT_L2 = 0x078,
	/* Own choice, CTRL.ATT_HOST: bus addresses of the levels in host
	 * memory. Handle h is at L1 + 24 h, index i at L2 + 4 i. */
	HVIA_ATT_HOST_L1 = 0x080,
	HVIA_ATT_HOST_L2 = 0x088,
	HVIA_PAYLOAD_MAX = 0x090, /* own: largest payload of a frame in bytes */
};

enum {
	HVIA_CTRL_ENABLE = 1 << 0,
	HVIA_CTRL_RESET = 1 << 1, /* reads 0 */
	HVIA_CTRL_PREFETCH = 1 << 2,
	HVIA_CTRL_ATT_HOST = 1 << 3, /* the ATT is in host memory */
	HVIA_CTRL_IRQ = 1 << 4,
	HVIA_CTRL_STOP = 1 << 5, /* own: engines start no new work while set */
};

enum {
	HVIA_STATUS_LINK = 1 << 0,
	HVIA_STATUS_SEND = 1 << 1, /* send engine works */
	HVIA_STATUS_RECV = 1 << 2, /* receive engine works */
	HVIA_STATUS_MOVE = 1 << 3, /* level-2 entries are being moved */
	HVIA_STATUS_IDLE = 1 << 4, /* CTRL.STOP is set and no engine works */
};
#define HVIA_STATUS_RX_BUFFERS(s) ((uint32_t)((s) >> 8 & 0xff)) /* in use */

enum {
	HVIA_INT_COMPLETION = 1 << 0, /* an armed queue has a completion */
	HVIA_INT_ERROR = 1 << 1,      /* the error FIFO is not empty */
	HVIA_INT_PACKET = 1 << 2,     /* a kernel packet was received */
};

/* ERR_POP: {valid 63, overflow 62 (errors were lost before this one), queue 32,
 * code 31:16, VI 15:0}, or 0 when the FIFO is empty. */
#define HVIA_ERR_VALID	  (1ULL << 63)
#define HVIA_ERR_OVERFLOW (1ULL << 62)
#define HVIA_ERR_QUEUE(e) ((uint32_t)((e) >> 32 & 1))
#define HVIA_ERR_CODE(e)  ((uint32_t)((e) >> 16 & 0xffff))
#define HVIA_ERR_VI(e)	  ((uint32_t)((e)&0xffff))
enum { HVIA_ERR_ENTRIES = 16 };

/* Asynchronous errors (5.6), in the order of VIP_ERROR_CODE. */
enum hvia_error {
	HVIA_ERROR_POST_DESC,
	HVIA_ERROR_CONN_LOST,
	HVIA_ERROR_RECVQ_EMPTY,
	HVIA_ERROR_VI_OVERRUN,
	HVIA_ERROR_RDMAW_PROT,
	HVIA_ERROR_RDMAW_DATA,
	HVIA_ERROR_RDMAW_ABORT,
	HVIA_ERROR_RDMAR_PROT,
	HVIA_ERROR_COMP_PROT,
	HVIA_ERROR_RDMA_TRANSPORT,
	HVIA_ERROR_CATASTROPHIC,
	HVIA_ERRORS
};

/* Kernel packets: whole Ethernet frames from the destination address on,
 * without FCS. One buffer sends (2.2) and several receive. The window shows the
 * oldest received packet, and a store to KRX_LENGTH removes it. The source does
 * not print the layout of these registers. */
enum {
	/* store: sends a packet of that many bytes. Load: 0 after the packet
	 * was sent */
	HVIA_KTX_LENGTH = 0x400,
	/* load: bytes of the oldest packet, or 0 for none. Store: removes the
	 * packet */
	HVIA_KRX_LENGTH = 0x408,
	HVIA_KRX_TYPE = 0x410, /* byte 14 of the oldest packet */
	HVIA_KTX = 0x800,      /* 2 KB */
	HVIA_KRX = 0x1000,     /* 2 KB */
	HVIA_KPKT_BYTES = 1514,
};

/* ---- VI table (3.4) ---- */

enum { HVIA_VI_TABLE = 0x4000, HVIA_VI_STRIDE = 32 };

static inline uint64_t hvia_vi_entry(uint32_t vi, uint32_t byte)
{
	return HVIA_VI_TABLE + (uint64_t)vi * HVIA_VI_STRIDE + byte;
}

/* Quadwords of an entry, accessed by 8 bytes. A store of the first quadword
 * sets state, flags (except those that the card sets), protection tag, remote
 * VI and the first two bytes of the remote address. The first quadword is
 * stored last, because it makes the entry valid. */
enum {
	HVIA_VI_0 = 0,	/* state, flags, ptag, remote VI, MAC[0..1] */
	HVIA_VI_1 = 8,	/* MAC[2..5], tx sequence, rx sequence */
	HVIA_VI_2 = 16, /* maximum transfer size; numbers of posted sends and
			   receives (RO) */
	/* Own choice (reserved in 3.4): command. A store sets the flags whose
	 * bits in 7:0 are ones, and clears the flags whose bits in 15:8 are
	 * ones. A load returns the flags. */
	HVIA_VI_3 = 24,
};

enum hvia_vi_state {
	HVIA_VI_IDLE,
	HVIA_VI_PENDING,
	HVIA_VI_CONNECTED,
	HVIA_VI_ERROR,
};
enum {
	HVIA_VIF_RDMA_WRITE = 1 << 0,
	/* the next completion of the send queue raises an interrupt */
	HVIA_VIF_IRQ_SEND = 1 << 1,
	HVIA_VIF_IRQ_RECV = 1 << 2, /* the card clears both interrupt flags when
				       it raises the interrupt */
	/* Own choice: completes posted descriptors with DESC_FLUSHED. The card
	 * then clears the flag. */
	HVIA_VIF_FLUSH_SEND = 1 << 3,
	HVIA_VIF_FLUSH_RECV = 1 << 4,
	HVIA_VIF_FLUSH = HVIA_VIF_FLUSH_SEND | HVIA_VIF_FLUSH_RECV,
	/* Not in the paper. The card writes 16 bytes for each completion of
	 * this VI. Their field Reserved holds the number of the completion,
	 * counted over all VIs of the card. A completion queue in software
	 * sorts by this number when it finds several completions at a time. */
	HVIA_VIF_STAMP = 1 << 5,
};

static inline uint64_t hvia_vi_0(enum hvia_vi_state state, uint32_t flags,
				 uint32_t ptag, uint32_t remote_vi,
				 const uint8_t mac[6])
{
	return (uint64_t)state | (uint64_t)(flags & 0xff) << 8 |
	       (uint64_t)(ptag & 0xffff) << 16 |
	       (uint64_t)(remote_vi & 0xffff) << 32 | (uint64_t)mac[0] << 48 |
	       (uint64_t)mac[1] << 56;
}
static inline uint64_t hvia_vi_1(const uint8_t mac[6], uint32_t tx_seq,
				 uint32_t rx_seq)
{
	return (uint64_t)mac[2] | (uint64_t)mac[3] << 8 |
	       (uint64_t)mac[4] << 16 | (uint64_t)mac[5] << 24 |
	       (uint64_t)(tx_seq & 0xffff) << 32 | (uint64_t)rx_seq << 48;
}
#define HVIA_VI_0_STATE(q) ((uint32_t)((q)&0xff))
#define HVIA_VI_0_FLAGS(q) ((uint32_t)((q) >> 8 & 0xff))
#define HVIA_VI_2_SEND(q)  ((uint32_t)((q) >> 32 & 0xffff)) /* posted */
#define HVIA_VI_2_RECV(q)  ((uint32_t)((q) >> 48 & 0xffff))

/* ---- descriptor (3.1) ---- */

enum {
	HVIA_DESC_ALIGN = 64,
	HVIA_DESC_CONTROL = 32, /* bytes of the control segment */
	HVIA_SEGMENT = 16,	/* bytes of any other segment */
};

struct hvia_desc {
	uint64_t next; /* virtual address */
	uint32_t next_handle;
	uint16_t seg_count, control;
	uint32_t reserved, immediate, length, status;
};

struct hvia_seg {
	/* local address, or in the first segment of RDMA the remote address */
	uint64_t addr;
	uint32_t handle, length;
};

enum {
	HVIA_OP = 0x0003,
	HVIA_OP_SENDRECV = 0,
	HVIA_OP_RDMAWRITE = 1,
	HVIA_OP_RDMAREAD = 2,
	HVIA_OP_IMMEDIATE = 0x0004,
	HVIA_OP_QFENCE = 0x0008,
	HVIA_OP_RESERVED = 0xFFF0,
};

#define HVIA_ST_DONE		  0x00000001u
#define HVIA_ST_FORMAT_ERROR	  0x00000002u
#define HVIA_ST_PROTECTION_ERROR  0x00000004u
#define HVIA_ST_LENGTH_ERROR	  0x00000008u
#define HVIA_ST_PARTIAL_ERROR	  0x00000010u
#define HVIA_ST_FLUSHED		  0x00000020u
#define HVIA_ST_TRANSPORT_ERROR	  0x00000040u
#define HVIA_ST_RDMA_PROT_ERROR	  0x00000080u
#define HVIA_ST_REMOTE_DESC_ERROR 0x00000100u
#define HVIA_ST_ERRORS		  0x000001FEu
#define HVIA_ST_OP		  0x00070000u
#define HVIA_ST_SEND		  0x00000000u
#define HVIA_ST_RECEIVE		  0x00010000u
#define HVIA_ST_RDMA_WRITE	  0x00020000u
#define HVIA_ST_REMOTE_RDMA_WRITE 0x00030000u
#define HVIA_ST_RDMA_READ	  0x00040000u
#define HVIA_ST_IMMEDIATE	  0x00080000u
#define HVIA_ST_RESERVED	  0xFFF0FE00u

/* ---- address translation table (3.2, 3.3, 3.5) ---- */

#define HVIA_SDRAM_BYTES 0x4000000u
enum { HVIA_L1_BYTES = 24, HVIA_L2_BYTES = 4 };

struct hvia_l1 {
	uint64_t va;
	uint32_t pages; /* number of pages, or 0 if the entry is free */
	uint32_t l2;	/* index of its first level-2 entry */
	uint32_t length;
	uint16_t first; /* number of bytes used in the first page, 1..4096 */
	uint16_t attr;
};
enum { HVIA_ATT_RDMA_WRITE = 1 << 0, HVIA_ATT_RDMA_READ = 1 << 1 };
#define HVIA_ATT_PTAG(attr)	((uint32_t)(attr) >> 4)
#define HVIA_ATT_ATTR(ptag, rd) ((uint16_t)((ptag) << 4 | (rd)))

/* Returns byte addresses in SDRAM: level 1 grows from the bottom, level 2 from
 * the top. */
static inline uint32_t hvia_l1_addr(uint32_t handle)
{
	return handle * HVIA_L1_BYTES;
}
static inline uint32_t hvia_l2_addr(uint32_t index)
{
	return HVIA_SDRAM_BYTES - HVIA_L2_BYTES * (index + 1);
}

/* ---- frame (3.8) ---- */

#define HVIA_ETHERTYPE 0x88B5u /* the high byte is first on the line */
enum {
	HVIA_F_DST = 0,
	HVIA_F_SRC = 6,
	HVIA_F_ETHERTYPE = 12,
	HVIA_F_TYPE = 14,
	HVIA_F_FLAGS = 15,
	HVIA_F_DST_VI = 16,
	HVIA_F_SRC_VI = 18,
	HVIA_F_SEQ = 20,
	HVIA_F_LENGTH = 22, /* bytes of the message */
	HVIA_F_OFFSET = 26, /* offset in the message; RDMA: immediate data */
	/* RDMA: remote address; SEND: immediate data in the low half */
	HVIA_F_VA = 30,
	HVIA_F_HANDLE = 38, /* RDMA: handle of the remote region */
	HVIA_F_DATA = 42,
	HVIA_F_MIN = 60, /* without FCS */
	HVIA_F_MTU = 1514,
	HVIA_PAYLOAD = HVIA_F_MTU - HVIA_F_DATA,
};
enum {
	HVIA_T_SEND = 0,
	HVIA_T_RDMA_WRITE = 1,
	/* packets of the kernel agent, 8..15 (6.3) */
	HVIA_T_KERNEL = 8,
	HVIA_T_CONN_REQ = 8,
	HVIA_T_CONN_ACCEPT = 9,
	HVIA_T_CONN_REJECT = 10,
	HVIA_T_CONN_ACK = 11,
	HVIA_T_DISCONNECT = 12,
	HVIA_T_NO_MATCH = 13,
};
enum { HVIA_FF_FIRST = 1, HVIA_FF_LAST = 2, HVIA_FF_IMMEDIATE = 4 };

#endif
