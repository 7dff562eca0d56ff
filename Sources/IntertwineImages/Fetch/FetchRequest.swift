package import HTTPTypes

package struct FetchRequest: Sendable {
    package var url: FetchURL
    package var headers: HTTPFields
    package var credentials = HTTPFields()
    /// The conditional fields for one URL only, because validators are not valid for any other URL, including one that redirects to it.
    package var conditions: (url: FetchURL, fields: HTTPFields)?
    /// ``FetchLimits/bodyBytes`` counts decompressed bytes, which bounds decompression bombs.
    package var acceptsCompression = false
    package var limits: FetchLimits

    package init(_ url: FetchURL, headers: HTTPFields = HTTPFields(), limits: FetchLimits = FetchLimits()) {
        self.url = url
        self.headers = headers
        self.limits = limits
    }

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

package struct FetchLimits: Sendable, Hashable {
    package var resolve: Duration = .seconds(2)
    package var connect: Duration = .seconds(3)
    package var head: Duration = .seconds(5)
    package var total: Duration = .seconds(12)
    package var slowBytesPerSecond = 2_048
    package var slowSeconds = 4
    var headBytes = 64 * 1_024
    var headLines = 256
    package var bodyBytes = 8 * 1_024 * 1_024
    var framingBytes = 64 * 1_024
    package var redirects = 10
    /// Limits the unread bytes in the kernel, which are lost if a fetch is paused and then cancelled.
    var receiveWindow = 64 * 1_024

    package init() {}
}
