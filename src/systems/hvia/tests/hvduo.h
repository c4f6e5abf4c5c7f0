/* SPDX-License-Identifier: Apache-2.0 */
/* Two nodes with HVIA-GE. Node 0 acts on its VI 3, and VI 4 of node 1
 * answers. */
#ifndef HVIA_TESTS_HVDUO_H
#define HVIA_TESTS_HVDUO_H

#include "unit/cmocka_all.h"
#include "hvarea.h"

enum { VI = 3, PEER = 4, LEN = 16 * HVIA_PAGE };

struct hvduo {
	struct hvrig rig[2];
	uint8_t *buf[2];
	uint32_t handle[2];
	uint32_t flags;		   /* flags of the peer's VI */
	const char *param, *value; /* parameter of the cards and its value in
				      the next run, or NULL */
	/* class of the one card that gets the parameter, or NULL for both */
	const char *of;
};
extern struct hvduo hvduo;

#define OK   (HVIA_ST_DONE)
#define RECV (HVIA_ST_DONE | HVIA_ST_RECEIVE)

void hvduo_open_side(struct weft_host *h, uint32_t rights, uint32_t flags);
/* Posts n receives of 4 KB each on the peer. */
void hvduo_peer_posts(struct weft_host *h, struct bench *b);
/* Runs the peer: posts the receives and waits until node 0 has finished its
 * test. */
int hvduo_peer(struct weft_host *h, struct bench *b);
void hvduo_run(node_fn a, node_fn z, uint64_t posted);
struct hvrig_desc *hvduo_simple(uint32_t i, uint32_t len);
uint32_t hvduo_sent(struct hvrig_desc *d);
enum hvia_vi_state hvduo_state_of(struct hvrig *r, uint32_t vi);
void hvduo_no_error(struct hvrig *r);
void hvduo_error_is(struct hvrig *r, uint32_t vi, enum hvia_error code);
uint32_t hvduo_try_data(uint64_t va, uint32_t handle, uint32_t len);

#endif
