#include "runtime/program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/comm.h"
#include "runtime/device_name.h"
#include "runtime/log.h"
#include "runtime/memory.h"
#include "runtime/path.h"
#include "runtime/progress.h"
#include "runtime/stop.h"
#include "runtime/threads.h"
#include "runtime/trust.h"
#include "version.h"

const char *ps_version(void) { return "penstock " PS_VERSION " (" PS_REVISION ")"; }
const char *ps_revision(void) { return PS_REVISION; }

typedef struct common_flags {
    bool help, version, figures, verbose, quiet;
} common_flags;

enum { ALLOWANCES_TEXT = 2048, COMMON_OPTIONS = 20, OUTPUTS_MOST = 8, STACK_BYTES = 8 << 20 };

/* The help of --allow names what it takes. */
static void describe_allowances(const ps_allowance *allowances, char *text)
{
    size_t at = (size_t)snprintf(text, ALLOWANCES_TEXT,
                                 "go on with a warning where this would be refused (repeatable): ");
    for (; allowances->name && at < ALLOWANCES_TEXT; ++allowances)
        at += (size_t)snprintf(text + at, ALLOWANCES_TEXT - at, "%s: %s%s", allowances->name,
                               allowances->help, allowances[1].name ? "; " : "");
}

/* The options of every program; -v, -q and -h are short for verbose, quiet and help. `allow` holds
 * the help of --allow. */
static void common_table(const ps_program *program, ps_run *run, common_flags *flags, char *allow,
                         ps_option *table)
{
    const ps_option options[] = {
        PS_FLAG("help", &flags->help, 0, "print this text"),
        PS_FLAG("version", &flags->version, 0, "print version and revision"),
        PS_FLAG("figures", &flags->figures, 0,
                "print name, unit and meaning of all figures; with --json, the JSON schema of what "
                "--json prints"),
        PS_FLAG("verbose", &flags->verbose, 0, "-v: say more"),
        PS_FLAG("quiet", &flags->quiet, 0, "-q: say nothing but figures, warnings and errors"),
        PS_FLAG("json", &run->json, 0, "print figures as JSON"),
        PS_FLAG("plan", &run->plan, 0, "tell memory, disk, chunks and time needed; do nothing"),
        PS_FLAG("force", &run->force, 0, "redo even if the output is up to date"),
        PS_FLAG("fresh", &run->fresh, 0, "throw away what an unfinished run left, and begin anew"),
        PS_FLAG("restart", &run->restart, 0,
                "continue an unfinished run, as the same command does by itself"),
        PS_FLAG("trust", &run->trust, 0,
                "take inputs whose content hash is wrong or whose values are not finite, and an "
                "output that is up to date without reading whether its bytes are whole"),
        PS_INT("threads", &run->threads, "N", 1, PS_THREADS_MOST, 0, "threads to use"),
        PS_BYTES("host-memory", &run->host_memory, "SIZE", 0, "memory to stay within, e.g. 2G"),
        PS_BYTES("device-memory", &run->device_memory, "SIZE", 0,
                 "device memory to stay within; 0: what is free"),
        PS_TEXT("device", &run->device, "auto|cpu|cuda[:N]", 0, "where to compute"),
        PS_SECONDS("stop-after", &run->stop_after, "TIME", 0,
                   "stop after this time, with exit code 75; the same command goes on"),
        PS_OPTION_END,
        PS_OPTION_END,
        PS_OPTION_END,
        PS_OPTION_END};
    _Static_assert(sizeof options / sizeof options[0] == COMMON_OPTIONS, "room for all of them");
    memcpy(table, options, sizeof options);
    ps_option *next = table + COMMON_OPTIONS - 4;
    if (program->saves)
        *next++ = (ps_option)PS_INT("keep", &run->keep, "N", 1, 1000, 0,
                                    "checkpoints that stay, the newest; an older one counts where "
                                    "a newer one is damaged");
    if (program->counts)
        *next++ = (ps_option)PS_INT("ranks", &run->ranks, "N", 2, 1 << 20, 0,
                                    "with --plan: count what so many ranks would send each other, "
                                    "and how evenly they share the work");
    if (!program->allowances) return;
    describe_allowances(program->allowances, allow);
    *next = (ps_option)PS_LIST("allow", &run->allowed, "NAME", PS_IDENTITY, allow);
}

