/// `admin.*`: the operators' listener.
public struct AdminSettings: Sendable {
    public var host: String
    public var port: Int

    init(_ reader: inout SettingsReader) throws {
        host = try reader.read("admin.host", default: "127.0.0.1", allowed: "an IP address", where: { !$0.isEmpty })
        port = try reader.read("admin.port", default: 8081, in: 0...65_535)
    }
}
