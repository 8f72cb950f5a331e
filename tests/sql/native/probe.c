/* Native functions that report what the server passes to them. Needs no header of a server.

   cc -shared -fPIC -o native_probe.so native_probe.c */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum item_result { STRING_RESULT, REAL_RESULT, INT_RESULT, ROW_RESULT, DECIMAL_RESULT };

typedef struct {
  unsigned int arg_count;
  enum item_result *arg_type;
  char **args;
  unsigned long *lengths;
  char *maybe_null;
  char **attributes;
  unsigned long *attribute_lengths;
  void *extension;
} UDF_ARGS;

typedef struct {
  char maybe_null;
  unsigned int decimals;
  unsigned long max_length;
  char *ptr;
  char const_item;
  void *extension;
} UDF_INIT;

static size_t describe(const UDF_ARGS *args, char *out, size_t size) {
  size_t used = 0;
  for (unsigned i = 0; i < args->arg_count; i++) {
    used += snprintf(out + used, size - used, "[type %d", args->arg_type[i]);
    if (!args->args[i])
      used += snprintf(out + used, size - used, " none");
    else if (args->arg_type[i] == INT_RESULT)
      used += snprintf(out + used, size - used, " int %lld", *(long long *)args->args[i]);
    else if (args->arg_type[i] == REAL_RESULT)
      used += snprintf(out + used, size - used, " real %g", *(double *)args->args[i]);
    else
      used += snprintf(out + used, size - used, " text '%.*s'", (int)args->lengths[i], args->args[i]);
    used += snprintf(out + used, size - used, " length %lu null %d name '%.*s'/%lu]", args->lengths[i],
                     args->maybe_null[i], (int)args->attribute_lengths[i], args->attributes[i],
                     args->attribute_lengths[i]);
  }
  return used;
}

/* What init saw. */
static char at_init(UDF_INIT *init, UDF_ARGS *args) {
  char *text = malloc(4096);
  size_t used = snprintf(text, 4096, "maybe_null %d decimals %u max_length %lu const %d ", init->maybe_null,
                         init->decimals, init->max_length, init->const_item);
  describe(args, text + used, 4096 - used);
  init->ptr = text;
  init->max_length = 4096;
  return 0;
}

char seen_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)message;
  return at_init(init, args);
}

void seen_deinit(UDF_INIT *init) { free(init->ptr); }

char *seen(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length, char *is_null, char *error) {
  (void)args, (void)result, (void)is_null, (void)error;
  *length = strlen(init->ptr);
  return init->ptr;
}

/* What a call saw, with the length of the buffer. */
char called_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)args, (void)message;
  init->ptr = malloc(4096);
  init->max_length = 4096;
  return 0;
}

void called_deinit(UDF_INIT *init) { free(init->ptr); }

char *called(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length, char *is_null, char *error) {
  (void)result, (void)is_null, (void)error;
  size_t used = snprintf(init->ptr, 4096, "buffer %lu ", *length);
  *length = used + describe(args, init->ptr + used, 4096 - used);
  return init->ptr;
}

/* Arguments converted to one type. */
static void convert(UDF_ARGS *args, enum item_result type) {
  for (unsigned i = 0; i < args->arg_count; i++)
    args->arg_type[i] = type;
}

#define CONVERTED(name, type)                                                                        \
  char name##_init(UDF_INIT *init, UDF_ARGS *args, char *message) {                                  \
    convert(args, type);                                                                             \
    return called_init(init, args, message);                                                            \
  }                                                                                                  \
  void name##_deinit(UDF_INIT *init) { free(init->ptr); }                                            \
  char *name(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length, char *is_null,     \
             char *error) {                                                                          \
    return called(init, args, result, length, is_null, error);                                          \
  }

CONVERTED(as_text, STRING_RESULT)
CONVERTED(as_real, REAL_RESULT)
CONVERTED(as_int, INT_RESULT)
CONVERTED(as_decimal, DECIMAL_RESULT)

/* Plain results, from functions that change nothing in their init. */
char an_int_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)init, (void)args, (void)message;
  return 0;
}

