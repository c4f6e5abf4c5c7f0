/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE: the registers and formats for drivers and user libraries (hvia.md 2,
 * 3, 5.6).
 *
 * BAR0: doorbells, a page per VI. BAR1: control registers, kernel packets, VI
 * table. All values are little endian; registers are 64 bit. The source prints
 * no register: offsets are those of hvia.md 2.2 [R]. Choices that 2.2 leaves
 * open are marked "own". */
#ifndef SYSTEMS_HVIA_NIC_REGS_MAP_H
#define SYSTEMS_HVIA_NIC_REGS_MAP_H

#include <stdint.h>

/* Own, because the source names none. */
#define HVIA_VENDOR_ID 0x10EEu
#define HVIA_DEVICE_ID 0x4856u
#define HVIA_VERSION   0x00010000u

enum {
	HVIA_BAR_DOORBELL = 0,
	HVIA_BAR_CTRL = 1,
	HVIA_BAR_CTRL_BYTES = 0x10000,
	HVIA_VIS = 1024,
	HVIA_QUEUE_MAX = 1024, /* descriptors posted to one queue */
	HVIA_SEGMENTS = 252,   /* of a descriptor */
	HVIA_PAGE = 4096,
	HVIA_PTAGS = 4096, /* 12 bits */
};

/* Part of configuration space that a driver sets. */
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
/* Makes a token. `offset` is that of the descriptor from hvia_desc_base of its
 * region, a multiple of 64. */
static inline uint64_t hvia_token(uint32_t handle, uint32_t offset)
{
	return (uint64_t)offset << 32 | handle;
}
#define HVIA_TOKEN_HANDLE(t) ((uint32_t)(t))
#define HVIA_TOKEN_OFFSET(t) ((uint32_t)((t) >> 32))

/* Descriptors are aligned but regions begin anywhere, therefore offsets count
 * from the multiple of 64 at or below the start. Bounds are those of the
 * region. */
static inline uint64_t hvia_desc_base(uint64_t va)
{
	return va & ~63ULL;
}

/* ---- control registers (2.2) ---- */

enum {
	HVIA_ID = 0x000,
	HVIA_CTRL = 0x008,
	HVIA_STATUS = 0x010,
	HVIA_INT_CAUSE = 0x018, /* ones clear */
	HVIA_INT_MASK = 0x020,	/* ones let a cause through */
	HVIA_MAC = 0x028,	/* first byte on the line lowest */
	HVIA_ATT_ADDR = 0x030,	/* SDRAM byte address, a multiple of 8 */
	/* The 64 bits at ATT_ADDR, which grows by 8 with each access. */
	HVIA_ATT_DATA = 0x038,
	HVIA_ATT_L1_COUNT = 0x040, /* handles below this are looked up */
	HVIA_ERR_POP = 0x048,	   /* load: next error, see below */
	HVIA_ERR_INFO = 0x050,	   /* token of the error popped last */
	/* Own, 6.2. Store a handle: the card drops its prefetched addresses and
	 * the receive descriptors fetched from it. Load: 1 while an engine
	 * works with the region. */
	HVIA_ATT_BUSY = 0x058,
	/* Own, 6.2, compaction: level-2 indices. A store to COUNT moves so many
	 * entries, lowest index first, 2 cycles each; it reads as the number
	 * left. Engines must be stopped (CTRL.STOP, STATUS.IDLE), because they
	 * could read a half-moved table. */
	HVIA_MOVE_FROM = 0x060,
	HVIA_MOVE_TO = 0x068,
	HVIA_MOVE_COUNT = 0x070,
	/* Own: level 2 for one entry: store index << 32 | page address. */
	HVIA_ATT_L2 = 0x078,
	/* Own, CTRL.ATT_HOST: bus addresses of the levels in host memory;
	 * handle h is at L1 + 24 h, index i at L2 + 4 i there. */
	HVIA_ATT_HOST_L1 = 0x080,
	HVIA_ATT_HOST_L2 = 0x088,
	HVIA_PAYLOAD_MAX = 0x090, /* own: bytes of a message in one frame */
};

enum {
	HVIA_CTRL_ENABLE = 1 << 0,
	HVIA_CTRL_RESET = 1 << 1, /* reads 0 */
	HVIA_CTRL_PREFETCH = 1 << 2,
	HVIA_CTRL_ATT_HOST = 1 << 3, /* the ATT is in host memory */
	HVIA_CTRL_IRQ = 1 << 4,
	HVIA_CTRL_STOP = 1 << 5, /* own: engines start no new work */
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
	HVIA_INT_COMPLETION = 1 << 0, /* of a queue that was armed */
	HVIA_INT_ERROR = 1 << 1,      /* error FIFO is not empty */
	HVIA_INT_PACKET = 1 << 2,     /* kernel packet received */
};

