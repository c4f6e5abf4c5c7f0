/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the extensions: resequencing, external memory, event log.  The
 * table is in registers.c. */
#include "systems/forth/nic/nic.h"

static struct forth_nic *nic_of(struct weft_comp *c)
{
	return c->state;
}

uint64_t forth_reseq_read(struct weft_comp *c, uint32_t i)
{
	return forth_reseq_counts(nic_of(c));
}

uint64_t forth_reseq_rx_read(struct weft_comp *c, uint32_t i)
{
	return forth_reseq_lost_mask(nic_of(c));
}

void forth_reseq_rx_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	forth_reseq_restart(nic_of(c), (uint32_t)val);
}

void forth_reseq_tx_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	forth_path_reset(nic_of(c), (uint32_t)val);
}

uint64_t forth_reseq_pool_read(struct weft_comp *c, uint32_t i)
{
	return forth_reseq_pool(nic_of(c));
}

uint64_t forth_reseq_state_read(struct weft_comp *c, uint32_t i)
{
	return forth_reseq_state(nic_of(c), i);
}

uint64_t forth_ext_free_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->ext.n_free;
}

uint64_t forth_ext_least_read(struct weft_comp *c, uint32_t i)
{
	return nic_of(c)->ext.least_free;
}

void forth_log_control_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	forth_log_enable(nic_of(c), (uint32_t)val);
}

uint64_t forth_log_count_read(struct weft_comp *c, uint32_t i)
{
	return forth_log_written(nic_of(c));
}

void forth_log_index_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	forth_log_seek(nic_of(c), (uint32_t)val);
}

uint64_t forth_log_data_read(struct weft_comp *c, uint32_t i)
{
	return forth_log_read(nic_of(c), i);
}
