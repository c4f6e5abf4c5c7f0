/* SPDX-License-Identifier: Apache-2.0 */
/* `weft`: parses the command line by the tables of commands and options. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/disk/disk.h"
#include "front/exec/mpi.h"
#include "systems/examples.def"

const struct cli_cmd cli_cmds[] = {
	{ "tour", "", "what there is to see, in two minutes", "quiet", NULL, 0,
	  0, cmd_tour,
	  "Every step prints the command that it runs.  On a terminal Enter "
	  "goes on and q\n"
	  "ends it; piped or with --quiet it runs through.\n" },
	{ "run", "FILE", "run an experiment and print its results",
	  "set seed sample show sweep-load follow capture capture-file trace "
	  "waves file-limit "
	  "format "
	  "out append load jobs quiet",
	  "table|json|csv|svg", 1, 1, cmd_run,
	  "FILE is a YAML file, - for standard input, or the name of a "
	  "shipped\n"
	  "experiment (weft list experiments).\n"
	  "SIGINT (Ctrl-C) or SIGTERM ends the run: the results so far are "
	  "printed,\n"
	  "marked partial; the exit status is 128 + signal.\n" },
	{ "exec", "PROGRAM [ARGUMENT...]",
	  "run processes on a simulated machine",
	  "fabric n clock cpu-factor path raw map per-node cores patience mpi "
	  "mpiexec set seed sample show capture capture-file trace waves "
	  "file-limit "
	  "format out "
	  "append load quiet",
	  "table|json|csv|svg", 1, 65536, cmd_exec,
	  "The machine is an experiment (--fabric) without its workload: any "
	  "with nodes will\n"
	  "do, weft list experiments has some as exec/...  PROGRAM is started "
	  "-n times, or by\n"
	  "the mpirun of its MPI.\n"
	  "Exit status: 0 all is well, 1 a process failed (it is named), 2 "
	  "usage or input.\n",
	  true },
	{ "disk", "[COMMAND [ARGUMENT...]]",
	  "serve a remote disk of a simulated machine to programs",
	  "fabric size socket disk clock cores patience set seed sample show "
	  "capture "
	  "capture-file trace waves file-limit format out append load quiet",
	  "table|json|csv|svg", 0, 65536, cmd_disk,
	  "The machine is an experiment (--fabric): its targets (disk.target) "
	  "stay, one without\n"
	  "gets one on node 1; nbdkit runs on the first other node and speaks "
	  "NBD with any\n"
	  "client: fio, qemu-io, nbdcopy, file systems by nbdfuse.  COMMAND "
	  "runs with the\n"
	  "disk's address in $uri; one word is a line for the shell.  Without "
	  "it the disk is\n"
	  "open until Ctrl-C.  A status of COMMAND that is not 0 is that of "
	  "the whole.\n"
	  "Exit status: 0 all is well, 1 a check failed, 2 usage or input.\n",
	  true },
	{ "reproduce", "[SYSTEM|ROW...]",
	  "published numbers beside what the machine does",
	  "sensitivity set seed format out append load jobs quiet",
	  "table|json", 0, 64, cmd_reproduce,
	  "SYSTEM is e.g. " EXAMPLE_SYSTEM
	  ", ROW the id of one number, e.g. " EXAMPLE_ROW "; without "
	  "them all are\n"
	  "reproduced.  A row passes when the model is within the tolerance of "
	  "the\n"
	  "published value.  --sensitivity halves and doubles every parameter "
	  "of the machine\n"
	  "and shows which rows move, and how far a parameter may go before "
	  "a row fails.\n" },
	{ "list", "[KIND]", "what there is to build with", "format load",
	  "table|json", 0, 1, cmd_list,
	  "KIND: nics switches links hosts buses faults programs traffic\n"
	  "fabrics experiments\n" },
	{ "describe", "COMPONENT",
	  "parameters, counters, ports and registers of a component",
	  "format load", "table|json|markdown", 1, 1, cmd_describe, NULL },
	{ "check", "FILE", "validate an experiment without running it",
	  "set seed load quiet", NULL, 1, 1, cmd_check, NULL },
	{ "import", "FORMAT FILE [KEY=VALUE...]",
	  "a configuration of another simulator, or recorded calls of MPI",
	  "out quiet", NULL, 2, 65600, cmd_import,
	  "FORMAT\n"
	  "  booksim  a configuration of BookSim2 becomes an experiment.  "
	  "KEY=VALUE changes a\n"
	  "           setting of FILE.  To run it at once:\n"
	  "               weft import booksim FILE | weft run -\n"
	  "           A setting that cannot be done here is refused: its line, "
	  "and what would\n"
	  "           do.  A setting that changes no result is a remark; "
	  "--quiet hides remarks.\n"
	  "  dumpi    calls of MPI become a trace of packets, for `trace` of "
	  "traffic.  FILE...\n"
	  "           are texts of dumpi2ascii -a (sst-dumpi), one of each "
	  "rank in their order\n"
	  "  otf2     the same from the text of otf2-print -A:\n"
	  "               otf2-print -A traces.otf2 | weft import otf2 - "
	  "--out t.trace\n"
	  "  Settings of dumpi and otf2: cycle=1ns, of the network, "
	  "packet=4096 bytes at most,\n"
	  "  waits=no for recorded times alone.\n"
	  "FILE may be - for standard input.  The result goes to standard "
	  "output, or to --out.\n" },
	{ "report", "RESULTS...", "one page to look at, from results files",
	  "out quiet", NULL, 1, 64, cmd_report,
	  "RESULTS are files that weft run --out or weft reproduce --out "
	  "wrote.  The page\n"
	  "(report.html, or --out) holds all of them and needs nothing else: "
	  "open it in a\n"
	  "browser.  Runs of several files are drawn over each other.\n" },
	{ "explain", "RESULTS", "where the time of a message went, and why",
	  "message run format", "table|json", 1, 1, cmd_explain,
	  "RESULTS is a file that weft run --out wrote.  The stages of one "
	  "message, which\n"
	  "add up exactly to its time; then what was in use meanwhile, and "
	  "what the\n"
	  "bottleneck was.\n" },
	{ "bench", "[NAME]", "speed of the simulator itself",
	  "format quick load", "table|json", 0, 1, cmd_bench, NULL },
	{ "completion", "bash|words [WORD...]",
	  "completion of commands, options and names for the shell", "", NULL,
	  1, 4096, cmd_completion,
	  "For this shell: source <(weft completion bash).  make install puts "
	  "it where bash\n"
	  "looks.  'words' says what the last WORD may become, one per "
	  "line.\n" },
	{ 0 },
};

#define OPT(name, arg, type, field, doc)                                       \
	{                                                                      \
		name, arg, doc, CLI_##type, offsetof(struct cli, field)        \
	}
const struct cli_opt cli_opts[] = {
	OPT("sensitivity", NULL, FLAG, sensitivity,
	    "which parameters move each row, and how far until it fails"),
	OPT("set", "PATH=VALUE", LIST, set,
	    "change a place in the file, CLASS.PARAM or COMPONENT.PARAM"),
	OPT("seed", "N", TEXT, seed, "seed of all random streams"),
	OPT("sample", "TIME[,PATTERN...]", LIST, sample,
	    "record counters every TIME of the run, e.g. 10us,n*.nic.*"),
	OPT("show", "PATTERN", LIST, show,
	    "histograms and sampled counters that the table draws"),
	OPT("sweep-load", NULL, FLAG, sweep_load,
	    "find the load at which the network saturates (sweep: auto)"),
	OPT("fabric", "MACHINE", LIST, fabric,
	    "the machine: a YAML file or the name of an experiment; several: "
	    "one after the other, compared"),
	OPT("size", "SIZE", TEXT, size,
	    "of the disk, over all its targets, e.g. 8GiB"),
	OPT("socket", "PATH", TEXT, socket,
	    "file of the socket for clients; default: in a new folder"),
	OPT("disk", "KEY=VALUE", LIST, disk,
	    "check=crc32c, depth, stripe, timeout=US, link=native|ep, "
	    "notify, cluster, irq: of the initiator"),
	OPT("n", "N", TEXT, n, "how many processes; default: one per node"),
	OPT("clock", "CLOCK", TEXT, clock,
	    "fixed: calls cost time (default); cpu: computing, too; none: as "
	    "fast as possible"),
	OPT("cpu-factor", "X", TEXT, cpu_factor,
	    "--clock cpu: times the processor time used; default: 1"),
	OPT("path", "PATH", TEXT, path,
	    "nic: messages go through the machine (default); direct: from "
	    "process to process, with --clock none"),
	OPT("raw", NULL, FLAG, raw,
	    "the processes call weft/host.h themselves (libweft); several on a "
	    "node where the machine runs its driver"),
	OPT("map", "RANK:NODE,...", TEXT, map,
	    "where ranks live; default: rank i on node i"),
	OPT("per-node", "K", TEXT, per_node,
	    "K ranks next to each other on each node; default: 1"),
	OPT("cores", "N", TEXT, cores,
	    "processors for simulator and processes; default: 1, with --clock "
	    "none and for disks all"),
	OPT("patience", "TIME", TEXT, patience,
	    "how long a stopped process is waited for; default: 10s"),
	OPT("mpi", "MPI", TEXT, mpi,
	    "launcher of the processes: auto (default), none, an MPI, or "
	    "script: "
	    "the program calls mpirun itself"),
	OPT("mpiexec", "PATH", TEXT, mpiexec,
	    "that MPI's mpiexec or mpirun; default: beside its library, or in "
	    "PATH"),
	OPT("follow", "FILE", TEXT, follow,
	    "write results as they come, one JSON object per line"),
	OPT("capture", "LINE", LIST, capture,
	    "write down what passes: all, or ports such as 'n0.nic.*'"),
	OPT("capture-file", "FILE", TEXT, capture_file,
	    "where to (pcapng); default: weft.pcapng"),
	OPT("trace", "FILE", TEXT, trace,
	    "timeline for Perfetto or Chrome (JSON)"),
	OPT("waves", "FILE", TEXT, waves, "waves for GTKWave (VCD)"),
	OPT("file-limit", "SIZE", TEXT, file_limit,
	    "where captures and timelines end; default: 2GiB"),
	OPT("message", "WHICH", TEXT, message,
	    "fastest (default), slowest, first or a number"),
	OPT("run", "N", TEXT, run, "which run of the file; default: 1"),
	OPT("format", "FORMAT", TEXT, format, "how to print"),
	OPT("out", "FILE", TEXT, out,
	    "keep the results in a SQLite file; report: the page; import: the "
	    "experiment or trace"),
	OPT("append", NULL, FLAG, append,
	    "add to the file of --out instead of replacing it"),
	OPT("load", "SO", LIST, load, "use the components of a shared object"),
	OPT("jobs", "N", TEXT, jobs, "processes for the points of a sweep"),
	OPT("quiet", NULL, FLAG, quiet, "no progress line"),
	OPT("quick", NULL, FLAG, quick, "short measurements"),
	OPT("help", NULL, FLAG, help, "this text"),
	{ 0 },
};

/* ---- options ---- */

