#include "runtime/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 2048 };

static _Thread_local char message[MESSAGE_SIZE];

ps_status ps_fail(ps_status code, const char *format, ...)
{
    char text[MESSAGE_SIZE]; /* the arguments may contain the old message */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    memcpy(message, text, sizeof text);
    return code;
}

ps_status ps_context(ps_status code, const char *format, ...)
{
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length >= 0 && length < MESSAGE_SIZE)
        snprintf(text + length, sizeof text - (size_t)length, ": %s", message);
    memcpy(message, text, sizeof text);
    return code;
}

const char *ps_message(void) { return message; }
