package import HTTPTypes

/// The address and all limits of a server. The defaults suit the public internet.
///
/// ```swift
/// var configuration = HTTPServerConfiguration()
/// configuration.port = 8080
/// configuration.bodyLimit = 1024 * 1024
/// ```
package struct HTTPServerConfiguration: Sendable {
    /// The address to listen on: a numeric IPv4 or IPv6 address, or `localhost`. IPv6 `::` accepts IPv4 connections as well.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 lets the kernel choose one.
    package var port: UInt16 = 0
    /// The number of connections that may wait to be accepted.
    package var backlog: Int32 = 4096
    /// The number of event loops; nil for one per processor that the process may use.
    package var loops: Int?
    /// The supported methods. Other methods are answered with 501.
    package var methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Limits the bytes of a request line. Beyond it, the response is 414.
    package var requestLineLimit = 8 * 1024
    /// Limits the bytes of all fields of a request. Beyond it, the response is 431.
    package var fieldBlockLimit = 16 * 1024
    /// Limits the number of fields of a request. Beyond it, the response is 431.
    package var fieldLimit = 100
    /// Limits the bytes of a request body if the handler's plan sets no limit. Beyond it, the response is 413.
    package var bodyLimit = 64 * 1024
    /// Limits the bytes of all request bodies in memory, over all connections. Beyond it, the response is 503.
    package var bodiesLimit = 64 * 1024 * 1024
    /// Limits the bytes of responses in memory that wait for slow clients, over all connections. Beyond it, the connection with further bytes is
    /// closed.
    package var outputsLimit = 256 * 1024 * 1024
    /// Limits the bytes of all chunk extensions of a body. Beyond it, the response is 400.
    package var chunkExtensionLimit = 4 * 1024
    /// Limits the bytes of the trailers of a body. Beyond it, the response is 400.
    package var trailerLimit = 4 * 1024
    /// Limits the number of trailer fields of a body. Beyond it, the response is 400.
    var trailerFieldLimit = 16
    /// Limits the bytes of an unwanted body that are discarded to reuse the connection. Beyond it, the connection is closed.
    var discardLimit = 64 * 1024

    /// Limits the time from the first byte of a request to the end of its head. Beyond it, the response is 408.
    package var headTimeout = Duration.seconds(10)
    /// Limits the time from the end of the head to the end of the body. Beyond it, the response is 408.
    package var bodyTimeout = Duration.seconds(30)
    /// The minimum rate of a body in bytes per second, after ``bodyRateGrace``. Below it, the response is 408.
    package var minimumBodyRate = 240
    /// The time in which a body may arrive at any rate.
    var bodyRateGrace = Duration.seconds(5)
    /// Limits the time that a connection waits for its next request. Beyond it, the connection is closed without a response.
    package var idleTimeout = Duration.seconds(60)
    /// The time in which a client with queued output must receive some of it. A client that receives nothing is reset.
    package var writeTimeout = Duration.seconds(30)
    /// Limits the time of the handler until its response if its plan sets no limit. Beyond it, the response is 503.
    package var handlerTimeout = Duration.seconds(10)
    /// The time after the last response in which bytes of the client are discarded, so that the client can read that response.
    var lingerTimeout = Duration.seconds(2)
    /// Limits the bytes of the client that are discarded after the last response. Why: many clients send a whole body before they read.
    var lingerLimit = 16 * 1024 * 1024

    /// Limits the requests of one connection. The last one is answered with `Connection: close`.
    package var requestsPerConnection = 1000
    /// Limits the age of a connection. The first response after it says `Connection: close`.
    package var connectionAge = Duration.seconds(3600)
    /// Limits the bytes queued for a slow client. Beyond it, the server stops reading requests and producing output for it.
    package var outputHighWater = 256 * 1024
    /// Limits the total of connections; lower if the process has too few descriptors. From four fifths of it, the connections with the longest
    /// idle time are closed. Beyond it, new connections are answered with 503.
    package var connectionLimit = 10_000
    /// Limits the connections of one address; nil for no limit, for example behind a proxy. Beyond it, the response is 503.
    package var connectionsPerPeer: Int? = 256
    /// The granularity of all deadlines.
    var timerTick = Duration.milliseconds(250)

    /// Creates the defaults, with a port that the kernel chooses.
    package init() {}

    /// Returns true if the text is valid for ``host``: a numeric address or `localhost`.
    package static func isAddress(_ host: String) -> Bool { SocketAddress(host: host, port: 0) != nil }

    var headLimits: HeadLimits {
        HeadLimits(requestLine: requestLineLimit, fieldBlock: fieldBlockLimit, fields: fieldLimit)
    }

    /// Checks all values.
    ///
    /// ```swift
    /// var configuration = HTTPServerConfiguration()
    /// configuration.backlog = 0
    /// try configuration.validate()  // throws: backlog is 0; allowed: 1 to 65535
    /// ```
    ///
    /// - Throws: ``HTTPServerError/invalidConfiguration(_:)`` with the name of the first wrong value and the allowed values.
    package func validate() throws(HTTPServerError) {
        let ranges: [(String, Int, ClosedRange<Int>)] = [
            ("backlog", Int(backlog), 1...65_535), ("loops", loops ?? 1, 1...1024), ("requestLineLimit", requestLineLimit, 64...1_048_576),
            ("fieldBlockLimit", fieldBlockLimit, 64...1_048_576), ("fieldLimit", fieldLimit, 1...10_000),
            ("bodyLimit", bodyLimit, 0...Int.max), ("bodiesLimit", bodiesLimit, 0...Int.max),
            ("outputsLimit", outputsLimit, 1024...Int.max),
            ("chunkExtensionLimit", chunkExtensionLimit, 0...1_048_576),
            ("trailerLimit", trailerLimit, 2...1_048_576), ("trailerFieldLimit", trailerFieldLimit, 0...10_000),
            ("discardLimit", discardLimit, 0...Int.max), ("minimumBodyRate", minimumBodyRate, 0...Int.max),
            ("lingerLimit", lingerLimit, 0...Int.max), ("requestsPerConnection", requestsPerConnection, 1...Int.max),
            ("outputHighWater", outputHighWater, 1024...Int.max), ("connectionLimit", connectionLimit, 1...10_000_000),
            ("connectionsPerPeer", connectionsPerPeer ?? 1, 1...10_000_000),
        ]
        for (name, value, allowed) in ranges where !allowed.contains(value) {
            throw .invalidConfiguration("\(name) is \(value); allowed: \(allowed.lowerBound) to \(allowed.upperBound)")
        }
        let durations: [(String, Duration)] = [
            ("headTimeout", headTimeout), ("bodyTimeout", bodyTimeout), ("bodyRateGrace", bodyRateGrace), ("idleTimeout", idleTimeout),
            ("writeTimeout", writeTimeout), ("handlerTimeout", handlerTimeout), ("lingerTimeout", lingerTimeout),
            ("connectionAge", connectionAge), ("timerTick", timerTick),
        ]
        for (name, value) in durations where value <= .zero || value > .seconds(86_400 * 365) {
            throw .invalidConfiguration("\(name) is \(value); allowed: more than 0, at most one year")
        }
    }
}

/// The reason why a server does not start. The description is one line for the operator.
package enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A value of the configuration is invalid.
    case invalidConfiguration(String)
    /// The host is not a numeric address of this machine.
    case unknownAddress(String)
    /// Another process listens on the address.
    case addressInUse(String)
    /// The kernel refuses for another reason.
    case cannotListen(String)

    /// The reason in one line.
    package var description: String {
        switch self {
        case .invalidConfiguration(let reason): reason
        case .unknownAddress(let host): "cannot listen on \(host): it is not an address of this machine"
        case .addressInUse(let address): "cannot listen on \(address): the port is in use"
        case .cannotListen(let reason): "cannot listen on \(reason)"
        }
    }
}
