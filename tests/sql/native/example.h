/* Included before MariaDB's sql/udf_example.c (option -include) so that it compiles with no header of a server: the
   installed ones are those of the client library, whose structures lack the names of the arguments. */

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define STANDARD 1
#define HAVE_DLOPEN 1
#define MY_MUTEX_INIT_SLOW NULL
#define MYSQL_UDF_MAX_RESULT_LENGTH 255
#define strmov(to, from) stpcpy(to, from)

typedef unsigned char uchar;
typedef unsigned int uint;
typedef char my_bool;

enum Item_result { STRING_RESULT, REAL_RESULT, INT_RESULT, ROW_RESULT, DECIMAL_RESULT };

typedef struct {
  unsigned int arg_count;
  enum Item_result *arg_type;
  char **args;
  unsigned long *lengths;
  char *maybe_null;
  const char **attributes;
  unsigned long *attribute_lengths;
  void *extension;
} UDF_ARGS;

typedef struct {
  my_bool maybe_null;
  unsigned int decimals;
  unsigned long max_length;
  char *ptr;
  my_bool const_item;
  void *extension;
} UDF_INIT;
