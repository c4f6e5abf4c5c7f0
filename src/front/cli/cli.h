/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: tables of commands and options. */
#ifndef FRONT_CLI_H
#define FRONT_CLI_H

#include <stdio.h>

#include "base/vec.h"
#include "front/exp/registry.h"
#include "front/run/run.h"

/* Exit status. CLI_SIGNAL + signal means that the signal ended the command. The
 * command has then printed the results up to the signal. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_SIGNAL = 128 };

struct strs {
	VEC(const char *);
};

/* The command line after parsing: arguments and options as text. */
struct cli {
	const char *prog; /* name under which weft was called */
	struct strs args; /* positional arguments */
	struct strs set, load, sample, show, capture, fabric, disk;
	const char *seed, *format, *out, *jobs, *follow, *capture_file;
	const char *file_limit;
	const char *message, *run, *trace, *waves;
	const char *n, *clock, *map, *per_node, *cores, *patience;
	const char *path, *size, *socket;
	const char *mpi, *mpiexec, *cpu_factor;
	bool quiet, append, quick, help, sweep_load, raw, sensitivity;
	bool formatted; /* true if --format was given */
	uint32_t n_jobs;
	struct registry reg;
	/* Edits the experiment's text before --set is applied; may be NULL. */
	int (*edit)(struct doc *d, const struct registry *reg,
		    struct weft_err *err);
};

struct cli_cmd {
	const char *name, *usage, *doc;
	const char *opts;    /* names of the command's options, separated by
			      * spaces */
	const char *formats; /* "table|json|csv"; the first is the default */
	size_t min_args, max_args;
	int (*run)(struct cli *c);
	const char *more; /* text at the end of the command's help, or NULL */
	/* options end at the first argument, because the words behind it belong
	 * to the user's program */
	bool rest;
};
extern const struct cli_cmd cli_cmds[];		   /* ended by name == NULL */
const char *cli_cmds_next(void *unused, size_t i); /* for units_nearest */

enum cli_type { CLI_FLAG, CLI_TEXT, CLI_LIST };

struct cli_opt {
	const char *name, *arg, *doc;
	enum cli_type type;
	size_t offset; /* offset of the option's field in struct cli */
};
extern const struct cli_opt cli_opts[]; /* ended by name == NULL */
/* Returns "-" for options of one letter, otherwise "--". */
const char *cli_dashes(const struct cli_opt *o);
bool cli_takes(const struct cli_cmd *cmd, const struct cli_opt *o);
/* Returns true when `word` is in the list "a|b|c". */
bool cli_word_in(const char *list, char sep, const char *word);

/* help.c. Each function prints a help text and returns the exit status. */
int cli_start(void);
int cli_help_all(void);
int cli_help(const struct cli_cmd *cmd);

/* Prints "weft: message" and returns CLI_USAGE. */
int cli_error(const struct weft_err *err);
int cli_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints "weft: WHAT 'WORD'", then the most similar known word, or the remedy
 * if no known word is similar. Returns CLI_USAGE. */
int cli_unknown(const char *what, const char *word,
		const char *(*next)(void *arg, size_t i), void *arg,
		const char *remedy);
bool cli_format_is(const struct cli *c, const char *name);
/* Loads an experiment with the options --set, --seed, --sample and --show
 * applied. Returns 0, or a negative errno with a message. */
int cli_load_exp(struct cli *c, const char *what, struct exp **exp_p,
		 struct weft_err *err);
/* Returns true when f is a terminal that is not dumb and NO_COLOR
 * (no-color.org) is not set. */
bool cli_colours(FILE *f);
/* Flushes standard output.  A full disk is an error, because the results would
 * be incomplete. */
int cli_flush(int status);

int cmd_run(struct cli *c);
int cmd_check(struct cli *c);
int cmd_list(struct cli *c);
int cmd_describe(struct cli *c);
int cmd_reproduce(struct cli *c);
int cmd_bench(struct cli *c);
int cmd_report(struct cli *c);
int cmd_explain(struct cli *c);
int cmd_tour(struct cli *c);
int cmd_completion(struct cli *c);
int cmd_exec(struct cli *c);
int cmd_disk(struct cli *c);
int cmd_import(struct cli *c);

/* Each function returns the i-th valid value of an argument, or NULL after the
 * last value. units_nearest and completion call it. */
const char *list_kinds_next(void *unused, size_t i);
const char *reproduce_next(void *unused, size_t i);
const char *bench_next(void *unused, size_t i);

#endif