static bool is_allowed(const ps_run *run, const char *name)
{
    for (int i = 0; i < run->allowed.count; ++i)
        if (strcmp(run->allowed.items[i], name) == 0) return true;
    return false;
}

static ps_status check_allowed(const ps_program *program, const ps_run *run)
{
    for (int i = 0; i < run->allowed.count; ++i) {
        const ps_allowance *known = program->allowances;
        while (known->name && strcmp(known->name, run->allowed.items[i]) != 0) ++known;
        if (known->name) continue;
        char names[512] = "";
        size_t at = 0;
        for (known = program->allowances; known->name && at < sizeof names; ++known)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "",
                                   known->name);
        return ps_fail(PS_USAGE, "--allow %s: takes %s", run->allowed.items[i], names);
    }
    return PS_OK;
}

ps_status ps_refuse(const ps_run *run, const char *name, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!is_allowed(run, name))
        return ps_fail(PS_INVALID, "%s (--allow %s goes on all the same)", text, name);
    ps_warning("%s", text);
    return PS_OK;
}

static void print_help(const ps_program *program, const ps_option *common)
{
    printf("usage: penstock-%s [options] %s\n\n", program->name, program->synopsis);
    ps_text_wrap(program->description, 0, stdout);
    if (program->options && program->options->name) {
        printf("\noptions:\n");
        ps_options_help(program->options, stdout);
    }
    printf("\ncommon options:\n");
    ps_options_help(common, stdout);
    if (program->examples) printf("\nexamples:\n%s\n", program->examples);
}

static void expand_short_options(int argc, char **argv)
{
    static char verbose[] = "--verbose", quiet[] = "--quiet", help[] = "--help";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strcmp(argv[i], "-v") == 0) argv[i] = verbose;
        if (strcmp(argv[i], "-q") == 0) argv[i] = quiet;
        if (strcmp(argv[i], "-h") == 0) argv[i] = help;
    }
}

/* How many operands a synopsis has: [X] need not be there, X... may be more; options and another
 * form, after "|", are none. */
static void count_operands(const char *synopsis, int *least, int *most)
{
    *least = *most = 0;
    for (const char *word = synopsis; *word && *word != '-' && *word != '|';) {
        size_t length = strcspn(word, " ");
        *least += *word != '[';
        ++*most;
        word += length + (word[length] == ' ');
    }
    if (strstr(synopsis, "...")) *most = PS_OPERANDS_MAX;
}

/* A program with a fixed number of operands, or with as many inputs as there are, has an output,
 * which --plan can do without. */
static ps_status check_operands(const ps_program *program, ps_run *run)
{
    int least, most, count = run->operand_count;
    count_operands(program->synopsis, &least, &most);
    if (program->operands_least) least = program->operands_least;
    bool needed = !program->reads_only && (least == most || most == PS_OPERANDS_MAX);
    if (needed && count == least - 1 && run->plan) return PS_OK;
    if (needed && count == least - 1)
        return ps_fail(PS_USAGE, "too few arguments, OUTPUT is missing: penstock-%s [options] %s",
                       program->name, program->synopsis);
    if (count >= least && count <= most) {
        bool there = count == most || most == PS_OPERANDS_MAX;
        if (!program->reads_only && there && count > 0) run->output = run->operands[count - 1];
        return PS_OK;
    }
    return ps_fail(PS_USAGE, "%s arguments; usage: penstock-%s [options] %s",
                   count < least ? "too few" : "too many", program->name, program->synopsis);
}

