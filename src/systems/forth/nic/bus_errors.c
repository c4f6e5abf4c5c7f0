/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the PCI-X bus, as the FORTH NIC detects and reports them. Source:
 * forth.md sections 2.2 (status, PCI-X status, R-46) and 3.6. Other cases
 * follow the PCI and PCI-X rules. Each row gives an error and its effects. A
 * number is the bit of the status register that the error sets:
 *
 *   data of a read, wrong parity   15. With command bit 6 also PERR# and 8
 *   data of a write: PERR# seen    8, if command bit 6 is set
 *   bit 8 set by a row above       SERR#, unless PCI-X command bit 0 is set
 *   data of a store, wrong parity  15. With command bit 6 also PERR#
 *   address of a load or store     15. With command bits 6 and 8 also SERR#.
 *                                  The target aborts the access, which sets 11
 *   target abort, master abort     12, 13
 *   split error message            bit 29 of the PCI-X status
 *   unexpected split completion    bit 19 of the PCI-X status
 *   completion of a load rejected  bit 18 of the PCI-X status
 *
 * The NIC drives SERR# only if command bit 8 is set. SERR# sets bit 14. Without
 * command bit 6 the NIC uses data as they arrive (PCI). With command bit 6 a
 * transfer is abandoned as after an abort (3.6), and a store is not carried out
 * (our choice, because its data are wrong). */
#include "systems/forth/nic/nic.h"

static void status_set(struct forth_nic *n, enum forth_reg status, uint32_t bit)
{
	*weft_reg_cell(n->comp, status, 0) |= bit;
}

static void bus_errors_serr(struct forth_nic *n)
{
	if (!(forth_cell(n, R_COMMAND) & FORTH_CMD_SERR))
		return;
	status_set(n, R_STATUS, FORTH_STATUS_SIG_SERR);
	weft_bus_signal(n->bus, WEFT_BUS_SERR);
}

bool forth_minds_parity(struct forth_nic *n)
{
	return forth_cell(n, R_COMMAND) & FORTH_CMD_PARITY;
}

/* ---- transactions of this NIC ---- */

/* Handles PERR# on a transaction of this NIC. The NIC drives PERR# for a read
 * and sees PERR# for a write. Returns whether the transaction failed. */
static bool parity_failed(struct forth_nic *n, const struct weft_bus_txn *t)
{
	bool read = t->op == WEFT_BUS_READ;

	if (read)
		status_set(n, R_STATUS, FORTH_STATUS_PARITY);
	if (read ? !n->rq.spoilt : !forth_minds_parity(n))
		return false;
	if (read)
		weft_bus_signal(n->bus, WEFT_BUS_PERR);
	status_set(n, R_STATUS, FORTH_STATUS_DATA_PARITY);
	if (!(forth_cell(n, R_PCIX_CMD) & FORTH_PCIX_CMD_RECOVER))
		bus_errors_serr(n);
	return true;
}

bool forth_dma_failed(struct forth_nic *n, const struct weft_bus_txn *t)
{
	switch (t->status) {
	case WEFT_BUS_OK:
		return false;
	case WEFT_BUS_MASTER_ABORT:
		status_set(n, R_STATUS, FORTH_STATUS_RCV_MASTER_ABORT);
		break;
	case WEFT_BUS_TARGET_ABORT:
		status_set(n, R_STATUS, FORTH_STATUS_RCV_TARGET_ABORT);
		break;
	case WEFT_BUS_SPLIT_ERROR:
		status_set(n, R_PCIX_STATUS, FORTH_PCIX_STATUS_MESSAGE);
		break;
	case WEFT_BUS_PARITY:
		if (!parity_failed(n, t))
			return false;
		break;
	}
	*weft_reg_cell(n->comp, R_DESC_ERR, 0) += 1;
	weft_count(n->comp, C_DESC_ERR, 1);
	return true;
}

/* ---- accesses of the host ---- */

bool forth_target_error(struct forth_nic *n, const struct weft_bus_note *note)
{
	switch (note->wrong) {
	case WEFT_BUS_E_ADDRESS: /* carry nothing out, because the address
				    cannot be trusted */
		status_set(n, R_STATUS,
			   FORTH_STATUS_PARITY | FORTH_STATUS_SIG_TARGET_ABORT);
		if (forth_minds_parity(n))
			bus_errors_serr(n);
		return true;
	case WEFT_BUS_E_DATA:
		status_set(n, R_STATUS, FORTH_STATUS_PARITY);
		if (!forth_minds_parity(n))
			return false;
		weft_bus_signal(n->bus, WEFT_BUS_PERR);
		return true;
	case WEFT_BUS_E_DISCARD:
		status_set(n, R_PCIX_STATUS, FORTH_PCIX_STATUS_DISCARDED);
		return true;
	default:
		return false;
	}
}
