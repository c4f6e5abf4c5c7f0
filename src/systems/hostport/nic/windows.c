/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of window descriptors, and checks of accesses to windows (hostport.md
 * 4.7, 6.3, 8.8). */
#include "systems/hostport/nic/functional_units.h"

static uint64_t win_key(uint32_t vpid, uint32_t id)
{
	return (uint64_t)vpid << 32 | id;
}

void hp_win_get(struct hp_nic *n, struct hp_look *k, uint32_t vpid,
		weft_phys_t wdt, uint32_t id)
{
	k->key = win_key(vpid, id);
	k->addr = wdt + (uint64_t)HP_LINE * id;
	k->bytes = HP_LINE;
	hp_lines_get(n, n->win, k, id < n->reg.wdt_size);
}

/* ---- checks ---- */

enum { INV, CAPA, OFFSET, LENGTH, SEG, CODES };

static const uint8_t codes[2][CODES] = {
	{ HP_ERR_OWINID_INV, 0, HP_ERR_OOFFSET, HP_ERR_OLENGTH, HP_ERR_OWINID },
	{ HP_ERR_TWINID_INV, HP_ERR_TWINID_CAPA, HP_ERR_TOFFSET, HP_ERR_TLENGTH,
	  HP_ERR_TWINID },
};

static uint64_t win_word(const struct hp_look *k, uint32_t i)
{
	uint64_t w;

	memcpy(&w, k->data + 8 * i, sizeof(w));
	return w;
}

uint64_t hp_win_va(const struct hp_look *k)
{
	return win_word(k, HP_WIN_VA);
}

enum hp_err hp_win_check(const struct hp_access *a, const struct hp_look *k)
{
	uint64_t flags = win_word(k, HP_WIN_FLAGS),
		 len = win_word(k, HP_WIN_LEN);
	uint64_t owner = win_word(k, HP_WIN_OWNER) & 0xffffffffffffull;
	const uint8_t *code = codes[a->target];

	if (!k->ok || !(flags & HP_WIN_EN))
		return code[INV];
	/* only the owner may use a locked window. Even the process that opened
	 * the window is refused if it is not the owner */
	if (flags & HP_WIN_LOCK && owner != HP_WIN_OWNER_MAKE(a->hpid, a->vpid))
		return code[INV];
	if (a->target &&
	    ((!(flags & HP_WIN_CAP_ANY) && (uint32_t)flags != a->capa) ||
	     (flags & a->rights) != a->rights))
		return code[CAPA];
	if (a->off & 7)
		return code[OFFSET];
	if (a->len & 7)
		return code[LENGTH];
	return a->len <= HP_BYTES_MAX && a->len <= len && a->off <= len - a->len
		       ? HP_ERR_NOERR
		       : code[SEG];
}

/* ---- the block ---- */

static uint64_t win_cache(struct hp_nic *n, uint64_t cmd, uint64_t arg0,
			  uint64_t arg1)
{
	if (HP_CACHE_OP(cmd) == HP_CACHE_REMOVE && arg0 == HP_NONE) {
		hp_lines_drop(n->win, win_key(HP_CACHE_VPID(cmd), 0),
			      win_key(HP_CACHE_VPID(cmd), UINT32_MAX));
		return 0;
	}
	return hp_lines_cmd(n->win, HP_CACHE_OP(cmd),
			    win_key(HP_CACHE_VPID(cmd), (uint32_t)arg0));
}

const struct hp_block hp_win_block = {
	.name = "win",
	.cache = win_cache,
};
