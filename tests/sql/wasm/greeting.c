// Functions for SQL: greeting(name VARCHAR(100)) RETURNS VARCHAR(120), latest_message(user INT) RETURNS TEXT.
//
//   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o greeting.wasm greeting.c

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(name) __attribute__((import_module("paceline"), import_name(name)))

IMPORT("return_null") void return_null(void);
IMPORT("table") int table(const char *name, int length);
IMPORT("column") int column(int table, const char *name, int length);
IMPORT("index") int index_of(int table, const char *name, int length);
IMPORT("key_integer") void key_integer(long long value);
IMPORT("scan") int scan(int table, int index, int backward);
IMPORT("next") int next(int cursor);
IMPORT("text") int text(int cursor, int column, char *to, int capacity);

static char memory[32768];
static int used;

EXPORT("reset") void reset(void) { used = 0; }

// 0 is beyond the memory's end for the server when there is no room: the call fails.
EXPORT("allocate") char *allocate(unsigned length) {
    if (length > sizeof memory - used)
        return (char *)-1;
    char *place = memory + used;
    used += length;
    return place;
}

static long long result(const char *text, unsigned length) { return (long long)(unsigned)text << 32 | length; }

EXPORT("greeting") long long greeting(const char *name, int length) {
    static const char hello[] = "Hello, ";
    char *out = allocate(sizeof hello - 1 + length + 1);
    int at = 0;
    for (unsigned i = 0; i < sizeof hello - 1; i++)
        out[at++] = hello[i];
    for (int i = 0; i < length; i++)
        out[at++] = name[i];
    out[at++] = '!';
    return result(out, at);
}

// The newest message of a user: one step in the index (author, id).
EXPORT("latest_message") long long latest_message(long long user) {
    int messages = table("messages", 8);
    key_integer(user);
    int cursor = scan(messages, index_of(messages, "by_author", 9), 1);
    if (!next(cursor)) {
        return_null();
        return 0;
    }
    static char body[1000];
    int length = text(cursor, column(messages, "body", 4), body, sizeof body);
    return result(body, length < (int)sizeof body ? length : (int)sizeof body);
}
