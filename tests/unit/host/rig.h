/* SPDX-License-Identifier: Apache-2.0 */
/* A bus on a bench: scripted host and devices around one bus.pcix or bus.pci,
 * with all their notes in one log. */
#ifndef TESTS_HOST_RIG_H
#define TESTS_HOST_RIG_H

#include "ref_pcix.h"
#include "weft/sim.h"

struct rig {
	struct weft_sim *sim;
	struct weft_comp *bus, *host, *dev[REF_DEVS];
	const struct ref_script *script;
	struct ref_log *log;
	bool mute;     /* devices do not answer loads */
	bool bad_data; /* a written byte arrived wrong */
	/* settings of a fault.bus in front of every device, or NULL */
	const char *const *fault;
	/* true if the fault is in front of the host instead, as shim[0] */
	bool fault_host;
	struct weft_comp *shim[REF_DEVS];
	/* number of the host's next operation in the script */
	uint32_t next;
	bool waits; /* the host waits for room in the bridge */
};

/* Sets the parameters of the specification, with one device and no
 * operations. */
void rig_script_default(struct ref_script *s);
/* Sets the parameters of preset pci33 of bus.pci, with one device and no
 * operations. */
void rig_script_pci(struct ref_script *s);
/* Plays s to its end. */
void rig_run(struct rig *r, const struct ref_script *s, struct ref_log *log);
void rig_free(struct rig *r);
/* Returns a counter of the bus by its name. */
uint64_t rig_counter(const struct rig *r, const char *name);

/* Returns the n-th note of a kind on a port, or NULL. */
const struct ref_note *rig_note(const struct ref_log *log, uint32_t port,
				enum weft_note_kind kind, uint32_t n);

#endif
