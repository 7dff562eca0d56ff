#pragma once
#include <curl/curl.h>

// curl's option setters and getters are variadic, and Swift cannot call them. One inline function for each argument
// type makes a wrong type a compile error; the variadic call would be undefined behaviour.

typedef size_t (*intertwine_curl_data)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*intertwine_curl_open)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*intertwine_curl_prereq)(void *context, char *remote, char *local, int remote_port, int local_port);
typedef int (*intertwine_curl_debug)(CURL *easy, curl_infotype type, char *bytes, size_t count, void *context);
typedef int (*intertwine_curl_progress)(void *context, curl_off_t expected, curl_off_t got, curl_off_t sending, curl_off_t sent);
typedef int (*intertwine_curl_socket)(CURL *easy, curl_socket_t socket, int what, void *context, void *attached);
typedef int (*intertwine_curl_timer)(CURLM *multi, long milliseconds, void *context);

static inline CURLcode intertwine_easy_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode intertwine_easy_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode intertwine_easy_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode intertwine_easy_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode intertwine_easy_data(CURL *easy, CURLoption option, intertwine_curl_data value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode intertwine_easy_open(CURL *easy, intertwine_curl_open value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode intertwine_easy_prereq(CURL *easy, intertwine_curl_prereq value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode intertwine_easy_debug(CURL *easy, intertwine_curl_debug value) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
}
static inline CURLcode intertwine_easy_progress(CURL *easy, intertwine_curl_progress value) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}
static inline CURLcode intertwine_info_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLMcode intertwine_multi_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode intertwine_multi_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode intertwine_multi_socket(CURLM *multi, intertwine_curl_socket value) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode intertwine_multi_timer(CURLM *multi, intertwine_curl_timer value) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}
// The member of a message's union that CURLMSG_DONE sets.
static inline CURLcode intertwine_message_result(const CURLMsg *message) {
    return message->data.result;
}