struct near_opts {
	const struct cli_cmd *cmd;
};

static const char *opts_next(void *arg, size_t i)
{
	const struct near_opts *n = arg;

	for (const struct cli_opt *o = cli_opts; o->name; o++)
		if (cli_takes(n->cmd, o) && i-- == 0)
			return o->name;
	return NULL;
}

static int unknown_opt(const struct cli_cmd *cmd, const char *name)
{
	struct near_opts n = { cmd };
	const char *near = units_nearest(name, opts_next, &n);

	if (near)
		return cli_fail("%s: no option '--%.40s': did you mean '--%s'?",
				cmd->name, name, near);
	return cli_fail("%s: no option '--%.40s': see weft %s --help",
			cmd->name, name, cmd->name);
}

/* Parses the option at argv[*i]. Advances *i if the option's value is the next
 * word. */
static int take_opt(struct cli *c, const struct cli_cmd *cmd, int argc,
		    char **argv, int *i)
{
	char name[48];
	const char *text = argv[*i] + strspn(argv[*i], "-");
	const char *eq = strchr(text, '=');
	const struct cli_opt *o = NULL;
	void *field;

	snprintf(name, sizeof(name), "%.*s",
		 eq ? (int)(eq - text) : (int)strlen(text), text);
	for (const struct cli_opt *k = cli_opts; k->name; k++)
		if (!strcmp(k->name, name) && cli_takes(cmd, k))
			o = k;
	if (!o)
		return unknown_opt(cmd, name);
	field = (char *)c + o->offset;
	if (o->type == CLI_FLAG) {
		if (eq)
			return cli_fail("%s: --%s takes no value", cmd->name,
					name);
		*(bool *)field = true;
		return 0;
	}
	if (!eq && *i + 1 >= argc)
		return cli_fail("%s: --%s needs a value: --%s %s", cmd->name,
				name, name, o->arg);
	text = eq ? eq + 1 : argv[++*i];
	if (o->type == CLI_LIST)
		vec_push((struct strs *)field, text);
	else
		*(const char **)field = text;
	return 0;
}

