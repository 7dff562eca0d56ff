package import HTTPTypes

package struct HTTPServerConfiguration: Sendable {
    package var host = "127.0.0.1"
    /// The port to listen on; 0 lets the kernel choose one.
    package var port: UInt16 = 0
    package var backlog: Int32 = 4096
    package var loops: Int?
    package var methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    package var requestLineLimit = 8 * 1024
    package var fieldBlockLimit = 16 * 1024
    package var fieldLimit = 100
    package var bodyLimit = 64 * 1024
    package var bodiesLimit = 64 * 1024 * 1024
    package var outputsLimit = 256 * 1024 * 1024
    package var chunkExtensionLimit = 4 * 1024
    package var trailerLimit = 4 * 1024
    var trailerFieldLimit = 16
    var discardLimit = 64 * 1024

    package var headTimeout = Duration.seconds(10)
    package var bodyTimeout = Duration.seconds(30)
    /// The minimum rate of a body in bytes per second, after ``bodyRateGrace``.
    package var minimumBodyRate = 240
    var bodyRateGrace = Duration.seconds(5)
    package var idleTimeout = Duration.seconds(60)
    /// The time in which a client with queued output must receive some of it.
    package var writeTimeout = Duration.seconds(30)
    package var handlerTimeout = Duration.seconds(10)
    /// The time after the last response in which bytes of the client are discarded, so that the client can read that response.
    var lingerTimeout = Duration.seconds(2)
    /// Limits the bytes of the client that are discarded after the last response. Why: many clients send a whole body before they read.
    var lingerLimit = 16 * 1024 * 1024

    package var requestsPerConnection = 1000
    package var connectionAge = Duration.seconds(3600)
    package var outputHighWater = 256 * 1024
    package var connectionLimit = 10_000
    /// Limits the connections of one address; nil for no limit, for example behind a proxy.
    package var connectionsPerPeer: Int? = 256
    var timerTick = Duration.milliseconds(250)

    /// Creates the defaults, with a port that the kernel chooses.
    package init() {}

    package static func isAddress(_ host: String) -> Bool { SocketAddress(host: host, port: 0) != nil }

    var headLimits: HeadLimits {
        HeadLimits(requestLine: requestLineLimit, fieldBlock: fieldBlockLimit, fields: fieldLimit)
    }
}

package enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownAddress(String)
    case addressInUse(String)
    /// The kernel refuses for another reason.
    case cannotListen(String)

    package var description: String {
        switch self {
        case .unknownAddress(let host): "cannot listen on \(host): it is not an address of this machine"
        case .addressInUse(let address): "cannot listen on \(address): the port is in use"
        case .cannotListen(let reason): "cannot listen on \(reason)"
        }
    }
}
