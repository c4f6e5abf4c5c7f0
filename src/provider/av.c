/* SPDX-License-Identifier: Apache-2.0 */
/* Address vectors. In maps and tables alike fi_addr_t is the index of an
 * entry. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "provider/obj.h"

/* Stores the name of an entry when it becomes known. Returns the name. */
static wfi_name av_learn(struct wfi_av *av, size_t i, wfi_name name)
{
	if (name && !av->at[i].name) {
		av->at[i].name = name;
		av->unknown--;
		if (!map_get(&av->back, name))
			map_set(&av->back, name, i + 1);
	}
	return name;
}

int wfi_av_name(struct wfi_av *av, fi_addr_t addr, wfi_name *name_p)
{
	if (addr >= av->n || !av->at[addr].used)
		return -FI_EINVAL;
	*name_p = av->at[addr].name;
	if (!*name_p)
		*name_p = av_learn(
			av, addr,
			wfi_name_find(av->dom->hub, &av->at[addr].sin));
	return 0;
}

/* Returns the address of a sender. If the sender is unknown, assigns the
 * sender's name to the first entry that has the sender's port and no name. */
fi_addr_t wfi_av_addr(struct wfi_av *av, wfi_name name)
{
	uint64_t i = map_get(&av->back, name);

	if (i)
		return i - 1;
	for (i = 0; av->unknown && i < av->n; i++) {
		if (!av->at[i].used || av->at[i].name ||
		    ntohs(av->at[i].sin.sin_port) != WFI_PORT(name))
			continue;
		av_learn(av, i, name);
		return i;
	}
	return FI_ADDR_NOTAVAIL;
}

static int av_add(struct wfi_av *av, const struct sockaddr_in *sin,
		  fi_addr_t *addr_p)
{
	size_t cap = av->cap ? av->cap * 2 : 64;
	struct wfi_av_entry *e;
	wfi_name name;

	if (addr_p)
		*addr_p = FI_ADDR_NOTAVAIL;
	if (sin->sin_family != AF_INET)
		return -FI_EINVAL;
	if (av->n == av->cap) {
		e = reallocarray(av->at, cap, sizeof(*e));
		if (!e)
			return -FI_ENOMEM;
		av->at = e;
		av->cap = cap;
	}
	e = &av->at[av->n];
	*e = (struct wfi_av_entry){ .sin = *sin, .used = true };
	memset(e->sin.sin_zero, 0, sizeof(e->sin.sin_zero));
	av->unknown++;
	if (addr_p)
		*addr_p = av->n;
	av->n++;
	return wfi_av_name(av, av->n - 1, &name);
}

static int av_insert(struct fid_av *fid, const void *addr, size_t count,
		     fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	struct wfi_av *av = container_of(fid, struct wfi_av, fid);
	const struct sockaddr_in *sin = addr;
	int done = 0, *errs = flags & FI_SYNC_ERR ? context : NULL;
	struct fi_eq_entry e;

	if (flags & ~(FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID))
		return -FI_EBADFLAGS;
	wfi_lock(av->dom->hub);
	for (size_t i = 0; i < count; i++) {
		int rc = av_add(av, &sin[i], fi_addr ? &fi_addr[i] : NULL);
		struct fi_eq_err_entry bad = { .fid = &av->fid.fid,
					       .context = context,
					       .data = i,
					       .err = -rc,
					       .prov_errno = -rc };

		done += !rc;
		if (errs)
			errs[i] = -rc;
		else if (rc && av->eq)
			wfi_eq_add(av->eq, FI_AV_COMPLETE, -rc, &bad,
				   sizeof(bad), NULL, 0);
	}
	wfi_unlock(av->dom->hub);
	if (!av->eq)
		return done;
	e = (struct fi_eq_entry){ .fid = &av->fid.fid,
				  .context = context,
				  .data = done };
	wfi_eq_add(av->eq, FI_AV_COMPLETE, 0, &e, sizeof(e), NULL, 0);
	return 0;
}

static int av_insertsvc(struct fid_av *fid, const char *node,
			const char *service, fi_addr_t *fi_addr, uint64_t flags,
			void *context)
{
	struct sockaddr_in sin;
	int rc = wfi_resolve(node, service, &sin);

	if (rc)
		return rc;
	return av_insert(fid, &sin, 1, fi_addr, flags, context);
}

/* Inserts an address for each pair of a node and a service. Nodes are numbered
 * from the given IP address on, services from the given port on. */