/* What is read at "FILE:key=FILE", an argument of an option. */
static void spare_parts(const char *text)
{
    char part[4096];
    ps_path_spare(text);
    for (size_t length; *text; text += length + (text[length] == ':')) {
        length = strcspn(text, ":");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        const char *value = strchr(part, '=');
        ps_path_spare(value ? value + 1 : part);
    }
}

static void spare_value(const ps_option *option)
{
    if (option->kind == PS_OPTION_TEXT && *(const char **)option->value)
        spare_parts(*(const char **)option->value);
    const ps_text_list *list = option->value;
    for (int i = 0; option->kind == PS_OPTION_LIST && i < list->count; ++i)
        spare_parts(list->items[i]);
}

/* A file that is read, or is another output, would be lost. Options name files by "FILE"; the last
 * operand may be an output that the program finds by itself. */
static ps_status check_outputs(const ps_program *program, const ps_run *run)
{
    static const ps_option none = PS_OPTION_END;
    const ps_option *option = program->options ? program->options : &none;
    const char *written[OUTPUTS_MOST] = {run->output};
    int count = run->output != NULL;
    for (int i = 0; i < run->operand_count - !program->reads_only; ++i)
        ps_path_spare(run->operands[i]);
    for (; option->name; ++option) {
        bool is_file = option->argument && strncmp(option->argument, "FILE", 4) == 0;
        if (is_file && !(option->identity & PS_WRITES)) spare_value(option);
        const char *name =
            is_file && option->identity & PS_WRITES ? *(const char **)option->value : NULL;
        if (name && count < OUTPUTS_MOST) written[count++] = name;
    }
    for (int i = 0; i < count; ++i) {
        PS_TRY(ps_path_check_spared(written[i]));
        for (int j = 0; j < i; ++j)
            if (ps_path_same(written[i], written[j]))
                return ps_fail(PS_USAGE, "%s: two outputs have this name; give another",
                               written[i]);
    }
    return PS_OK;
}

/* Of several ranks, what they sent each other. Collective. */
static void tell_traffic(void)
{
    ps_comm_traffic own = ps_comm_traffic_so_far(), all = own;
    int64_t most = own.sent;
    if (ps_comm_size() == 1 || ps_comm_sum_i64(&all.messages, 1) != PS_OK ||
        ps_comm_sum_i64(&all.sent, 1) != PS_OK || ps_comm_max_i64(&most, 1) != PS_OK)
        return;
    ps_debug("%d ranks: %lld messages of %lld B, of one rank up to %lld B; each took part in %lld "
             "sums of %lld B, %lld agreements, %lld broadcasts and gatherings of %lld B",
             ps_comm_size(), (long long)all.messages, (long long)all.sent, (long long)most,
             (long long)own.sums, (long long)own.summed, (long long)own.agreements,
             (long long)own.shares, (long long)own.shared);
}

/* Ranks that were given other options would wait for one another without end, or make a mixture. */
static ps_status check_ranks(const char *record)
{
    static char first[PS_RECORD_MAX];
    snprintf(first, sizeof first, "%s", record);
    PS_TRY(ps_comm_broadcast(first, sizeof first, 0));
    if (strcmp(first, record) == 0) return PS_OK;
    return ps_fail(PS_USAGE, "rank %d was given other options than rank 0", ps_comm_rank());
}