/* Returns true if `text` begins with an option of one letter. */
static bool is_letter(const struct cli_cmd *cmd, const char *text)
{
	for (const struct cli_opt *o = cli_opts; o->name; o++)
		if (text[0] == '-' && !o->name[1] && cli_takes(cmd, o) &&
		    !strcmp(text + 1, o->name))
			return true;
	return false;
}

static int take_args(struct cli *c, const struct cli_cmd *cmd, int argc,
		     char **argv)
{
	bool only_args = false;

	for (int i = 0; i < argc; i++) {
		if (!only_args && !strcmp(argv[i], "--")) {
			only_args = true;
		} else if (!only_args && !strcmp(argv[i], "-h")) {
			c->help = true;
		} else if (!only_args && !strncmp(argv[i], "--", 2)) {
			if (take_opt(c, cmd, argc, argv, &i))
				return CLI_USAGE;
		} else if (!only_args && is_letter(cmd, argv[i])) {
			if (take_opt(c, cmd, argc, argv, &i))
				return CLI_USAGE;
		} else if (!only_args && argv[i][0] == '-' && argv[i][1]) {
			return cli_fail(
				"%s: no option '%.40s': they are words with --, see weft %s --help",
				cmd->name, argv[i], cmd->name);
		} else {
			vec_push(&c->args, argv[i]);
			only_args |= cmd->rest;
		}
	}
	return 0;
}