/* ERR_POP: {valid 63, overflow 62 (errors were lost before this one), queue 32,
 * code 31:16, VI 15:0}; 0: the FIFO is empty. */
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
 * without FCS. One buffer to send (2.2), several received: the window shows the
 * oldest, and a store to KRX_LENGTH removes it. The layout is own. */
enum {
	/* store: send so many bytes; reads 0 when sent */
	HVIA_KTX_LENGTH = 0x400,
	/* of the oldest, 0 = none; store: removes it */
	HVIA_KRX_LENGTH = 0x408,
	HVIA_KRX_TYPE = 0x410, /* byte 14 of that frame */
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

/* Quadwords of an entry: accesses of 8 bytes. A store of the first one sets
 * state, flags (the card's own keep their value), protection tag, remote VI and
 * the first two bytes of the remote address. Store it last, because it makes
 * the entry valid. */
enum {
	HVIA_VI_0 = 0,	/* state, flags, ptag, remote VI, MAC[0..1] */
	HVIA_VI_1 = 8,	/* MAC[2..5], tx sequence, rx sequence */
	HVIA_VI_2 = 16, /* maximum transfer size, posted send, receive (RO) */
	/* Own (reserved in 3.4): command.  Sets the flags that are ones,
	 * clears those of bits 15:8; reads as flags. */
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
	HVIA_VIF_IRQ_SEND = 1 << 1, /* interrupt at the next completion */
	HVIA_VIF_IRQ_RECV = 1
			    << 2, /* the card clears both when it interrupts */
	/* Own: completes posted descriptors with DESC_FLUSHED; clears
	 * itself. */
	HVIA_VIF_FLUSH_SEND = 1 << 3,
	HVIA_VIF_FLUSH_RECV = 1 << 4,
	HVIA_VIF_FLUSH = HVIA_VIF_FLUSH_SEND | HVIA_VIF_FLUSH_RECV,
	/* Own: completions of this VI have 16 bytes, with their number among
	 * all completions of the card in Reserved, because completion queues in
	 * software find several at a time and must order them. */
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
	HVIA_SEGMENT = 16,	/* bytes of any other */
};

struct hvia_desc {
	uint64_t next; /* virtual address */
	uint32_t next_handle;
	uint16_t seg_count, control;
	uint32_t reserved, immediate, length, status;
};

struct hvia_seg {
	uint64_t addr; /* local address; first one of RDMA: remote */
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
	uint32_t pages; /* 0 = entry free */
	uint32_t l2;	/* index of its first level-2 entry */
	uint32_t length;
	uint16_t first; /* bytes of the first page, 1..4096 */
	uint16_t attr;
};
enum { HVIA_ATT_RDMA_WRITE = 1 << 0, HVIA_ATT_RDMA_READ = 1 << 1 };
#define HVIA_ATT_PTAG(attr)	((uint32_t)(attr) >> 4)
#define HVIA_ATT_ATTR(ptag, rd) ((uint16_t)((ptag) << 4 | (rd)))

/* SDRAM byte addresses: level 1 from the bottom, level 2 from the top. */
static inline uint32_t hvia_l1_addr(uint32_t handle)
{
	return handle * HVIA_L1_BYTES;
}
static inline uint32_t hvia_l2_addr(uint32_t index)
{
	return HVIA_SDRAM_BYTES - HVIA_L2_BYTES * (index + 1);
}

/* ---- frame (3.8) ---- */

#define HVIA_ETHERTYPE 0x88B5u /* high byte first on the line */
enum {
	HVIA_F_DST = 0,
	HVIA_F_SRC = 6,
	HVIA_F_ETHERTYPE = 12,
	HVIA_F_TYPE = 14,
	HVIA_F_FLAGS = 15,
	HVIA_F_DST_VI = 16,
	HVIA_F_SRC_VI = 18,
	HVIA_F_SEQ = 20,
	HVIA_F_LENGTH = 22, /* of the message */
	HVIA_F_OFFSET = 26, /* in the message; RDMA: immediate data */
	HVIA_F_VA = 30,	    /* RDMA: remote; SEND: low half immediate data */
	HVIA_F_HANDLE = 38, /* RDMA: remote */
	HVIA_F_DATA = 42,
	HVIA_F_MIN = 60, /* without FCS */
	HVIA_F_MTU = 1514,
	HVIA_PAYLOAD = HVIA_F_MTU - HVIA_F_DATA,
};
enum {
	HVIA_T_SEND = 0,
	HVIA_T_RDMA_WRITE = 1,
	/* kernel agent, 8..15 (6.3) */
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
