internal import CIntertwineCurl
internal import HTTPTypes

/// Owns libcurl's handle for one hop and sets the options that restrict it to this hop.
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var pins: UnsafeMutablePointer<curl_slist>?
    private var worst = CURLE_OK

    init() throws(FetchError) {
        guard let handle = curl_easy_init() else { throw .internalError }
        self.handle = handle
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        curl_slist_free_all(pins)
    }

    /// `addresses`: The addresses that libcurl may connect to; libcurl itself never queries a name server.
    func prepare(_ url: FetchURL, addresses: [IPAddress], headers fields: HTTPFields, certificates: String?) throws(FetchError) {
        set(CURLOPT_URL, url.text)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_MAXREDIRS, 0)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_HTTP09_ALLOWED, 0)
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(CURLOPT_NETRC, 0)
        // An empty string disables proxies. Nil would apply the environment's http_proxy, and every later check would see the proxy's address.
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        if let certificates { set(CURLOPT_CAINFO, certificates) }
        for field in fields { append("\(field.name.canonicalName): \(field.value)", to: &headers) }
        check(intertwine_easy_list(handle, CURLOPT_HTTPHEADER, headers))
        if url.address == nil {
            // The prefix "+" makes the entry expire like others; without it the entry would stay in libcurl's table forever.
            let list = addresses.map(\.bracketed).joined(separator: ",")
            append("+\(url.host):\(url.port):\(list)", to: &pins)
            check(intertwine_easy_list(handle, CURLOPT_RESOLVE, pins))
        }
        guard worst == CURLE_OK else { throw .internalError }
    }

    func limit(_ limits: FetchLimits, total: Duration) {
        set(CURLOPT_CONNECTTIMEOUT_MS, limits.connect.milliseconds)
        set(CURLOPT_TIMEOUT_MS, total.milliseconds)
    }

    func limitSlowness(_ limits: FetchLimits) {
        set(CURLOPT_LOW_SPEED_LIMIT, limits.slowBytesPerSecond)
        set(CURLOPT_LOW_SPEED_TIME, limits.slowSeconds)
    }

    /// Counts the bytes of the body as received from now on. libcurl removes the framing of chunks without counting it, but its debug
    /// callback receives the body with the framing.
    func watchWire() {
        set(CURLOPT_VERBOSE, 1)
        set(CURLOPT_NOPROGRESS, 0)
    }

    func set(_ option: CURLoption, _ value: Int) {
        check(intertwine_easy_long(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: String) {
        check(intertwine_easy_string(handle, option, value))
    }

    func check(_ result: CURLcode) {
        if worst == CURLE_OK { worst = result }
    }

    private func append(_ line: String, to list: inout UnsafeMutablePointer<curl_slist>?) {
        guard let longer = curl_slist_append(list, line) else {
            worst = CURLE_OUT_OF_MEMORY
            return
        }
        list = longer
    }
}

extension Duration {
    /// Whole milliseconds, at least one: libcurl interprets zero as "no limit".
    fileprivate var milliseconds: Int {
        let (whole, part) = components
        return max(1, Int(min(whole, 1_000_000)) * 1_000 + Int(part / 1_000_000_000_000_000))
    }
}

final class CurlMulti {
    let handle: UnsafeMutableRawPointer

    /// The global state of libcurl, initialized once per process.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(context: UnsafeMutableRawPointer, socket: intertwine_curl_socket, timer: intertwine_curl_timer) throws(FetchError) {
        guard Self.isReady, let handle = curl_multi_init() else { throw .internalError }
        self.handle = handle
        _ = intertwine_multi_socket(handle, socket)
        _ = intertwine_multi_pointer(handle, CURLMOPT_SOCKETDATA, context)
        _ = intertwine_multi_timer(handle, timer)
        _ = intertwine_multi_pointer(handle, CURLMOPT_TIMERDATA, context)
        _ = intertwine_multi_long(handle, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        _ = intertwine_multi_long(handle, CURLMOPT_MAXCONNECTS, 64)
    }

    deinit {
        // Open connections are closed next, and the receiver of their socket events no longer exists.
        _ = intertwine_multi_socket(handle, nil)
        _ = intertwine_multi_timer(handle, nil)
        curl_multi_cleanup(handle)
    }
}
