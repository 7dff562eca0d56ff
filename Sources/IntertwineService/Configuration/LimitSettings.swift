internal import IntertwinePrimitives

/// `limits.*`: what one client may take, counted on the bytes received. The defaults are those of the threat model.
public struct LimitSettings: Sendable {
    public var requestLine: ByteCount = .kibibytes(8)
    public var header: ByteCount = .kibibytes(16)
    public var fields = 100
    public var body: ByteCount = .kibibytes(64)
    /// Of all requests that are under way, on each listener.
    public var bodies: ByteCount = .mebibytes(64)
    public var chunkExtensions: ByteCount = .kibibytes(4)
    public var trailers: ByteCount = .kibibytes(4)
    public var headerDeadline: Duration = .seconds(10)
    public var bodyDeadline: Duration = .seconds(30)
    /// Bytes per second, after the first five seconds.
    public var bodyRate: ByteCount = 240
    public var idle: Duration = .seconds(60)
    public var writeStall: Duration = .seconds(30)
    /// Bytes per second, on the average of ``writeStall``.
    public var writeRate: ByteCount = 240
    public var handler: Duration = .seconds(10)
    public var requestsPerConnection = 1_000
    public var connectionAge: Duration = .seconds(3_600)
    public var connections = 10_000
    public var connectionsPerPeer = 256
    public var output: ByteCount = .kibibytes(256)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        let small = 64...1 << 20
        let times: ClosedRange<Duration> = .milliseconds(10) ... .seconds(604_800)
        reader.read("limits.request-line", &requestLine, in: small)
        reader.read("limits.header", &header, in: small)
        reader.read("limits.fields", &fields, in: 1...10_000)
        reader.read("limits.body", &body, in: 64...1 << 30)
        reader.read("limits.bodies", &bodies, in: 64...1 << 40)
        reader.read("limits.chunk-extensions", &chunkExtensions, in: small)
        reader.read("limits.trailers", &trailers, in: small)
        reader.read("limits.header-deadline", &headerDeadline, in: times)
        reader.read("limits.body-deadline", &bodyDeadline, in: times)
        reader.read("limits.body-rate", &bodyRate)
        reader.read("limits.idle", &idle, in: times)
        reader.read("limits.write-stall", &writeStall, in: times)
        reader.read("limits.write-rate", &writeRate)
        reader.read("limits.handler", &handler, in: times)
        reader.read("limits.requests-per-connection", &requestsPerConnection, in: 1...Int(Int32.max))
        reader.read("limits.connection-age", &connectionAge, in: times)
        reader.read("limits.connections", &connections, in: 1...1_000_000)
        reader.read("limits.connections-per-peer", &connectionsPerPeer, in: 1...1_000_000)
        reader.read("limits.output", &output, in: 1 << 10...1 << 30)
    }
}
