// The minimal work of a page of 20 users and an ad: read the same rows in a transaction, compute 41 HMAC-SHA256, write the bytes.
// No HTTP and no checks. Only statements and buffers are reused between pages.
//
//     page-floor DATABASE PAGES [prepared]     prints the CPU time of a page in microseconds, and its bytes
//
// The codes are computed with OpenSSL's HMAC(); with "prepared", from states that have hashed the padded key.
#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { USERS = 20 };

static const unsigned char key[] = "a key of thirty-two bytes, or so";
static SHA256_CTX inner, outer;
static int is_prepared;
static char page[64 * 1024];
static size_t length;
static long codes;

static void die(const char *what) {
    fprintf(stderr, "page-floor: %s\n", what);
    exit(1);
}

// RFC 2104, with the two padded keys hashed once.
static void prepare(size_t size) {
    unsigned char pad[64];
    memset(pad, 0x36, sizeof pad);
    for (size_t i = 0; i < size; i++) pad[i] ^= key[i];
    SHA256_Init(&inner);
    SHA256_Update(&inner, pad, sizeof pad);
    memset(pad, 0x5c, sizeof pad);
    for (size_t i = 0; i < size; i++) pad[i] ^= key[i];
    SHA256_Init(&outer);
    SHA256_Update(&outer, pad, sizeof pad);
}

static void put(const char *text, size_t size) {
    memcpy(page + length, text, size);
    length += size;
}
#define PUT(literal) put(literal, sizeof(literal) - 1)

static void put_base64(const unsigned char *bytes, size_t size) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t buffer = 0;
    int bits = 0;
    for (size_t i = 0; i < size; i++) {
        buffer = buffer << 8 | bytes[i];
        for (bits += 8; bits >= 6;) page[length++] = alphabet[buffer >> (bits -= 6) & 63];
    }
    if (bits) page[length++] = alphabet[buffer << (6 - bits) & 63];
}

static void put_signed(const char *text, size_t size, int alone) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    if (is_prepared) {
        SHA256_CTX context = inner;
        SHA256_Update(&context, text, size);
        SHA256_Final(digest, &context);
        context = outer;
        SHA256_Update(&context, digest, sizeof digest);
        SHA256_Final(digest, &context);
    } else {
        HMAC(EVP_sha256(), key, sizeof key - 1, (const unsigned char *)text, size, digest, NULL);
    }
    codes++;
    if (alone) put_base64((const unsigned char *)text, size);
    put_base64(digest, alone ? 16 : 23);
}

// Returns the value of a text field without escapes, as in the items of this benchmark.
static const char *field(const char *body, int size, const char *name, size_t *count) {
    const char *found = memmem(body, size, name, strlen(name));
    if (!found) return NULL;
    const char *start = found + strlen(name) + 3, *end = memchr(start, '"', body + size - start);
    if (!end) die("a field without an end");
    *count = end - start;
    return start;
}

static void put_picture(const char *part, const char *url, size_t size) {
    PUT(",\"");
    put(part, strlen(part));
    PUT("\":{\"type\":\"image\",\"href\":\"/images/");
    put_signed(url, size, 0);
    PUT("/");
    put_base64((const unsigned char *)url, size);
    PUT("\"}");
}

static void put_user(const char *id, int id_size, int is_featured, const char *body, int size) {
    size_t count = 0;
    PUT("{\"id\":\"user:");
    put(id, id_size);
    if (is_featured)
        PUT("\",\"identifier\":\"CircularUserCollectionViewCell\",\"size\":{\"width\":300,\"height\":190},");
    else
        PUT("\",\"identifier\":\"UserSnapshotCollectionViewCell\",\"size\":{\"width\":300,\"height\":200},");
    PUT("\"actions\":{\"configuration\":{\"type\":\"bind\",\"bindings\":{\"username\":{\"type\":\"text\",\"text\":\"");
    const char *value = field(body, size, "\"username", &count);
    if (value) put(value, count);
    PUT("\"}");
    if ((value = field(body, size, "\"avatarUrl", &count))) put_picture("avatar", value, count);
    if (!is_featured && (value = field(body, size, "\"backgroundUrl", &count))) put_picture("background", value, count);
    PUT("}},\"cancellation\":{\"type\":\"request\",\"method\":\"DELETE\",\"href\":\"/images/requests/{request}\",\"templated\":true},");
    PUT("\"selection\":{\"type\":\"request\",\"method\":\"POST\",\"href\":\"/cells/user:");
    put(id, id_size);
    PUT("/selection\"},\"deselection\":{\"type\":\"request\",\"method\":\"DELETE\",\"href\":\"/cells/user:");
    put(id, id_size);
    PUT("/selection\"}}},");
}

