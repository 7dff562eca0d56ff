package import HTTPTypes

/// A request to an origin: always a GET, with these fields and those that HTTP requires.
///
/// ```swift
/// var request = FetchRequest(try FetchURL("https://example.com/feed.json"))
/// request.acceptsCompression = true
/// ```
package struct FetchRequest: Sendable {
    /// The URL that is fetched first, before redirects.
    package var url: FetchURL
    /// The fields that every hop receives.
    package var headers: HTTPFields
    /// The fields for the origin of ``url`` only. They replace fields of the same names in ``headers``. They are dropped at a redirect to another scheme, host or port.
    ///
    /// ```swift
    /// var request = FetchRequest(try FetchURL("https://example.com/private.json"))
    /// request.credentials[.authorization] = "Bearer \(token)"
    /// ```
    package var credentials = HTTPFields()
    /// The conditional fields for one URL only, because validators are not valid for any other URL, including one that redirects to it.
    ///
    /// ```swift
    /// var request = FetchRequest(url)
    /// request.conditions = (url, [.ifNoneMatch: "\"a1\""])
    /// let (head, _) = try await client.get(request)  // status 304 if the content is unchanged
    /// ```
    package var conditions: (url: FetchURL, fields: HTTPFields)?
    /// A Boolean value indicating if a compressed body is requested. A body that is gzip is delivered decompressed in any case.
    /// ``FetchLimits/bodyBytes`` counts decompressed bytes, which bounds decompression bombs.
    package var acceptsCompression = false
    /// The limits of time and size.
    package var limits: FetchLimits

    /// Creates a request without credentials and conditions, whose body is not compressed.
    ///
    /// ```swift
    /// let url = try FetchURL("https://example.com/feed.json")
    /// let request = FetchRequest(url, headers: [.accept: "application/json"])
    /// ```
    package init(_ url: FetchURL, headers: HTTPFields = HTTPFields(), limits: FetchLimits = FetchLimits()) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }

    /// Returns the fields for a redirect hop.
    func fields(for hop: FetchURL) -> HTTPFields {
        var fields = headers
        if acceptsCompression { fields[.acceptEncoding] = "gzip" }
        if let conditions, conditions.url == hop { fields.append(contentsOf: conditions.fields) }
        if hop.hasSameOrigin(as: url) {
            for name in Set(credentials.map(\.name)) { fields[name] = nil }
            fields.append(contentsOf: credentials)
        }
        return fields
    }
}

/// The limits of one fetch. Each duration begins with its part of the fetch; ``total`` begins with the fetch.
///
/// ```swift
/// var limits = FetchLimits()
/// limits.total = .seconds(30)
/// limits.bodyBytes = 32 * 1_024 * 1_024
/// let request = FetchRequest(try FetchURL("https://example.com/large.json"), limits: limits)
/// ```
package struct FetchLimits: Sendable, Hashable {
    /// Limits the time of one name resolution.
    package var resolve: Duration = .seconds(2)
    /// Limits the time to connect, including the TLS handshake.
    package var connect: Duration = .seconds(3)
    /// Limits the time from sending the request to the end of the response's head.
    package var head: Duration = .seconds(5)
    /// Limits the whole fetch: name resolution, redirects and body.
    package var total: Duration = .seconds(12)
    /// The minimum rate of a body in bytes per second. A body that stays below it for ``slowSeconds`` is aborted.
    package var slowBytesPerSecond = 2_048
    /// The time in seconds for which a body may stay below ``slowBytesPerSecond``.
    package var slowSeconds = 4
    /// Limits the bytes of the response's head, including interim heads of all hops.
    var headBytes = 64 * 1_024
    /// Limits the lines of the response's head, including interim heads of all hops.
    var headLines = 256
    /// Limits the bytes of the body as delivered.
    package var bodyBytes = 8 * 1_024 * 1_024
    /// Limits the bytes around the content of a chunked body, beyond eight for each byte of content.
    var framingBytes = 64 * 1_024
    /// Limits the number of redirects.
    package var redirects = 3
    /// Limits the unread bytes in the kernel, which are lost if a fetch is paused and then cancelled.
    var receiveWindow = 64 * 1_024

    /// Creates limits with the default values.
    package init() {}
}
