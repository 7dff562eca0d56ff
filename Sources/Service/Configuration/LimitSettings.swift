/// `limits.*`: what one client may take, counted on the bytes received. The defaults are those of the threat model.
public struct LimitSettings: Sendable {
    public var requestLine: ByteCount
    public var header: ByteCount
    public var fields: Int
    public var body: ByteCount
    public var chunkExtensions: ByteCount
    public var trailers: ByteCount
    public var headerDeadline: Duration
    public var bodyDeadline: Duration
    /// Bytes per second, after the first five seconds.
    public var bodyRate: ByteCount
    public var idle: Duration
    public var writeStall: Duration
    /// Bytes per second, on the average of ``writeStall``.
    public var writeRate: ByteCount
    public var handler: Duration
    public var requestsPerConnection: Int
    public var connectionAge: Duration
    public var connections: Int
    public var connectionsPerPeer: Int
    public var output: ByteCount

    init(_ reader: inout SettingsReader) throws {
        let small = 64...1 << 20
        requestLine = try Self.size("limits.request-line", 8 << 10, in: small, from: &reader)
        header = try Self.size("limits.header", 16 << 10, in: small, from: &reader)
        fields = try reader.read("limits.fields", default: 100, in: 1...10_000)
        body = try Self.size("limits.body", 64 << 10, in: 64...1 << 30, from: &reader)
        chunkExtensions = try Self.size("limits.chunk-extensions", 4 << 10, in: small, from: &reader)
        trailers = try Self.size("limits.trailers", 4 << 10, in: small, from: &reader)
        headerDeadline = try Self.time("limits.header-deadline", .seconds(10), from: &reader)
        bodyDeadline = try Self.time("limits.body-deadline", .seconds(30), from: &reader)
        bodyRate = try reader.read("limits.body-rate", default: 240)
        idle = try Self.time("limits.idle", .seconds(60), from: &reader)
        writeStall = try Self.time("limits.write-stall", .seconds(30), from: &reader)
        writeRate = try reader.read("limits.write-rate", default: 240)
        handler = try Self.time("limits.handler", .seconds(10), from: &reader)
        requestsPerConnection = try reader.read("limits.requests-per-connection", default: 1_000, in: 1...Int(Int32.max))
        connectionAge = try Self.time("limits.connection-age", .seconds(3_600), from: &reader)
        connections = try reader.read("limits.connections", default: 10_000, in: 1...1_000_000)
        connectionsPerPeer = try reader.read("limits.connections-per-peer", default: 256, in: 1...1_000_000)
        output = try Self.size("limits.output", 256 << 10, in: 1 << 10...1 << 30, from: &reader)
    }

    private static func size(
        _ key: String, _ bytes: Int, in range: ClosedRange<Int>, from reader: inout SettingsReader
    ) throws -> ByteCount {
        let ends = [range.lowerBound, range.upperBound].map { ByteCount(integerLiteral: $0).setting }
        return try reader.read(
            key, default: ByteCount(integerLiteral: bytes), allowed: "\(ByteCount.allowed), from \(ends[0]) to \(ends[1])",
            where: { range.contains($0.bytes) })
    }

    private static func time(_ key: String, _ duration: Duration, from reader: inout SettingsReader) throws -> Duration {
        try reader.read(
            key, default: duration, allowed: "\(Duration.allowed), from 10ms to 7d",
            where: { (.milliseconds(10)...(.seconds(604_800))).contains($0) })
    }
}
