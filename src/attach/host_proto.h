/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol of the calls of weft/host.h from a process (weft exec --raw) to its
 * thread in the simulator. The calls are commands in the ring of proto.h.
 *
 * The table has a row for each call: kind, name, arguments. The process and the
 * simulator both use the table. The process fills the fields, and the simulator
 * checks them before it makes the call. A bad command is refused, or it
 * detaches the process, and has no other effect. */
#ifndef ATTACH_HOST_PROTO_H
#define ATTACH_HOST_PROTO_H

#include "attach/proto.h"

enum {
	ATT_HOST_DEVS = 64,
	ATT_HOST_KEY = 256, /* bytes of a name with its final zero */
	ATT_HOST_DATA = 4096,
};

/* Arguments that a call has, as bits of its row in the table. */
enum {
	HA_DEV = 1,   /* dev: handle of an open device */
	HA_IO = 2,    /* dev, bar, attr, io_off, io_len: a window; off: offset
		       * inside it */
	HA_MEM = 4,   /* off, io_len: a range of the node's memory */
	HA_PROC = 8,  /* proc: handle of a process */
	HA_DATA = 16, /* n bytes of data at offset val of tx */
	HA_KEY = 32,  /* the n bytes of data are a name */
	HA_TIME = 64, /* val: a time or a cost */
};

/* clang-format off */
#define ATT_HOST_CALLS(X)                                      \
	X(SYNC,         "sync",             0)                 \
	X(CPU,          "cpu",              HA_TIME)           \
	X(COPY,         "copy",             0)                 \
	X(NOW,          "now",              0)                 \
	X(BUSY,         "busy",             0)                 \
	X(USER,         "user",             0)                 \
	X(SLEEP,        "sleep",            HA_TIME)           \
	X(NAP,          "nap",              HA_TIME)           \
	X(POLL64,       "poll64",           HA_MEM | HA_TIME)  \
	X(POLL_RANGE,   "poll_range",       HA_MEM | HA_TIME)  \
	X(IRQ_WAIT,     "irq_wait",         HA_DEV | HA_TIME)  \
	X(ISR_WAIT,     "isr_wait",         HA_DEV | HA_TIME)  \
	X(ISR_SPIN,     "isr_spin",         HA_DEV | HA_TIME)  \
	X(DEV_OPEN,     "dev_open",         0)                 \
	X(CFG_LOAD,     "cfg_load",         HA_DEV)            \
	X(CFG_STORE,    "cfg_store",        HA_DEV)            \
	X(IO_MAP,       "io_map",           HA_DEV)            \
	X(LOAD32,       "io_load32",        HA_IO)             \
	X(LOAD64,       "io_load64",        HA_IO)             \
	X(STORE32,      "io_store32",       HA_IO)             \
	X(STORE64,      "io_store64",       HA_IO)             \
	X(IO_COPY,      "io_copy",          HA_IO | HA_DATA)   \
	X(FENCE,        "io_fence",         0)                 \
	X(CAN_TAG,      "io_can_tag",       HA_DEV)            \
	X(TSTORE,       "io_tstore",        HA_IO | HA_DATA)   \
	X(TSTORE_USER,  "io_tstore_user",   HA_IO | HA_DATA)   \
	X(TLOAD,        "io_tload64",       HA_IO)             \
	X(TLOAD_USER,   "io_tload64_user",  HA_IO)             \
	X(TCSTORE,      "io_tcstore",       HA_IO | HA_DATA)   \
	X(DOMAIN_NEW,   "domain_new",       0)                 \
	X(DOMAIN_GIVE,  "domain_give",      HA_DEV)            \
	X(DOMAIN_ENTER, "domain_enter",     0)                 \
	X(PROC_NEW,     "proc_new",         0)                 \
	X(PROC_FREE,    "proc_free",        HA_PROC)           \
	X(PROC_MAP,     "proc_map",         HA_PROC | HA_DEV)  \
	X(PROC_UNMAP,   "proc_unmap",       HA_PROC)           \
	X(PROC_TAG,     "proc_set_tag",     HA_PROC)           \
	X(PROC_ENTER,   "proc_enter",       HA_PROC)           \
	X(PROC_SELF,    "proc_self",        0)                 \
	X(PAGE_SHARE,   "page_share",       HA_DEV)            \
	X(DRV_SET,      "drv_set",          HA_DEV)            \
	X(DRV_CALL,     "drv_call",         HA_DEV)            \
	X(DRV_LEAVE,    "drv_leave",        0)                 \
	X(DRV_TRAP,     "drv_call",         HA_DEV | HA_DATA)  \
	X(THREAD,       "thread_start",     0)                 \
	X(WAIT,         "wait",             HA_TIME)           \
	X(SPIN,         "spin",             HA_TIME)           \
	X(WAKE,         "wake",             0)                 \
	X(ALONE,        "alone",            0)                 \
	X(MEM_ALLOC,    "mem_alloc",        0)                 \
	X(MEM_FREE,     "mem_free",         0)                 \
	X(MEM_GIVE,     "mem_give",         0)                 \
	X(MEM_HOLD,     "mem_hold",         0)                 \
	X(MEM_RELEASE,  "mem_release",      0)                 \
	X(MEM_PHYS,     "mem_phys",         0)                 \
	X(MEM_PIN,      "mem_pin",          0)                 \
	X(MEM_UNPIN,    "mem_unpin",        0)                 \
	X(OOB_PUT,      "oob_put",          HA_DATA | HA_KEY)  \
	X(OOB_GET,      "oob_get",          HA_DATA | HA_KEY)  \
	X(OOB_THERE,    "oob_there",        HA_DATA | HA_KEY)  \
	X(BYE,          "bye",              0)
/* clang-format on */

enum att_host_kind {
	ATT_H_FIRST_ = 63, /* these kinds follow the kinds of commands for
			    * endpoints */
#define X(kind, name, args) ATT_H_##kind,
	ATT_HOST_CALLS(X)
#undef X
		ATT_H_END
};
_Static_assert((int)ATT_H_FIRST_ >= (int)ATT_C_KINDS,
	       "kinds of commands overlap");

/* A command. Its size and its common fields equal those of att_cmd, because
 * both use one ring. */
struct att_host_cmd {
	uint8_t kind;
	uint8_t bar, attr, unused;
	uint32_t dev; /* handle of a device, process, domain or slot */
	uint64_t busy;
	uint64_t ctx; /* number of the reply; 0: the call has no reply */
	uint64_t off, val;
	uint64_t io_off, io_len;
	uint32_t n; /* number of bytes */
	uint16_t tag;
	uint16_t proc; /* handle of a process: its index plus 1 */
};
_Static_assert(sizeof(struct att_host_cmd) == sizeof(struct att_cmd),
	       "commands have one size");
_Static_assert(offsetof(struct att_host_cmd, busy) ==
			       offsetof(struct att_cmd, busy) &&
		       offsetof(struct att_host_cmd, ctx) ==
			       offsetof(struct att_cmd, ctx),
	       "fields of every command");

/* In a reply `status` is 0, or negative errno if the call was refused. The
 * meaning of a and b depends on the call. c is the processor time that the
 * thread still has to spend. */

#endif
