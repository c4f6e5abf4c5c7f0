/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page: the first part of the shell, the data, the rest of the
 * shell. */
#include "front/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/out/file.h"

static int put_page(const char *path, const struct json *j,
		    struct weft_err *err)
{
	const char *mark = memmem(report_shell, report_shell_len, REPORT_MARK,
				  strlen(REPORT_MARK));
	const char *rest = mark + strlen(REPORT_MARK);
	const char *p = j->buf, *end = j->buf + j->len;
	struct out_file o;

	if (out_file_open(&o, "--out", path, err))
		return -EINVAL;
	fwrite(report_shell, 1, (size_t)(mark - report_shell), o.f);
	/* '<' is escaped, because only '<' can end a script element. In JSON it
	 * occurs in texts alone. */
	while (p < end) {
		const char *lt = memchr(p, '<', (size_t)(end - p));

		fwrite(p, 1, (size_t)((lt ? lt : end) - p), o.f);
		if (lt)
			fputs("\\u003c", o.f);
		p = lt ? lt + 1 : end;
	}
	fwrite(rest, 1, (size_t)(report_shell + report_shell_len - rest), o.f);
	return out_file_close(&o, true, err);
}

int report_write(const char *out, const char *const *files, size_t n,
		 struct weft_err *err)
{
	struct json j;
	int ret = 0;

	if (!report_shell_len)
		return weft_fail(
			err, ENOSYS,
			"report: this program was built without the page: its parts could not be fetched; run web/build.py, then build again");
	json_init(&j, false);
	json_obj(&j, NULL);
	json_str(&j, "weft", WEFT_VERSION);
	json_arr(&j, "files");
	for (size_t i = 0; i < n && !ret; i++)
		ret = report_read(&j, files[i], err);
	if (!ret) {
		json_end(&j);
		json_end(&j);
		ret = put_page(out, &j, err);
	}
	json_fini(&j);
	return ret;
}
