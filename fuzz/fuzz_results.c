/* SPDX-License-Identifier: Apache-2.0 */
/* `weft report` and `weft explain` read a results file from an untrusted
 * source, or refuse it with a reason.
 *
 * Byte 0 of an input selects how the input makes this file. After 'S' the other
 * bytes are SQL that changes a small good file. After 'P' they are patches of
 * three bytes for the good file: an offset of two bytes and the new value of
 * the byte there. With any other value the whole input is the file. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/explain/explain.h"
#include "front/out/out.h"
#include "front/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SQL_STEPS 200000 /* steps after which SQL of an input is stopped */

/* Fills a run that has rows in every table. */
static const char rows[] =
	"PRAGMA page_size=512; VACUUM;"
	"INSERT INTO runs VALUES(1,'e','p',0,'a');"
	"INSERT INTO manifest VALUES(1,'k','v');"
	"INSERT INTO metrics VALUES(1,'latency','ns',2.5),(1,'r','MB/s',1);"
	"INSERT INTO counters VALUES(1,'n0.nic.c','',7);"
	"INSERT INTO series "
	"VALUES(1,'s',0,'B','ns',8,1),(1,'s',1,'B','ns',9,2);"
	"INSERT INTO histograms VALUES(1,'h','ns',0,3),(1,'h','ns',8,4);"
	"INSERT INTO histogram_stats VALUES(1,'h',7,1,1,1,1,1,1,1,1);"
	"INSERT INTO failures VALUES(1,0,'f');"
	"INSERT INTO intervals VALUES(1,0,1),(1,1,2);"
	"INSERT INTO ports VALUES(1,0,'n0.p','n1.p','link',1,'B','[1,2]',"
	"'[3,4]','[5]');"
	"INSERT INTO reproduced VALUES(1,'i','s','c','u',1,1,0,1,'w','b','p',1,"
	"1,'n','c',1);"
	"INSERT INTO stories VALUES(1,2,100,900,0);"
	"INSERT INTO messages VALUES(1,1,'n0','n1',100,0,500),"
	"(1,2,'n1','n0',200,400,900);"
	"INSERT INTO stages VALUES(1,1,0,'n0.nic','dma',300),"
	"(1,1,1,'l','wire',500),(1,2,0,'n0.nic','dma',400),"
	"(1,2,1,'l','wire',900);"
	"INSERT INTO stage_sums VALUES(1,'n0.nic','dma',2,400);"
	"INSERT INTO uses VALUES(1,'n0.bus','bus','bus','b',790);"
	"INSERT INTO ranks VALUES(1,0,0,1,2);"
	"INSERT INTO calls VALUES(1,0,'send',1,8,5,5);"
	"INSERT INTO flows VALUES(1,0,1,1,8);";

static struct {
	char path[64];
	uint8_t *good;
	sqlite3_int64 good_len;
} at;

static void remove_file(void)
{
	unlink(at.path);
	sqlite3_free(at.good);
}

static void must(int rc)
{
	if (rc)
		abort();
}

static sqlite3 *file_open(void)
{
	sqlite3 *sql = NULL;

	must(sqlite3_open(at.path, &sql));
	must(sqlite3_exec(sql, "PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF",
			  NULL, NULL, NULL));
	return sql;
}

static void write_file(const uint8_t *data, size_t len)
{
	FILE *f = fopen(at.path, "wb");

	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		abort();
}

static void prepare(void)
{
	struct weft_err err = { 0 };
	sqlite3 *sql;

	snprintf(at.path, sizeof(at.path), "/tmp/weft-fuzz-%ld.db",
		 (long)getpid());
	must(out_db(at.path, false, NULL, 0, NULL, &err));
	sql = file_open();
	must(sqlite3_exec(sql, rows, NULL, NULL, NULL));
	at.good = sqlite3_serialize(sql, "main", &at.good_len, 0);
	sqlite3_close(sql);
	if (!at.good)
		abort();
	atexit(remove_file);
}

/* ---- the untrusted file ---- */

static int too_long(void *arg)
{
	return 1;
}

static int authorize(void *arg, int what, const char *a, const char *b,
		     const char *c, const char *d)
{
	(void)arg, (void)a, (void)b, (void)c, (void)d;
	return what == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

static void run_sql(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	sqlite3 *sql;

	if (!text)
		abort();
	write_file(at.good, (size_t)at.good_len);
	sql = file_open();
	sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, 100000);
	sqlite3_set_authorizer(sql, authorize, NULL);
	sqlite3_progress_handler(sql, SQL_STEPS, too_long, NULL);
	sqlite3_exec(sql, text, NULL, NULL, NULL);
	sqlite3_close(sql);
	free(text);
}

static void patch(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc((size_t)at.good_len);

	if (!copy)
		abort();
	memcpy(copy, at.good, (size_t)at.good_len);
	for (; size >= 3; data += 3, size -= 3)
		copy[(data[0] | (size_t)data[1] << 8) % (size_t)at.good_len] =
			data[2];
	write_file(copy, (size_t)at.good_len);
	free(copy);
}

/* ---- the readers ---- */

static void must_say(int ret, const struct weft_err *err)
{
	if (ret && !err->msg[0])
		abort();
}

static int read_report(void)
{
	struct weft_err err = { 0 };
	struct json j;
	int ret;

	json_init(&j, false);
	ret = report_read(&j, at.path, &err);
	must_say(ret, &err);
	json_fini(&j);
	return ret;
}

static int read_explain(uint64_t run, const char *which)
{
	struct weft_err err = { 0 };
	struct explain e;
	char *text = NULL;
	size_t n = 0;
	FILE *f;
	int ret = explain_load(at.path, run, &e, &err);

	must_say(ret, &err);
	if (ret)
		return ret;
	f = open_memstream(&text, &n);
	if (!f)
		abort();
	must_say(explain_table(&e, which, f, &err), &err);
	must_say(explain_json(&e, which, f, &err), &err);
	fclose(f);
	free(text);
	explain_fini(&e);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!at.good) {
		prepare();
		must(read_report());
		must(read_explain(1, NULL));
	}
	if (size && data[0] == 'S')
		run_sql(data + 1, size - 1);
	else if (size && data[0] == 'P')
		patch(data + 1, size - 1);
	else
		write_file(data, size);
	read_report();
	read_explain(1, NULL);
	read_explain(1, "2");
	read_explain(2, "slowest");
	return 0;
}