static int check_args(struct cli *c, const struct cli_cmd *cmd)
{
	struct weft_err err = { 0 };

	if (c->args.n < cmd->min_args)
		return cli_fail("%s: something is missing: weft %s %s",
				cmd->name, cmd->name, cmd->usage);
	if (c->args.n > cmd->max_args)
		return cli_fail("%s: '%.60s' is one too many: weft %s %s",
				cmd->name, c->args.at[cmd->max_args], cmd->name,
				cmd->usage);
	if (c->format && !cli_word_in(cmd->formats, '|', c->format))
		return cli_fail("%s: --format '%.40s': give %s", cmd->name,
				c->format, cmd->formats);
	c->formatted = c->format != NULL;
	if (!c->format)
		c->format = cmd->formats && *cmd->formats ? "table" : "";
	c->n_jobs = 1;
	if (c->jobs && (units_parse(WEFT_P_U32, "", c->jobs, &c->n_jobs,
				    sizeof(c->n_jobs), &err) ||
			units_check(WEFT_P_U32, "1..1024", &c->n_jobs, &err)))
		return cli_fail("%s: --jobs: %s", cmd->name, err.msg);
	for (size_t i = 0; i < c->load.n; i++)
		if (registry_load(&c->reg, c->load.at[i], &err))
			return cli_error(&err);
	return 0;
}

static int cmd_main(const struct cli_cmd *cmd, int argc, char **argv)
{
	struct cli c = { .prog = cmd->name };
	int status;

	registry_init(&c.reg);
	status = take_args(&c, cmd, argc, argv);
	if (!status && c.help)
		status = cli_help(cmd);
	else if (!status && !(status = check_args(&c, cmd)))
		status = cmd->run(&c);
	vec_free(&c.args);
	vec_free(&c.set);
	vec_free(&c.load);
	vec_free(&c.sample);
	vec_free(&c.show);
	vec_free(&c.capture);
	vec_free(&c.fabric);
	vec_free(&c.disk);
	registry_fini(&c.reg);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return cli_start();
	if (!strcmp(argv[1], "help") && argc == 3) {
		argv[1] = argv[2];
		argv[2] = "--help";
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help"))
		return cli_help_all();
	if (!strcmp(argv[1], "--version")) {
		printf("weft %s\n", WEFT_VERSION);
		return cli_flush(CLI_OK);
	}
	if (argc > 2 && !strcmp(argv[1], "exec") && !strcmp(argv[2], "--rsh"))
		return exec_rsh(argv + 3);
	if (argc > 3 && !strcmp(argv[1], "exec") && !strcmp(argv[2], "--keep"))
		return exec_keeper(argv[3]);
	if (argc > 2 && !strcmp(argv[1], "disk") && !strcmp(argv[2], "--serve"))
		return disk_serve(argc - 3, argv + 3);
	for (const struct cli_cmd *cmd = cli_cmds; cmd->name; cmd++)
		if (!strcmp(cmd->name, argv[1]))
			return cmd_main(cmd, argc - 2, argv + 2);
	return cli_unknown("no command", argv[1], cli_cmds_next, NULL,
			   "weft --help lists them");
}
