// The minimal work of a click: receive its request, compute six digests, write its row in a group commit, send the redirect.
// One thread. It parses only the viewer's name, checks nothing, and looks up no window or rate.
//
//     click-floor DATABASE PORT     serves clicks on 127.0.0.1 until it is terminated
#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/sha.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024, ENTRY = 28, KEYS = 5 };

static sqlite3 *database;

static void die(const char *what) {
    fprintf(stderr, "click-floor: %s: %s\n", what, database ? sqlite3_errmsg(database) : "");
    exit(1);
}

static void run(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) die(sql);
}

static sqlite3_stmt *prepared(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) die(sql);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) die("step");
    sqlite3_reset(statement);
}

int main(int count, char **words) {
    if (count != 3 || sqlite3_open(words[1], &database) != SQLITE_OK) die("usage: click-floor DATABASE PORT");
    run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;"
        "CREATE TABLE event (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, cell TEXT NOT NULL, viewer TEXT, address TEXT,"
        " user_agent TEXT, verdict TEXT NOT NULL, campaign TEXT, feed TEXT, section TEXT, position INTEGER, layout TEXT, creative TEXT,"
        " advertiser TEXT);"
        "CREATE TABLE recent_allowance (id INTEGER PRIMARY KEY, until INTEGER NOT NULL, spilled INTEGER NOT NULL, entries BLOB NOT NULL);"
        "CREATE TABLE rollup_cell (day INTEGER, verdict TEXT, cell TEXT, kind TEXT, count INTEGER, PRIMARY KEY (day, verdict, cell, kind))"
        " WITHOUT ROWID; INSERT INTO rollup_cell VALUES (0, 'counted', 'ad:1', 'click', 0);"
        "CREATE TABLE rollup_day (day INTEGER, kind TEXT, verdict TEXT, count INTEGER, PRIMARY KEY (day, kind, verdict)) WITHOUT ROWID;"
        "INSERT INTO rollup_day VALUES (0, 'click', 'counted', 0)");
    sqlite3_stmt *begin = prepared("BEGIN IMMEDIATE"), *commit = prepared("COMMIT");
    sqlite3_stmt *event = prepared(
        "INSERT INTO event (at, kind, cell, viewer, address, user_agent, verdict, feed, position, layout, creative)"
        " VALUES (?, 'click', 'ad:1', ?, '127.0.0.0/24', 'wrk', 'counted', 'feed', 10, 'collection', 'image')");
    sqlite3_stmt *allowances = prepared("INSERT INTO recent_allowance (until, spilled, entries) VALUES (?, 0, ?)");
    sqlite3_stmt *cell = prepared("UPDATE rollup_cell SET count = count + ? WHERE day = 0 AND verdict = 'counted' AND cell = 'ad:1' AND kind = 'click'");
    sqlite3_stmt *day = prepared("UPDATE rollup_day SET count = count + ? WHERE day = 0 AND kind = 'click' AND verdict = 'counted'");

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(words[2])), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) die("listen");
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event watched = {.events = EPOLLIN, .data = {.fd = listener}}, ready[MOST];
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &watched);
    static unsigned char entries[MOST * KEYS * ENTRY];
    static const char answer[] =
        "HTTP/1.1 302 Found\r\nDate: Mon, 23 Nov 2026 06:38:54 GMT\r\nLocation: https://www.example.com/1\r\nCache-Control: no-store\r\n"
        "Content-Length: 0\r\nX-Request-ID: 3da256f1-fb21-44a2-8b98-17e46edecd89\r\n\r\n";
    for (;;) {
        int clicked[MOST], clicks = 0, events = epoll_wait(epoll, ready, MOST, -1);
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        long long at = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
        for (int i = 0; i < events; i++) {
            int client = ready[i].data.fd;
            if (client == listener) {
                watched.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (watched.data.fd >= 0) epoll_ctl(epoll, EPOLL_CTL_ADD, watched.data.fd, &watched);
                continue;
            }
            char request[4096];
            ssize_t size = recv(client, request, sizeof request - 1, 0);
            if (size <= 0) {
                close(client);
                continue;
            }
            request[size] = 0;
            const char *viewer = strstr(request, "X-Viewer-ID: ");
            viewer = viewer ? viewer + 13 : "";
            size_t length = strcspn(viewer, "\r");
            if (!clicks) step(begin);
            unsigned char digest[32];
            for (int key = 0; key <= KEYS; key++) {
                SHA256((const unsigned char *)viewer, length, digest);
                if (key < KEYS) memcpy(entries + (clicks * KEYS + key) * ENTRY, digest, ENTRY);
            }
            sqlite3_bind_int64(event, 1, at);
            sqlite3_bind_text(event, 2, viewer, length, SQLITE_STATIC);
            step(event);
            clicked[clicks++] = client;
        }
        if (!clicks) continue;
        sqlite3_bind_int64(allowances, 1, at + 60000);
        sqlite3_bind_blob(allowances, 2, entries, clicks * KEYS * ENTRY, SQLITE_STATIC);
        sqlite3_bind_int64(cell, 1, clicks);
        sqlite3_bind_int64(day, 1, clicks);
        step(allowances);
        step(cell);
        step(day);
        step(commit);
        for (int i = 0; i < clicks; i++) send(clicked[i], answer, sizeof answer - 1, MSG_NOSIGNAL);
    }
}
