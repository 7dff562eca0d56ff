public import HTTPTypes

/// Where the server listens, and every limit it keeps. The defaults are meant for the open network.
public struct HTTPServerConfiguration: Sendable {
    /// Address to listen on: an IPv4 or IPv6 address in numbers, or `localhost`. IPv6 `::` takes IPv4 connections as well.
    public var host = "127.0.0.1"
    /// Port to listen on; 0 lets the kernel choose one.
    public var port: UInt16 = 0
    /// Connections that may wait to be accepted.
    public var backlog: Int32 = 4096
    /// Event loops; nil for one per core.
    public var loops: Int?
    /// Methods that are known; all others are answered 501.
    public var methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Bytes of a request line. Beyond: 414.
    public var requestLineLimit = 8 * 1024
    /// Bytes of all fields of a request. Beyond: 431.
    public var fieldBlockLimit = 16 * 1024
    /// Fields of a request. Beyond: 431.
    public var fieldLimit = 100
    /// Bytes of a request body where the handler's plan does not say. Beyond: 413.
    public var bodyLimit = 64 * 1024
    /// Bytes of all request bodies that are being received or dealt with, over all connections. Beyond: 503.
    public var bodiesLimit = 64 * 1024 * 1024
    /// Bytes of all chunk extensions of a body. Beyond: 400.
    public var chunkExtensionLimit = 4 * 1024
    /// Bytes of the trailers of a body. Beyond: 400.
    public var trailerLimit = 4 * 1024
    /// Fields in the trailers of a body. Beyond: 400.
    public var trailerFieldLimit = 16
    /// Bytes of a body nobody wants that are read for the sake of the connection. Beyond: the connection is closed.
    public var discardLimit = 64 * 1024

    /// From the first byte of a request to the end of its head. Beyond: 408.
    public var headTimeout = Duration.seconds(10)
    /// From the end of the head to the end of the body. Beyond: 408.
    public var bodyTimeout = Duration.seconds(30)
    /// Bytes per second a body must come in at, once ``bodyRateGrace`` is over. Below: 408.
    public var minimumBodyRate = 240
    /// How long a body may come in at any rate.
    public var bodyRateGrace = Duration.seconds(5)
    /// How long a connection may wait for its next request. Beyond: it is closed without a word.
    public var idleTimeout = Duration.seconds(60)
    /// How often it is looked at whether a client takes what waits for it, at ``minimumWriteRate`` at least. One that takes nothing is reset the
    /// second time, and the third where it was faster before: windows open in steps.
    public var writeTimeout = Duration.seconds(30)
    /// Bytes per second, on the average of ``writeTimeout``, at which a client has to take an answer that waits for it: one that sips
    /// holds memory as one that takes nothing does.
    public var minimumWriteRate = 240
    /// How long the handler may take to answer, where its plan does not say. Beyond: 503.
    public var handlerTimeout = Duration.seconds(10)
    /// How long, after the last answer, bytes of the client are read and dropped, so that it can read that answer.
    public var lingerTimeout = Duration.seconds(2)
    /// How many bytes of the client are read and dropped after the last answer: many clients send all of a body before they read.
    public var lingerLimit = 16 * 1024 * 1024

    /// Requests on one connection. The last is answered with `Connection: close`.
    public var requestsPerConnection = 1000
    /// Age of a connection. The first answer beyond says `Connection: close`.
    public var connectionAge = Duration.seconds(3600)
    /// Bytes that may wait for a slow client. Beyond: nothing more is read or produced for it.
    public var outputHighWater = 256 * 1024
    /// Connections in all; fewer where the process has not the descriptors for them. From four fifths of it on the longest idle are closed; beyond it new ones are answered 503.
    public var connectionLimit = 10_000
    /// Connections of one address; nil for no limit, as behind a proxy. Beyond: 503.
    public var connectionsPerPeer: Int? = 256
    /// How often each event loop beats, so that ``HTTPServer/beats`` tells whether it runs; nil for never.
    public var heartbeat: Duration?
    /// Granularity of all deadlines.
    public var timerTick = Duration.milliseconds(250)

    public init() {}

    /// Whether ``host`` can be this: an address in numbers, or `localhost`.
    package static func isAddress(_ host: String) -> Bool { SocketAddress(host: host, port: 0) != nil }

    var headLimits: HeadLimits {
        HeadLimits(requestLine: requestLineLimit, fieldBlock: fieldBlockLimit, fields: fieldLimit)
    }

    /// - Throws: ``HTTPServerError/invalidConfiguration(_:)`` with the name of the first wrong value and what is allowed.
    public func validate() throws(HTTPServerError) {
        let ranges: [(String, Int, ClosedRange<Int>)] = [
            ("backlog", Int(backlog), 1...65_535), ("loops", loops ?? 1, 1...1024), ("requestLineLimit", requestLineLimit, 64...1_048_576),
            ("fieldBlockLimit", fieldBlockLimit, 64...1_048_576), ("fieldLimit", fieldLimit, 1...10_000),
            ("bodyLimit", bodyLimit, 0...Int.max), ("bodiesLimit", bodiesLimit, 0...Int.max),
            ("chunkExtensionLimit", chunkExtensionLimit, 0...1_048_576),
            ("trailerLimit", trailerLimit, 2...1_048_576), ("trailerFieldLimit", trailerFieldLimit, 0...10_000),
            ("discardLimit", discardLimit, 0...Int.max), ("minimumBodyRate", minimumBodyRate, 0...Int.max),
            ("minimumWriteRate", minimumWriteRate, 0...Int.max),
            ("lingerLimit", lingerLimit, 0...Int.max), ("requestsPerConnection", requestsPerConnection, 1...Int.max),
            ("outputHighWater", outputHighWater, 1024...Int.max), ("connectionLimit", connectionLimit, 1...10_000_000),
            ("connectionsPerPeer", connectionsPerPeer ?? 1, 1...10_000_000),
        ]
        for (name, value, allowed) in ranges where !allowed.contains(value) {
            throw .invalidConfiguration("\(name) is \(value); allowed is \(allowed.lowerBound) to \(allowed.upperBound)")
        }
        let durations: [(String, Duration)] = [
            ("headTimeout", headTimeout), ("bodyTimeout", bodyTimeout), ("bodyRateGrace", bodyRateGrace), ("idleTimeout", idleTimeout),
            ("writeTimeout", writeTimeout), ("handlerTimeout", handlerTimeout), ("lingerTimeout", lingerTimeout),
            ("connectionAge", connectionAge), ("timerTick", timerTick),
        ]
        for (name, value) in durations where value <= .zero || value > .seconds(86_400 * 365) {
            throw .invalidConfiguration("\(name) is \(value); allowed is more than nothing and at most a year")
        }
    }
}

/// Why a server does not start. The description is one line for the operator.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalidConfiguration(String)
    /// The host is not an address of this machine in numbers.
    case unknownAddress(String)
    /// Somebody else listens there.
    case addressInUse(String)
    /// Anything else the kernel refuses.
    case cannotListen(String)

    public var description: String {
        switch self {
        case .invalidConfiguration(let reason): reason
        case .unknownAddress(let host): "can not listen on \(host): it is not an address of this machine"
        case .addressInUse(let address): "can not listen on \(address): the port is in use"
        case .cannotListen(let reason): "can not listen on \(reason)"
        }
    }
}