/* Parses, answers --help and --version, runs. */
static ps_status parse_and_run(const ps_program *program, const char *full_name, int argc,
                               char **argv)
{
    ps_run run = {
        .program = program->name, .device = "auto", .threads = omp_get_max_threads(), .keep = 2};
    run.figures = program->figures;
    run.started = ps_clock();
    run.libraries = ps_memory_resident();
    run.host_memory = ps_memory_available() / 10 * 8 / ps_comm_local_size();
    common_flags flags = {0};
    ps_option common[COMMON_OPTIONS];
    char allow[ALLOWANCES_TEXT];
    common_table(program, &run, &flags, allow, common);
    static const ps_option none = PS_OPTION_END;
    const ps_option *own = program->options ? program->options : &none;
    const ps_option *const tables[] = {own, common, NULL};
    expand_short_options(argc, argv);
    int speaking = 1;
    for (int i = 1; i < argc; ++i) speaking &= strcmp(argv[i], "--help") != 0;
    if (!speaking) { /* before parsing, so that the defaults shown are the defaults */
        if (ps_comm_rank() == 0) print_help(program, common);
        return PS_OK;
    }
    PS_TRY(ps_options_parse(tables, argc, argv, run.operands, PS_OPERANDS_MAX, &run.operand_count));
    if (flags.version) {
        if (ps_comm_rank() == 0) puts(ps_version());
        return PS_OK;
    }
    if (flags.figures) {
        if (ps_comm_rank() == 0) ps_figures_print(program->name, program->figures, run.json);
        return PS_OK;
    }
    PS_TRY(check_allowed(program, &run));
    PS_TRY(check_operands(program, &run));
    ps_path_spare_stream(STDOUT_FILENO);
    ps_path_spare_stream(STDERR_FILENO);
    PS_TRY(check_outputs(program, &run));
    PS_TRY(ps_device_name_check(run.device));
    ps_log_setup(full_name,
                 flags.quiet     ? PS_LOG_WARNING
                 : flags.verbose ? PS_LOG_DEBUG
                                 : PS_LOG_INFO,
                 ps_comm_rank() == 0);
    PS_TRY(ps_threads_check(run.threads));
    omp_set_num_threads((int)run.threads);
    if (run.fresh && run.restart)
        return ps_fail(PS_USAGE, "--fresh and --restart: give one of them");
    run.force |= run.fresh;
    size_t length = ps_options_record(tables, run.record, sizeof run.record);
    if (program->results > 0 && length < sizeof run.record)
        length += (size_t)snprintf(run.record + length, sizeof run.record - length, "results=%d\n",
                                   program->results);
    if (length >= sizeof run.record)
        return ps_fail(PS_USAGE,
                       "the options that change results take %zu characters; the output can record "
                       "%d of them: give fewer or shorter ones, or name a file where there is an "
                       "option for it",
                       length, PS_RECORD_MAX - 1);
    if (program->parallel) PS_TRY(check_ranks(run.record));
    ps_stop_catch(full_name, ps_comm_rank() == 0, program->saves, run.stop_after);
    ps_trust_inputs(run.trust);
    ps_progress_open(full_name);
    run.alone = !program->parallel;
    if (run.ranks > 0 && (!run.plan || ps_comm_size() > 1))
        return ps_fail(PS_USAGE, "--ranks %lld: goes with --plan, of a program started alone",
                       (long long)run.ranks);
    if (program->parallel) {
        ps_status status = program->run(&run);
        if (flags.verbose && (status == PS_OK || status == PS_STOPPED)) tell_traffic();
        return status;
    }
    return ps_comm_agree(ps_comm_rank() == 0 ? program->run(&run) : PS_OK);
}

static bool stdout_failed(void) { return fflush(stdout) != 0 || ferror(stdout); }

