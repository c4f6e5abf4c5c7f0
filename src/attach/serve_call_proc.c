/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a client's calls of weft/host.h for threads, drivers, and processes
 * and domains of its node. */
#include <errno.h>
#include <string.h>

#include "attach/serve_host.h"
#include "base/minmax.h"
#include "host/prog.h"

/* ---- processes and domains ---- */

/* Returns the index of p in procs, or of a free entry when p is NULL. Returns
 * procs.n when the entry does not exist. */
static size_t find_proc(const struct att_node *n, const struct weft_proc *p)
{
	size_t i = 0;

	while (i < n->procs.n && n->procs.at[i].p != p)
		i++;
	return i;
}

/* Returns the handle of p, and makes one if p has none. Returns 0 for NULL. */
static uint16_t handle_of(struct att_node *n, struct weft_proc *p)
{
	size_t i = p ? find_proc(n, p) : 0, k = find_proc(n, NULL);

	if (!p)
		return 0;
	if (i < n->procs.n)
		return (uint16_t)(i + 1);
	if (k < n->procs.n) {
		n->procs.at[k] = (struct raw_proc){ .p = p };
		return (uint16_t)(k + 1);
	}
	vec_push(&n->procs, (struct raw_proc){ .p = p });
	return (uint16_t)n->procs.n;
}

/* Moves the client's thread into p. The host then checks the accesses of the
 * thread against the tables of p. */
static uint64_t call_proc_entered(struct att_client *c, struct weft_proc *p)
{
	uint16_t handle = handle_of(c->g->raw, p);

	c->thread.proc = p;
	if (handle)
		c->g->raw->procs.at[handle - 1].entered = true;
	return handle;
}

bool raw_run_domain(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r)
{
	struct weft_host *h = c->thread.h;

	switch (k->kind) {
	case ATT_H_DOMAIN_NEW:
		if (c->g->raw->n_domains++ < RAW_PROCS)
			r->a = weft_domain_new(h);
		break;
	case ATT_H_DOMAIN_GIVE:
		r->a = weft_domain_give(h, k->n, raw_dev(c, k), k->bar,
					k->io_off, k->io_len);
		break;
	case ATT_H_DOMAIN_ENTER:
		/* The call is refused inside a driver, because the end of the
		 * driver's call would restore the thread's old process. */
		if (c->thread.depth)
			raw_refuse(c, "domain_enter", "not inside of a driver");
		else if (weft_domain_enter(h, k->n))
			r->a = call_proc_entered(c, weft_proc_self(h));
		break;
	case ATT_H_PAGE_SHARE:
		r->a = weft_page_share(h, raw_dev(c, k), k->bar, k->io_off);
		break;
	default:
		return false;
	}
	return true;
}

/* Frees a process. If a thread has entered the process, only its windows are
 * freed, because the thread may still use it. */
static void run_proc_free(struct att_client *c, struct raw_proc *p)
{
	if (!p->entered) {
		weft_proc_free(c->thread.h, p->p);
		p->p = NULL;
		vec_free(&p->maps);
		return;
	}
	while (p->maps.n) {
		struct weft_io io = { .off = vec_pop(&p->maps) };

		weft_proc_unmap(c->thread.h, p->p, &io);
	}
}

static void run_proc_map(struct att_client *c, const struct att_host_cmd *k,
			 struct att_reply *r)
{
	struct raw_proc *p = raw_proc(c, k->proc);
	struct weft_io io = { 0 };

	if (p->maps.n == RAW_MAPS || k->attr > WEFT_WC)
		return;
	r->a = weft_proc_map(c->thread.h, p->p, raw_dev(c, k), k->bar,
			     k->io_off, k->io_len, (enum weft_io_attr)k->attr,
			     &io);
	r->b = io.off;
	if (r->a)
		vec_push(&p->maps, io.off);
}

