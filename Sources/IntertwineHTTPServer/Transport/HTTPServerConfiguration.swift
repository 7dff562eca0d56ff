public import HTTPTypes

/// The address and all limits of a server. The defaults suit the public internet.
///
/// ```swift
/// var configuration = HTTPServerConfiguration()
/// configuration.port = 8080
/// configuration.bodyLimit = 1024 * 1024
/// ```
public struct HTTPServerConfiguration: Sendable {
    /// The address to listen on: a numeric IPv4 or IPv6 address, or `localhost`. IPv6 `::` accepts IPv4 connections as well.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 lets the kernel choose one.
    public var port: UInt16 = 0
    /// The number of connections that may wait to be accepted.
    public var backlog: Int32 = 4096
    /// The number of event loops; nil for one per processor that the process may use.
    public var loops: Int?
    /// The supported methods. Other methods are answered with 501.
    public var methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Limits the bytes of a request line. Beyond it, the response is 414.
    public var requestLineLimit = 8 * 1024
    /// Limits the bytes of all fields of a request. Beyond it, the response is 431.
    public var fieldBlockLimit = 16 * 1024
    /// Limits the number of fields of a request. Beyond it, the response is 431.
    public var fieldLimit = 100
    /// Limits the bytes of a request body if the handler's plan sets no limit. Beyond it, the response is 413.
    public var bodyLimit = 64 * 1024
    /// Limits the bytes of all request bodies in memory, over all connections. Beyond it, the response is 503.
    public var bodiesLimit = 64 * 1024 * 1024
    /// Limits the bytes of responses in memory that wait for slow clients, over all connections. Beyond it, the connection with further bytes is
    /// closed.
    public var outputsLimit = 256 * 1024 * 1024
    /// Limits the bytes of all chunk extensions of a body. Beyond it, the response is 400.
    public var chunkExtensionLimit = 4 * 1024
    /// Limits the bytes of the trailers of a body. Beyond it, the response is 400.
    public var trailerLimit = 4 * 1024
    /// Limits the number of trailer fields of a body. Beyond it, the response is 400.
    public var trailerFieldLimit = 16
    /// Limits the bytes of an unwanted body that are discarded to reuse the connection. Beyond it, the connection is closed.
    public var discardLimit = 64 * 1024

    /// Limits the time from the first byte of a request to the end of its head. Beyond it, the response is 408.
    public var headTimeout = Duration.seconds(10)
    /// Limits the time from the end of the head to the end of the body. Beyond it, the response is 408.
    public var bodyTimeout = Duration.seconds(30)
    /// The minimum rate of a body in bytes per second, after ``bodyRateGrace``. Below it, the response is 408.
    public var minimumBodyRate = 240
    /// The time in which a body may arrive at any rate.
    public var bodyRateGrace = Duration.seconds(5)
    /// Limits the time that a connection waits for its next request. Beyond it, the connection is closed without a response.
    public var idleTimeout = Duration.seconds(60)
    /// The time in which a client with queued output must receive some of it. A client that receives nothing is reset.
    public var writeTimeout = Duration.seconds(30)
    /// Limits the time of the handler until its response if its plan sets no limit. Beyond it, the response is 503.
    public var handlerTimeout = Duration.seconds(10)
    /// The time after the last response in which bytes of the client are discarded, so that the client can read that response.
    public var lingerTimeout = Duration.seconds(2)
    /// Limits the bytes of the client that are discarded after the last response. Why: many clients send a whole body before they read.
    public var lingerLimit = 16 * 1024 * 1024

    /// Limits the requests of one connection. The last one is answered with `Connection: close`.
    public var requestsPerConnection = 1000
    /// Limits the age of a connection. The first response after it says `Connection: close`.
    public var connectionAge = Duration.seconds(3600)
    /// Limits the bytes queued for a slow client. Beyond it, the server stops reading requests and producing output for it.
    public var outputHighWater = 256 * 1024
    /// Limits the total of connections; lower if the process has too few descriptors. From four fifths of it, the connections with the longest
    /// idle time are closed. Beyond it, new connections are answered with 503.
    public var connectionLimit = 10_000
    /// Limits the connections of one address; nil for no limit, for example behind a proxy. Beyond it, the response is 503.
    public var connectionsPerPeer: Int? = 256
    /// The granularity of all deadlines.
    public var timerTick = Duration.milliseconds(250)

    /// Creates the defaults, with a port that the kernel chooses.
    public init() {}

    /// Returns true if the text is valid for ``host``: a numeric address or `localhost`.
    package static func isAddress(_ host: String) -> Bool { SocketAddress(host: host, port: 0) != nil }

    var headLimits: HeadLimits {
        HeadLimits(requestLine: requestLineLimit, fieldBlock: fieldBlockLimit, fields: fieldLimit)
    }
}

/// The reason why a server does not start. The description is one line for the operator.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host is not a numeric address of this machine.
    case unknownAddress(String)
    /// Another process listens on the address.
    case addressInUse(String)
    /// The kernel refuses for another reason.
    case cannotListen(String)

    /// The reason in one line.
    public var description: String {
        switch self {
        case .unknownAddress(let host): "cannot listen on \(host): it is not an address of this machine"
        case .addressInUse(let address): "cannot listen on \(address): the port is in use"
        case .cannotListen(let reason): "cannot listen on \(reason)"
        }
    }
}
