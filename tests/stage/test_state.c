/* A run's generations and its log: which one counts after damage, whose it is, what is removed. */
#include "stage/state.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/scope.h"
#include "tests/check.h"

enum { VALUES = 1000, STEPS = 5 };
static const char name[] = "out";
static char path[4200];
static double values[VALUES];
static bool beside_is_damaged;
static ps_run run;

static int describe(void *context, int64_t step, ps_checkpoint_array *arrays)
{
    arrays[0] = (ps_checkpoint_array){"/values", "1", PS_F64, VALUES, values};
    return 1;
}

static ps_status adopt(void *context)
{
    bool newest = values[0] == STEPS;
    return newest && beside_is_damaged ? ps_fail(PS_INVALID, "beside.000001: is damaged") : PS_OK;
}

static ps_state_spec spec_of(bool series)
{
    return (ps_state_spec){.run = &run,
                           .name = name,
                           .identity = "steps=5\ninput-mesh=77\n",
                           .unit = "step",
                           .series = series,
                           .beside = series,
                           .every = {.steps = 2},
                           .describe = describe};
}

static void fill(int64_t step)
{
    for (int64_t i = 0; i < VALUES; ++i) values[i] = (double)(step + i);
}

static void check_values(int64_t step)
{
    for (int64_t i = 0; i < VALUES; ++i) check_near(values[i], (double)(step + i), 0, 0);
}

/* Runs from where it is to STEPS, a checkpoint a step, and leaves it unfinished. */
static void go(const ps_state_spec *spec, int64_t from)
{
    ps_state state;
    int64_t step = -1;
    check_ok(ps_state_open(spec, &state, &step));
    assert_int_equal(step, from);
    assert_false(ps_state_is_due(&state, from + 1));
    assert_true(ps_state_is_due(&state, from + 2));
    for (step = from + 1; step <= STEPS; ++step) {
        check_ok(ps_state_wait(&state));
        fill(step);
        if (spec->series) check_ok(ps_state_append(&state, 1, &step, sizeof step));
        check_ok(ps_state_save(&state, step));
    }
    ps_state_close(&state);
    ps_state_close(&state);
}

/* A run goes on from a step. */
static void goes_on_from(const ps_state_spec *spec, int64_t expected)
{
    PS_SCOPED(ps_state_close) ps_state state = {0};
    int64_t step;
    check_ok(ps_state_open(spec, &state, &step));
    assert_int_equal(step, expected);
}

/* It is not opened. */
static void is_refused(const ps_state_spec *spec, ps_status code, const char *text)
{
    PS_SCOPED(ps_state_close) ps_state state = {0};
    int64_t step;
    check_fails(ps_state_open(spec, &state, &step), code, text);
}

static void begin_anew(void)
{
    ps_state_spec spec = spec_of(true);
    run = (ps_run){.keep = 2};
    beside_is_damaged = false;
    check_ok(ps_state_remove(&spec));
}

static void damage_generation(int64_t generation)
{
    ps_checkpoint_path(name, generation, path);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(truncate(path, file.st_size / 2), 0);
}

static void goes_on_from_the_newest_sound_one(void **unused)
{
    for (int series = 0; series < 2; ++series) {
        ps_state_spec spec = spec_of(series);
        ps_state state;
        int64_t step;
        begin_anew();
        go(&spec, 0);
        fill(100);
        goes_on_from(&spec, STEPS);
        check_values(STEPS);
        damage_generation(STEPS);
        fill(100);
        check_ok(ps_state_open(&spec, &state, &step));
        assert_int_equal(step, STEPS - 1);
        check_values(STEPS - 1);
        if (series) assert_int_equal(ps_append_log_last(state.log), STEPS - 1);
        ps_state_close(&state);
        ps_checkpoint_path(name, STEPS, path);
        assert_int_not_equal(access(path, F_OK), 0);
        go(&spec, STEPS - 1);
    }
}

/* --keep: so many of the newest, written by the run itself or by a thread of its own. */
static void as_many_stay_as_are_kept(void **unused)
{
    for (int series = 0; series < 2; ++series)
        for (int64_t keep = 1; keep < STEPS; ++keep) {
            ps_state_spec spec = spec_of(series);
            begin_anew();
            run.keep = keep;
            go(&spec, 0);
            for (int64_t step = 1; step <= STEPS; ++step) {
                ps_checkpoint_path(name, step, path);
                assert_int_equal(access(path, F_OK) == 0, step > STEPS - keep);
            }
        }
}

static void what_lies_beside_counts(void **unused)
{
    begin_anew();
    ps_state_spec spec = spec_of(true);
    spec.adopt = adopt;
    go(&spec, 0);
    beside_is_damaged = true;
    goes_on_from(&spec, STEPS - 1);
    check_values(STEPS - 1);
}