long long an_int(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)init, (void)error;
  if (args->arg_count && !args->args[0])
    *is_null = 1;
  return -5;
}

char a_real_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)init, (void)args, (void)message;
  return 0;
}

double a_real(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)init, (void)args, (void)is_null, (void)error;
  return 1.0 / 3;
}

char a_decimal_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)init, (void)args, (void)message;
  return 0;
}

char *a_decimal(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length, char *is_null,
                char *error) {
  (void)init, (void)args, (void)is_null, (void)error;
  *length = snprintf(result, *length, "12345.6789");
  return result;
}

char a_text_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)init, (void)args, (void)message;
  return 0;
}

char *a_text(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length, char *is_null, char *error) {
  (void)init, (void)args, (void)is_null, (void)error;
  *length = snprintf(result, *length, "some text");
  return result;
}

/* Sizes that its arguments give: sized(max_length, decimals, maybe_null). */
char sized_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  if (args->arg_count != 3 || !args->args[0] || !args->args[1] || !args->args[2]) {
    strcpy(message, "three constants");
    return 1;
  }
  init->max_length = *(long long *)args->args[0];
  init->decimals = *(long long *)args->args[1];
  init->maybe_null = *(long long *)args->args[2];
  return 0;
}

double sized(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)init, (void)args, (void)is_null, (void)error;
  return 2.0 / 3;
}

/* Fails at its third call. */
char third_fails_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  (void)args, (void)message;
  init->maybe_null = 1;
  init->const_item = 0;
  init->ptr = calloc(1, sizeof(int));
  return 0;
}

void third_fails_deinit(UDF_INIT *init) { free(init->ptr); }

long long third_fails(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)args, (void)is_null;
  int calls = ++*(int *)init->ptr;
  if (calls == 3)
    *error = 1;
  return calls;
}

/* Waits as many milliseconds as its argument says. */
char dawdle_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  if (args->arg_count != 1) {
    strcpy(message, "dawdle() takes milliseconds");
    return 1;
  }
  args->arg_type[0] = INT_RESULT;
  init->const_item = 0;
  return 0;
}

long long dawdle(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)init, (void)is_null, (void)error;
  if (args->args[0])
    usleep(1000 * *(long long *)args->args[0]);
  return 1;
}

/* An aggregate with all its functions: the sum of integers, and how often each part was called. */
typedef struct {
  long long sum;
  int clears, adds, removes;
} Total;

char total_init(UDF_INIT *init, UDF_ARGS *args, char *message) {
  if (args->arg_count != 1) {
    strcpy(message, "total() takes one number");
    return 1;
  }
  args->arg_type[0] = INT_RESULT;
  init->ptr = calloc(1, sizeof(Total));
  init->max_length = 100;
  return 0;
}

void total_deinit(UDF_INIT *init) { free(init->ptr); }

void total_clear(UDF_INIT *init, char *is_null, char *error) {
  (void)is_null, (void)error;
  Total *total = (Total *)init->ptr;
  total->sum = 0;
  total->clears++;
}

void total_add(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)is_null, (void)error;
  Total *total = (Total *)init->ptr;
  if (args->args[0])
    total->sum += *(long long *)args->args[0];
  total->adds++;
}

void total_remove(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)is_null, (void)error;
  Total *total = (Total *)init->ptr;
  if (args->args[0])
    total->sum -= *(long long *)args->args[0];
  total->removes++;
}

char *total(UDF_INIT *init, UDF_ARGS *args, char *result, unsigned long *length, char *is_null, char *error) {
  (void)args, (void)is_null, (void)error;
  Total *total = (Total *)init->ptr;
  *length = snprintf(result, *length, "%lld of %d clears %d adds %d removes", total->sum, total->clears,
                     total->adds, total->removes);
  return result;
}

/* Without an init and a deinit: a suspicious function. */
long long bare(UDF_INIT *init, UDF_ARGS *args, char *is_null, char *error) {
  (void)init, (void)args, (void)is_null, (void)error;
  return 7;
}