static bool is_limited(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Whether the environment asks for threads with less stack than kernels take: a number of bytes, of
 * KiB unless a letter follows. What is no such number OpenMP ignores. */
static bool is_small_stack(const char *name)
{
    static const char letters[] = "BKMG";
    const char *text = getenv(name);
    char *end;
    if (!text) return false;
    double size = strtod(text, &end);
    end += strspn(end, " \t");
    const char *unit = *end ? strchr(letters, toupper((unsigned char)*end)) : letters + 1;
    if (end == text || !unit || size <= 0) return false;
    return ldexp(size, 10 * (int)(unit - letters)) < STACK_BYTES;
}

/* Libraries read these before main, so the program starts once more with them set. OpenMP's threads
 * sleep while they wait, and have the stack that a process has. OpenBLAS's want 128 MB each as they
 * start, and where a limit of memory gives them none they ask without end, and the process waits
 * for them when it ends. */
static void settle_threads(const ps_program *program, char **argv)
{
    bool again = false;
    if (program->streams && !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT"))
        again = setenv("GOMP_SPINCOUNT", "2000", 1) == 0;
    if ((is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) && !getenv("OPENBLAS_NUM_THREADS"))
        again |= setenv("OPENBLAS_NUM_THREADS", "1", 1) == 0;
    if (is_small_stack(getenv("OMP_STACKSIZE") ? "OMP_STACKSIZE" : "GOMP_STACKSIZE"))
        again |= setenv("OMP_STACKSIZE", "8M", 1) == 0;
    if (!again) return;
    ps_stop_hold();
    execv("/proc/self/exe", argv);
}

/* The process that ps_main is to end; 0 once it does. */
static pid_t running;

/* Libraries call exit() where memory or threads run out: libhdf5 without a word, libgomp with code
 * 1. A child of this process may end as it likes. */
static void end_for_library(void)
{
    if (running != getpid()) return;
    ps_stop_remove_temporaries();
    ps_error("a library ended the program, for want of memory or threads most likely");
    _exit(PS_EXHAUSTED);
}

/* What whoever started this left undone: a standard stream that is closed would give its number to
 * the next file, which then held messages (a write to what stands for it fails as before); children
 * that nobody waits for cannot be asked how they ended; threads get the stack that a process has.
 */
static void begin_in_order(void)
{
    for (int file = 0; file < 3; ++file)
        if (fcntl(file, F_GETFD) < 0) open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
    signal(SIGCHLD, SIG_DFL);
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= STACK_BYTES) return;
    stack.rlim_cur = stack.rlim_max < STACK_BYTES ? stack.rlim_max : STACK_BYTES;
    pthread_attr_t attributes;
    if (setrlimit(RLIMIT_STACK, &stack) != 0 || pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES); /* which that limit does not bound */
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

/* What the system stops a process at without a word. */
static ps_status check_stack(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_max >= STACK_BYTES) return PS_OK;
    return ps_fail(PS_EXHAUSTED,
                   "the stack may not grow beyond %lld KB (ulimit -H -s), %d are needed",
                   (long long)stack.rlim_max >> 10, STACK_BYTES >> 10);
}

int ps_main(const ps_program *program, int argc, char **argv)
{
    begin_in_order();
    settle_threads(program, argv);
    static char full_name[96]; /* messages are told until the process has ended */
    running = getpid();
    atexit(end_for_library);
    snprintf(full_name, sizeof full_name, "penstock-%s", program->name);
    ps_stop_catch(full_name, true, false, 0); /* until options say more */
    /* Whoever reads the messages may go hours before the work is done. */
    if (!program->reads_only) signal(SIGPIPE, SIG_IGN);
    ps_log_setup(full_name, PS_LOG_INFO, true);
    ps_status status = check_stack();
    if (status == PS_OK) status = ps_comm_start(&argc, &argv);
    if (status == PS_OK) {
        ps_log_setup(full_name, PS_LOG_INFO, ps_comm_rank() == 0);
        status = parse_and_run(program, full_name, argc, argv);
        ps_progress_close();
    }
    if (status == PS_OK && stdout_failed())
        status = ps_fail(PS_EXHAUSTED, "the results could not be written to standard output: %s",
                         strerror(errno));
    running = 0;
    if (status == PS_STOPPED) {
        ps_stop_set_aside();
        if (ps_comm_rank() == 0) ps_warning("%s", ps_message());
        if (ps_comm_rank() != 0) status = PS_OK; /* mpirun and srun take the job for failed else */
    } else if (status != PS_OK) {
        ps_error("%s", ps_message());
        ps_comm_abort((int)status); /* returns with a single rank */
    }
    ps_comm_end();
    return (int)status;
}
