internal import CCurl

/// Owns curl's multi handle. On one loop only.
final class CurlMulti {
    let handle: UnsafeMutableRawPointer

    /// curl's global state, set up once for the process.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(context: UnsafeMutableRawPointer, socket: intertwine_curl_socket, timer: intertwine_curl_timer) throws(FetchFailure) {
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
        // The connections that are still open are closed now, and nobody is there any more to hear of their sockets.
        _ = intertwine_multi_socket(handle, nil)
        _ = intertwine_multi_timer(handle, nil)
        curl_multi_cleanup(handle)
    }
}
