#include "runtime/device_copies.h"
#include "tests/device_checks.h"

#include "runtime/scope.h"
#include "tests/check.h"
#include "tests/support/cpu_device.h"

static void cpu_works(void **state)
{
    ps_device *device;
    check_ok(ps_device_open("cpu", 3, &device));
    assert_int_equal(ps_device_describe(device).kind, PS_DEVICE_CPU);
    check_ok(device_check_all(device));
    ps_device *other;
    check_ok(ps_device_open("cpu", 0, &other));
    check_ok(device_check_peer(device, other, 100001));
    ps_device_close(&other);
    ps_device_close(&device);
    assert_null(device);
    ps_device_close(&device);
}

static void cpu_work_is_done_at_once(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    ps_stream *stream;
    ps_event *early, *late;
    int from = 7, to = 0;
    double seconds;
    check_ok(ps_stream_open(device, &stream));
    check_ok(ps_event_open(device, &early));
    check_ok(ps_event_open(device, &late));
    check_ok(ps_copy_to_device(stream, &to, &from, sizeof from));
    assert_int_equal(to, 7);
    assert_null(ps_stream_handle(stream));
    check_fails(ps_event_seconds(early, late, &seconds), PS_FAILED, "recorded");
    check_ok(ps_event_record(early, stream));
    double until = ps_clock() + 0.02;
    while (ps_clock() < until) {
    }
    check_ok(ps_event_record(late, stream));
    check_ok(ps_event_seconds(early, late, &seconds));
    assert_true(seconds >= 0.02);
    ps_event_close(&early);
    ps_event_close(&late);
    ps_stream_close(&stream);
    ps_stream_close(&stream);
}

/* Several copies by one call, and none. */
static void copies_at_once(void **state)
{
    PS_SCOPED(ps_device_close) ps_device *device = cpu_device();
    PS_SCOPED(ps_stream_close) ps_stream *stream = stream_on(device);
    const char from[3][8] = {"one", "two", "three"};
    char to[3][8] = {"", "", ""};
    ps_copies copies = {.count = 0};
    check_ok(ps_copy_all(stream, &copies));
    for (int k = 0; k < 3; ++k) {
        copies.to[k] = to[k];
        copies.from[k] = from[k];
        copies.bytes[k] = k == 1 ? 1 : sizeof from[k];
    }
    copies.count = 3;
    check_ok(ps_copy_all(stream, &copies));
    assert_string_equal(to[0], "one");
    assert_string_equal(to[1], "t");
    assert_string_equal(to[2], "three");
}

static void names(void **state)
{
    const char *wrong[] = {"",        "gpu",   "cuda:", "cuda:x",          "cuda:1x",
                           "cuda:-1", "cuda0", "CPU",   "cuda:99999999999"};
    ps_device *device;
    for (int i = 0; i < 9; ++i) {
        char text[64];
        snprintf(text, sizeof text, "\"%s\" is no device; it takes auto", wrong[i]);
        check_fails(ps_device_open(wrong[i], 0, &device), PS_USAGE, text);
        assert_null(device);
    }
    check_ok(ps_device_open("auto", 5, &device));
    assert_int_equal(ps_device_describe(device).kind,
                     ps_device_count() > 0 ? PS_DEVICE_CUDA : PS_DEVICE_CPU);
    ps_device_close(&device);
    if (ps_device_count() == 0) {
        check_fails(ps_device_open("cuda", 0, &device), PS_FAILED, "use --device cpu");
        check_fails(ps_device_open("cuda:0", 0, &device), PS_FAILED, "there is no CUDA device");
    } else {
        check_fails(ps_device_open("cuda:1000", 0, &device), PS_FAILED, "there are only devices");
    }
}