static int av_insertsym(struct fid_av *fid, const char *node, size_t nodes,
			const char *service, size_t svcs, fi_addr_t *fi_addr,
			uint64_t flags, void *context)
{
	struct sockaddr_in first, sin;
	int done = 0, rc = wfi_resolve(node, service, &first);

	for (size_t i = 0; !rc && i < nodes; i++) {
		for (size_t j = 0; j < svcs; j++) {
			sin = first;
			sin.sin_addr.s_addr =
				htonl(ntohl(first.sin_addr.s_addr) + i);
			sin.sin_port = htons(ntohs(first.sin_port) + j);
			done += av_insert(fid, &sin, 1,
					  fi_addr ? fi_addr++ : NULL, flags,
					  context);
		}
	}
	return rc ? rc : done;
}

static int av_remove(struct fid_av *fid, fi_addr_t *fi_addr, size_t count,
		     uint64_t flags)
{
	struct wfi_av *av = container_of(fid, struct wfi_av, fid);
	int rc = 0;

	wfi_lock(av->dom->hub);
	for (size_t i = 0; i < count; i++) {
		struct wfi_av_entry *e;

		if (fi_addr[i] >= av->n || !av->at[fi_addr[i]].used) {
			rc = -FI_EINVAL;
			continue;
		}
		e = &av->at[fi_addr[i]];
		if (!e->name)
			av->unknown--;
		else if (map_get(&av->back, e->name) == fi_addr[i] + 1)
			map_del(&av->back, e->name);
		e->used = false;
	}
	wfi_unlock(av->dom->hub);
	return rc;
}

static int av_lookup(struct fid_av *fid, fi_addr_t fi_addr, void *addr,
		     size_t *addrlen)
{
	struct wfi_av *av = container_of(fid, struct wfi_av, fid);
	size_t room = *addrlen;
	int rc = -FI_EINVAL;

	wfi_lock(av->dom->hub);
	if (fi_addr < av->n && av->at[fi_addr].used) {
		struct sockaddr_in sin = av->at[fi_addr].sin;

		memcpy(addr, &sin, min_of(room, sizeof(sin)));
		*addrlen = sizeof(sin);
		rc = 0;
	}
	wfi_unlock(av->dom->hub);
	return rc;
}

static const char *av_straddr(struct fid_av *fid, const void *addr, char *buf,
			      size_t *len)
{
	const struct sockaddr_in *sin = addr;
	char ip[INET_ADDRSTRLEN];
	int n;

	inet_ntop(AF_INET, &sin->sin_addr, ip, sizeof(ip));
	n = snprintf(buf, *len, "fi_sockaddr_in://%s:%u", ip,
		     ntohs(sin->sin_port));
	*len = n + 1;
	return buf;
}

static int no_av_set(struct fid_av *av, struct fi_av_set_attr *attr,
		     struct fid_av_set **set, void *context)
{
	return -FI_ENOSYS;
}

static int av_close(struct fid *fid)
{
	struct wfi_av *av = container_of(fid, struct wfi_av, fid.fid);
	struct wfi_hub *h = av->dom->hub;

	wfi_lock(h);
	if (av->refs) {
		wfi_unlock(h);
		return -FI_EBUSY;
	}
	av->dom->refs--;
	wfi_unlock(h);
	if (av->eq)
		wfi_eq_use(av->eq, -1);
	map_free(&av->back);
	free(av->at);
	free(av);
	return 0;
}

static struct fi_ops av_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = av_close,
	.bind = wfi_eq_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_av av_ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = av_insert,
	.insertsvc = av_insertsvc,
	.insertsym = av_insertsym,
	.remove = av_remove,
	.lookup = av_lookup,
	.straddr = av_straddr,
	.av_set = no_av_set,
};

int wfi_av_open(struct fid_domain *fid, struct fi_av_attr *attr,
		struct fid_av **av_p, void *context)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid);
	struct wfi_av *av;

	if (attr && (attr->name || attr->rx_ctx_bits))
		/* shared vectors and scalable endpoints are not supported */
		return -FI_ENOSYS;
	if (attr && (attr->flags & ~(FI_EVENT)))
		return -FI_ENOSYS;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	av->dom = d;
	av->type = attr ? attr->type : FI_AV_MAP;
	if (attr && attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_MAP;
	av->fid.fid = (struct fid){ FI_CLASS_AV, context, &av_fid_ops };
	av->fid.ops = &av_ops;
	wfi_domain_use(d, 1);
	*av_p = &av->fid;
	return 0;
}