static void the_log_must_reach_it(void **unused)
{
    begin_anew();
    ps_state_spec spec = spec_of(true);
    go(&spec, 0);
    snprintf(path, sizeof path, "%s.log", name);
    assert_int_equal(truncate(path, 60), 0); /* in its head: nothing is left of the run */
    goes_on_from(&spec, 0);
    ps_checkpoint_path(name, STEPS, path);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void another_run_is_refused_by_name(void **unused)
{
    for (int series = 0; series < 2; ++series) {
        ps_state_spec spec = spec_of(series), other = spec;
        begin_anew();
        go(&spec, 0);
        other.identity = "steps=6\ninput-mesh=77\n";
        is_refused(&other, PS_USAGE, "had steps \"5\", now it is \"6\"");
        check_fails(ps_state_check(&other), PS_USAGE, "had steps \"5\"");
        check_ok(ps_state_tidy(&other)); /* not its files */
        check_ok(ps_state_check(&spec));
        run.fresh = true;
        goes_on_from(&other, 0);
    }
}

/* One rank and several have states of other names: each is refused for the other's, and --fresh
 * leaves none. */
static void a_run_on_other_ranks_is_refused(void **unused)
{
    ps_state_spec one = spec_of(false), two = one;
    begin_anew();
    one.every_rank = true;
    one.identity = "ranks=1\n";
    two.identity = "ranks=2\n";
    for (int rank = 1; rank >= 0; --rank) { /* as two ranks leave them */
        two.name = rank ? "out.rank0001" : "out.rank0000";
        two.part = rank;
        go(&two, 0);
    }
    check_fails(ps_state_check(&one), PS_USAGE, "had ranks \"2\", now it is \"1\"");
    is_refused(&one, PS_USAGE, "had ranks");
    check_ok(ps_state_check(&two));
    run.fresh = true;
    goes_on_from(&one, 0);
    for (int rank = 0; rank < 2; ++rank) {
        snprintf(path, sizeof path, "out.rank%04d.%06d.h5", rank, STEPS);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}

/* What cannot be opened may be sound: the run ends, and all of it stays. */
static void a_log_that_cannot_be_opened_stays(void **unused)
{
    begin_anew();
    ps_state_spec spec = spec_of(true);
    go(&spec, 0);
    assert_int_equal(rename("out.log", "kept"), 0);
    assert_int_equal(mkdir("out.log", 0777), 0);
    is_refused(&spec, PS_FAILED, "out.log: cannot be opened");
    assert_int_equal(rmdir("out.log"), 0);
    assert_int_equal(rename("kept", "out.log"), 0);
    goes_on_from(&spec, STEPS);
}

static void open_as_nobody(bool series)
{
    enum { NOBODY = 65534 };
    ps_state_spec spec = spec_of(series);
    ps_state state;
    int64_t step;
    if (getuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) _exit(1);
    bool refused = ps_state_open(&spec, &state, &step) == PS_FAILED &&
                   strstr(ps_message(), "cannot be read: Permission denied");
    if (!refused) fprintf(stderr, "%s\n", ps_message());
    _exit(refused ? 0 : 1);
}

static void a_state_that_cannot_be_read_stays(void **unused)
{
    for (int series = 0; series < 2; ++series) {
        ps_state_spec spec = spec_of(series);
        int end;
        begin_anew();
        go(&spec, 0);
        for (int64_t g = STEPS - 1; g <= STEPS; ++g) {
            ps_checkpoint_path(name, g, path);
            assert_int_equal(chmod(path, 0), 0);
        }
        assert_int_equal(chmod(".", 0777), 0);
        if (series) assert_int_equal(chmod("out.log", 0666), 0);
        pid_t child = fork();
        if (child == 0) open_as_nobody(series);
        waitpid(child, &end, 0);
        assert_int_equal(end, 0);
        for (int64_t g = STEPS - 1; g <= STEPS; ++g) {
            ps_checkpoint_path(name, g, path);
            assert_int_equal(chmod(path, 0666), 0);
        }
        goes_on_from(&spec, STEPS);
    }
}

/* Not even --fresh takes the files of a run that is under way. */
static void a_run_under_way_stays(void **unused)
{
    begin_anew();
    ps_state_spec spec = spec_of(true);
    ps_state state;
    int64_t step;
    check_ok(ps_state_open(&spec, &state, &step));
    run.fresh = true;
    is_refused(&spec, PS_FAILED, "is writing it");
    run.fresh = false;
    ps_state_close(&state);
    goes_on_from(&spec, 0);
}

static void a_failure_keeps_or_removes(void **unused)
{
    ps_state_spec spec = spec_of(true);
    for (int hopeless = 0; hopeless < 2; ++hopeless) {
        ps_state state;
        int64_t step;
        begin_anew();
        go(&spec, 0);
        check_ok(ps_state_open(&spec, &state, &step));
        ps_fail(PS_FAILED, "the march is unstable");
        ps_state_fail(&state, PS_FAILED, hopeless);
        assert_string_equal(ps_message(), "the march is unstable");
        ps_checkpoint_path(name, STEPS, path);
        assert_int_equal(access(path, F_OK) == 0, !hopeless);
    }
}
