/* SPDX-License-Identifier: Apache-2.0 */
/* Finds classes by name, and loads plug-ins. */
#include "front/exp/registry.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/shared_object.h"
#include "components.h"
#include "net/plug_network.h"

static const struct {
	const char *one, *many;
} kinds[WEFT_KIND_N] = {
	[WEFT_KIND_NIC] = { "nic", "nics" },
	[WEFT_KIND_SWITCH] = { "switch", "switches" },
	[WEFT_KIND_LINK] = { "link", "links" },
	[WEFT_KIND_HOST] = { "host", "hosts" },
	[WEFT_KIND_BUS] = { "bus", "buses" },
	[WEFT_KIND_FAULT] = { "fault", "faults" },
	[WEFT_KIND_PROGRAM] = { "program", "programs" },
	[WEFT_KIND_TRAFFIC] = { "traffic source", "traffic" },
};

const char *kind_name(enum weft_kind k)
{
	return kinds[k].one;
}

const char *kind_plural(enum weft_kind k)
{
	return kinds[k].many;
}

void registry_init(struct registry *r)
{
	memset(r, 0, sizeof(*r));
	for (const struct weft_class *const *c = weft_classes; *c; c++)
		vec_push(r, *c);
}

void registry_fini(struct registry *r)
{
	vec_free(r);
	while (r->topologies.n)
		free(vec_pop(&r->topologies));
	while (r->routings.n)
		free(vec_pop(&r->routings));
	vec_free(&r->topologies);
	vec_free(&r->routings);
	while (r->handles.n)
		dlclose(vec_pop(&r->handles));
	vec_free(&r->handles);
}

const struct weft_class *registry_find(const struct registry *r,
				       const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->at[i]->name, name))
			return r->at[i];
	return NULL;
}

const char *registry_next(void *registry, size_t i)
{
	const struct registry *r = registry;

	return i < r->n ? r->at[i]->name : NULL;
}

int registry_add(struct registry *r, const struct weft_class *cls,
		 const char *origin, struct weft_err *err)
{
	if (cls->api_version != WEFT_API_VERSION ||
	    cls->struct_size != sizeof(*cls))
		return weft_fail(
			err, EINVAL,
			"%.200s: built for interface %u (%u bytes): rebuild it for interface %u (%zu bytes)",
			origin, cls->api_version, cls->struct_size,
			WEFT_API_VERSION, sizeof(*cls));
	if (!cls->name || !*cls->name || cls->kind >= WEFT_KIND_N)
		return weft_fail(
			err, EINVAL,
			"%.200s: a class without name or kind: give .name and .kind",
			origin);
	if (registry_find(r, cls->name))
		return weft_fail(
			err, EEXIST,
			"%.200s: class '%.60s' exists already: choose another name",
			origin, cls->name);
	vec_push(r, cls);
	return 0;
}

/* Loads and unloads the object in a child process first, because a damaged file
 * can kill a process. Returns how the child died, or NULL if it survived. */
static const char *loader_dies(const char *path)
{
	pid_t pid = fork();
	int status = 0;
	void *h;

	if (pid == 0) {
		signal(SIGBUS, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (h)
			dlclose(h);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !status)
		return NULL;
	return WIFSIGNALED(status) ? strsignal(WTERMSIG(status))
				   : "an error of the loader";
}

/* Checks that the file is a shared object which exports classes, topologies or
 * routings. */
static int exports_check(const char *local, const char *path,
			 struct weft_err *err)
{
	static const char *const lists[] = { "weft_plugin_topologies",
					     "weft_plugin_routings",
					     "weft_plugin_classes" };
	char why[160];

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (shared_object_exports(local, lists[i], why, sizeof(why)))
			return 0;
	return weft_fail(err, EINVAL, "%.200s: cannot load: %s%s", path, why,
			 strncmp(why, "exports", 7)
				 ? ""
				 : ": declare them with WEFT_PLUGIN");
}

const struct net_topology *registry_topology(const struct registry *r,
					     const char *name)
{
	for (size_t i = 0; i < r->topologies.n; i++)
		if (!strcmp(r->topologies.at[i]->name, name))
			return r->topologies.at[i];
	return net_topology_called(name);
}

const struct net_routing *registry_routing(const struct registry *r,
					   const char *name,
					   const struct net_topology *t)
{
	for (size_t i = 0; i < r->routings.n; i++)
		if (!strcmp(r->routings.at[i]->name, name))
			return r->routings.at[i];
	return net_routing_called(name, t);
}

/* Adds topologies and routings that a shared object exports. */
static int networks_load(struct registry *r, void *h, const char *path,
			 struct weft_err *err)
{
	const struct weft_topology *const *t =
		dlsym(h, "weft_plugin_topologies");
	const struct weft_routing *const *u = dlsym(h, "weft_plugin_routings");
	struct weft_err sub = { 0 };

	for (; t && *t; t++) {
		struct net_topology *own = net_plug_topology(*t, &sub);

		if (!own)
			return weft_fail(err, EINVAL, "%.200s: %s", path,
					 sub.msg);
		vec_push(&r->topologies, own);
	}
	for (; u && *u; u++) {
		struct net_routing *own = net_plug_routing(*u, &sub);

		if (!own)
			return weft_fail(err, EINVAL, "%.200s: %s", path,
					 sub.msg);
		vec_push(&r->routings, own);
	}
	return 0;
}

int registry_load(struct registry *r, const char *path, struct weft_err *err)
{
	char local[4096];
	const struct weft_class *const *list;
	const char *end;
	int ret = 0;
	void *h;

	/* A bare name gets "./", because dlopen would search the library
	 * path. */
	snprintf(local, sizeof(local), "%s%s", strchr(path, '/') ? "" : "./",
		 path);
	if (exports_check(local, path, err))
		return -EINVAL;
	end = loader_dies(local);
	if (end)
		return weft_fail(
			err, EINVAL,
			"%.200s: damaged: loading it ends in %s: build it again",
			path, end);
	h = dlopen(local, RTLD_NOW | RTLD_LOCAL);
	if (!h)
		return weft_fail(err, ENOENT, "%.200s: cannot load: %.200s",
				 path, dlerror());
	vec_push(&r->handles, h);
	list = dlsym(h, "weft_plugin_classes");
	for (; list && *list && !ret; list++)
		ret = registry_add(r, *list, path, err);
	return ret ? ret : networks_load(r, h, path, err);
}

const struct weft_param *class_param(const struct weft_class *cls,
				     const char *name)
{
	for (const struct weft_param *p = cls->params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

const char *param_source_name(enum weft_source s)
{
	static const char *const names[] = {
		[WEFT_STATED] = "stated",
		[WEFT_DERIVED] = "derived",
		[WEFT_RECONSTRUCTED] = "reconstructed",
		[WEFT_CALIBRATED] = "calibrated",
		[WEFT_OWN] = "own",
	};

	return (unsigned)s < 5 ? names[s] : "?";
}