static void run_proc_unmap(struct att_client *c, const struct att_host_cmd *k)
{
	struct raw_proc *p = raw_proc(c, k->proc);
	struct weft_io io = { .off = k->io_off };

	for (size_t i = 0; i < p->maps.n; i++)
		if (p->maps.at[i] == k->io_off) {
			p->maps.at[i] = vec_last(&p->maps);
			p->maps.n--;
			weft_proc_unmap(c->thread.h, p->p, &io);
			return;
		}
}

bool raw_run_proc(struct att_client *c, const struct att_host_cmd *k,
		  struct att_reply *r)
{
	struct weft_host *h = c->thread.h;
	struct att_node *n = c->g->raw;
	struct weft_proc *p;

	switch (k->kind) {
	case ATT_H_PROC_NEW:
		if (n->procs.n < RAW_PROCS || find_proc(n, NULL) < n->procs.n)
			r->a = handle_of(n, weft_proc_new(h, k->n));
		break;
	case ATT_H_PROC_FREE:
		run_proc_free(c, raw_proc(c, k->proc));
		break;
	case ATT_H_PROC_MAP:
		run_proc_map(c, k, r);
		break;
	case ATT_H_PROC_UNMAP:
		run_proc_unmap(c, k);
		break;
	case ATT_H_PROC_TAG:
		r->a = weft_proc_set_tag(h, raw_proc(c, k->proc)->p, k->tag);
		break;
	case ATT_H_PROC_ENTER:
		p = raw_proc(c, k->proc)->p;
		if (weft_proc_enter(h, p))
			r->a = call_proc_entered(c, p);
		break;
	case ATT_H_PROC_SELF:
		p = weft_proc_self(h);
		if (p && !c->thread.depth)
			r->a = call_proc_entered(c, p);
		break;
	default:
		return false;
	}
	return true;
}

/* ---- drivers ---- */

/* Serves a driver whose code is in the client. Executes the driver's calls
 * until the driver returns. */
static int call_proc_driver(struct weft_host *h, void *own, uint32_t op,
			    void *arg)
{
	if (op != RAW_OP) /* the call is from another program */
		return -ENODEV;
	raw_serve(arg);
	return 0;
}

/* Calls a driver of the client. */
static void run_drv_call(struct att_client *c, const struct att_host_cmd *k,
			 struct att_reply *r)
{
	struct weft_proc *was = c->thread.proc;
	uint32_t depth = c->thread.depth;

	if (depth == RAW_DEPTH) {
		att_break(c, "its drivers call each other without end");
		return;
	}
	c->thread.depth++;
	c->thread.proc = NULL;
	r->status = weft_drv_call(c->thread.h, raw_dev(c, k), RAW_OP, c);
	c->thread.depth = depth;
	if (!c->thread.proc)
		c->thread.proc = was;
}

/* Calls a driver of the simulator. The argument is plain data, which is
 * returned in rx. r->a is set to the process that the thread has entered during
 * the call, or to 0. */
static void run_drv_trap(struct att_client *c, const struct att_host_cmd *k,
			 struct att_reply *r)
{
	uint64_t arg[WEFT_DRV_BYTES_MAX / 8];
	uint32_t op = (uint32_t)k->io_off;

	if (k->n > sizeof(arg) || k->n != WEFT_DRV_BYTES(op)) {
		raw_refuse(c, "drv_call", "its argument is no plain data");
		return;
	}
	memcpy(arg, raw_data(c, k), k->n);
	r->b = (uint64_t)(int64_t)weft_drv_call(c->thread.h, raw_dev(c, k), op,
						arg);
	memcpy(c->view.rx, arg, k->n);
	if (!c->thread.depth && weft_proc_self(c->thread.h) != c->thread.proc)
		r->a = call_proc_entered(c, weft_proc_self(c->thread.h));
}

