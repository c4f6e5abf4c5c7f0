/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling facility of the FORTH NIC: cumulative qwords in both directions at
 * fixed intervals. Samples are taken late, just before the counts change, so
 * that the sampler needs no events. Source: forth.md section 2.8, R-05. */
#include "systems/forth/nic/nic.h"

/* Handles a store to the sample counter. */
void forth_sample_count_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	uint32_t count = val > FORTH_SAMPLES ? FORTH_SAMPLES : (uint32_t)val;
	struct forth_nic *n = c->state;
	struct forth_sampler *s = &n->sampler;

	*weft_reg_cell(c, R_SAMPLE_COUNT, 0) = count;
	s->left = count;
	s->taken = s->index = 0;
	s->armed = count > 0;
	s->running = false;
	if (!s->mem && count)
		s->mem = calloc(FORTH_SAMPLES, 2 * sizeof(*s->mem));
}

/* Starts sampling at the first DMA transaction after a store to the sample
 * counter. */
void forth_sampler_first(struct forth_nic *n, uint64_t pc)
{
	struct forth_sampler *s = &n->sampler;

	s->armed = false;
	s->running = true;
	s->interval = forth_cell(n, R_SAMPLE_INTERVAL);
	if (!s->interval)
		s->interval = 1;
	s->next = pc + s->interval;
	for (enum forth_dir d = 0; d < DIR_N; d++)
		s->origin[d] = forth_moved(n, d, pc);
}

/* Takes the samples due up to and including PCI edge `pc`. */
void forth_sampler_advance(struct forth_nic *n, uint64_t pc)
{
	struct forth_sampler *s = &n->sampler;

	for (; s->running && s->next <= pc; s->next += s->interval) {
		uint32_t *p = s->mem + 2 * s->taken;

		for (enum forth_dir d = 0; d < DIR_N; d++)
			p[d] = (uint32_t)(forth_moved(n, d, s->next) -
					  s->origin[d]);
		s->running = ++s->taken < s->left;
	}
}

uint64_t forth_sample_data_read(struct weft_comp *c, uint32_t unused)
{
	struct forth_nic *n = c->state;
	struct forth_sampler *s = &n->sampler;
	uint32_t i = s->index;

	if (!n->started || !s->mem)
		return 0;
	forth_sampler_advance(n, forth_pc(n));
	s->index = (i + 1) % (2 * FORTH_SAMPLES);
	return i < 2 * s->taken ? s->mem[i] : 0;
}

void forth_sample_data_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct forth_nic *n = c->state;

	n->sampler.index = (uint32_t)val % (2 * FORTH_SAMPLES);
}