static void put_advertisement(const char *id, int id_size, const char *body, int size) {
    size_t count = 0;
    PUT("{\"id\":\"ad:");
    put(id, id_size);
    PUT("\",\"identifier\":\"AdvertisementCollectionViewCell\",\"size\":{\"width\":220,\"height\":220},");
    PUT("\"actions\":{\"configuration\":{\"type\":\"bind\",\"bindings\":{\"kind\":{\"type\":\"text\",\"text\":\"\"}");
    const char *value = field(body, size, "\"contentUrl", &count);
    if (value) put_picture("content", value, count);
    PUT("}},\"selection\":{\"type\":\"link\",\"href\":\"/click/");
    put_signed("\1\0\0\0\0\0\0ad:1", 11, 1);
    PUT("\"},\"impression\":{\"type\":\"request\",\"method\":\"POST\",\"href\":\"/events\",\"body\":{\"events\":[{\"type\":\"impression\",\"token\":\"");
    put_signed("\2\0\0\0\0\0\0\0\0\0\0ad:1", 15, 1);
    PUT("\"}]}}}},");
}

static sqlite3_stmt *statement(sqlite3 *database, const char *sql) {
    sqlite3_stmt *made;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL) != SQLITE_OK) die(sqlite3_errmsg(database));
    return made;
}

static double cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int count, char **words) {
    sqlite3 *database;
    is_prepared = count == 4 && !strcmp(words[3], "prepared");
    if (count != 3 + is_prepared) die("usage: page-floor DATABASE PAGES [prepared]");
    long pages = atol(words[2]);
    if (sqlite3_open_v2(words[1], &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) die(sqlite3_errmsg(database));
    sqlite3_exec(database, "PRAGMA cache_size = -4096; PRAGMA mmap_size = 0", NULL, NULL, NULL);
    prepare(sizeof key - 1);
    sqlite3_stmt *begin = statement(database, "BEGIN"), *commit = statement(database, "COMMIT");
    // Without the sign, SQLite compares the lane with the conditions of partial indexes and prepares the statement again for each
    // bound value, which doubles the cost of a page.
    const char *columns = "SELECT kind, id, variant, position, body FROM item WHERE lane = +?1 AND position > ?2 ORDER BY position LIMIT ?3";
    sqlite3_stmt *users = statement(database, columns), *advertisements = statement(database, columns);
    sqlite3_stmt *last = statement(database, "SELECT max(position) FROM item WHERE lane = 0");
    if (sqlite3_step(last) != SQLITE_ROW) die("no users");
    int64_t end = sqlite3_column_int64(last, 0), step = 100 * (1 << 20), position = 0;
    sqlite3_finalize(last);
    double start = cpu();
    for (long number = 0; number < pages; number++) {
        length = 0;
        PUT("{\"cells\":[");
        sqlite3_step(begin);
        sqlite3_reset(begin);
        sqlite3_bind_int64(users, 1, 0);
        sqlite3_bind_int64(users, 2, position);
        sqlite3_bind_int64(users, 3, USERS + 1);
        for (int row = 0; sqlite3_step(users) == SQLITE_ROW; row++) {
            if (row == USERS) continue;
            put_user(
                (const char *)sqlite3_column_text(users, 1), sqlite3_column_bytes(users, 1), sqlite3_column_bytes(users, 2) == 8,
                (const char *)sqlite3_column_text(users, 4), sqlite3_column_bytes(users, 4));
        }
        sqlite3_reset(users);
        sqlite3_bind_int64(advertisements, 1, 1);
        sqlite3_bind_int64(advertisements, 2, 0);
        sqlite3_bind_int64(advertisements, 3, 1);
        while (sqlite3_step(advertisements) == SQLITE_ROW)
            put_advertisement(
                (const char *)sqlite3_column_text(advertisements, 1), sqlite3_column_bytes(advertisements, 1),
                (const char *)sqlite3_column_text(advertisements, 4), sqlite3_column_bytes(advertisements, 4));
        sqlite3_reset(advertisements);
        sqlite3_step(commit);
        sqlite3_reset(commit);
        PUT("],\"page\":{\"limit\":20,\"next\":\"/feed?cursor=");
        put_signed("\1\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 26, 1);
        PUT("&limit=20\",\"previous\":\"/feed?cursor=");
        put_signed("\1\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 26, 1);
        PUT("&limit=20\"}}");
        position = position + step < end ? position + step : 0;
    }
    printf("%.1f us a page, %zu bytes, %ld HMAC\n", (cpu() - start) / pages, length, codes / pages);
    return 0;
}