bool raw_run_driver(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r)
{
	struct weft_drv drv = { .call = call_proc_driver, .bars = k->n };

	switch (k->kind) {
	case ATT_H_DRV_SET:
		r->a = weft_drv_set(c->thread.h, raw_dev(c, k), &drv);
		break;
	case ATT_H_DRV_CALL:
		run_drv_call(c, k, r);
		break;
	case ATT_H_DRV_TRAP:
		run_drv_trap(c, k, r);
		break;
	case ATT_H_DRV_LEAVE:
		if (c->thread.depth)
			c->thread.depth--;
		else
			raw_refuse(c, "drv_leave", "it is in no driver");
		break;
	default:
		return false;
	}
	return true;
}

/* ---- threads ---- */

/* Returns the client in `slot` that belongs to the same process and waits to
 * become a thread, or NULL. */
static struct att_client *call_proc_newcomer(struct att_client *c,
					     uint32_t slot)
{
	struct att_server *s = c->srv;
	struct att_client *t = NULL;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->joins.n + s->clients.n && !t; i++) {
		t = i < s->joins.n ? s->joins.at[i]
				   : s->clients.at[i - s->joins.n];
		if (t->slot != slot || t->node != c->node || t->gone ||
		    t->pid != c->pid || t->role != ATT_ROLE_THREAD ||
		    t->thread.h)
			t = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	return t;
}

static void run_thread(struct att_client *c, const struct att_host_cmd *k,
		       struct att_reply *r)
{
	struct att_client *t = call_proc_newcomer(c, k->dev);

	if (!t) {
		raw_refuse(c, "thread_start", "no such thread");
		return;
	}
	t->thread.far_owner = c->thread.far_owner;
	t->thread.proc = c->thread.proc;
	t->thread.h = weft_thread_start(c->thread.h, raw_main, t);
	r->a = t->thread.h != NULL;
}

/* ---- words ---- */

/* Returns the simulator's word that stands for the client's word at `at`, or
 * NULL if the client has too many words. The value of the simulator's word has
 * no meaning, because the client has compared its own word. */
static struct raw_word *word_of(struct att_client *c, uint64_t at)
{
	struct att_node *n = c->g->raw;
	struct raw_word *w;

	for (size_t i = 0; i < n->words.n; i++)
		if (n->words.at[i]->at == at &&
		    n->words.at[i]->who == c->thread.far_owner)
			return n->words.at[i];
	w = n->words.n < RAW_WORDS ? calloc(1, sizeof(*w)) : NULL;
	if (!w)
		return NULL;
	w->at = at;
	w->who = c->thread.far_owner;
	vec_push(&n->words, w);
	return w;
}

/* Executes a wait or a wake-up. A wait ends at once if the word was woken after
 * the client compared it. */
static void run_word(struct att_client *c, const struct att_host_cmd *k,
		     struct att_reply *r)
{
	struct raw_word *w = word_of(c, k->off);
	struct weft_host *h = c->thread.h;

	if (!w) {
		raw_refuse(c, k->kind == ATT_H_WAKE ? "wake" : "wait",
			   "too many words");
	} else if (k->kind == ATT_H_WAKE) {
		/* Threads may post their wake-ups out of order. */
		w->woken = max_of(w->woken, k->val);
		weft_host_wake(h, &w->word);
	} else if (k->kind == ATT_H_SPIN && k->io_len > ATT_BUSY_MAX) {
		raw_refuse(c, "spin", "turn too long");
	} else if (w->woken > k->io_off) {
		r->a = 0;
	} else if (k->kind == ATT_H_SPIN) {
		r->a = weft_host_spin(h, &w->word, w->word, k->io_len,
				      raw_time(k->val));
	} else {
		r->a = weft_host_wait(h, &w->word, w->word, raw_time(k->val));
	}
}

bool raw_run_thread(struct att_client *c, const struct att_host_cmd *k,
		    struct att_reply *r)
{
	switch (k->kind) {
	case ATT_H_THREAD:
		run_thread(c, k, r);
		break;
	case ATT_H_WAIT:
	case ATT_H_SPIN:
	case ATT_H_WAKE:
		run_word(c, k, r);
		break;
	case ATT_H_ALONE:
		weft_prog_alone(c->thread.h);
		break;
	default:
		return false;
	}
	return true;
}
