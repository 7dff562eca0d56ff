import Foundation
import Glibc
import TestSupport

/// An https server with a certificate of its own making, by the openssl command.
final class SecureOrigin {
    let port: UInt16
    let certificate: String
    private let folder: String
    private let server = Process()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("secure-origin-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        certificate = folder + "/certificate.pem"
        let maker = Process()
        maker.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        maker.arguments =
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=secure.example"]
            + ["-addext", "subjectAltName=DNS:secure.example", "-keyout", folder + "/key.pem", "-out", certificate]
        maker.standardError = FileHandle.nullDevice
        try maker.run()
        maker.waitUntilExit()
        port = try Self.freePort()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments = [
            "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificate, "-key", folder + "/key.pem", "-www", "-quiet",
        ]
        server.standardOutput = FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        server.standardInput = FileHandle.nullDevice
        try server.run()
    }

    /// A port that nobody had a moment ago.
    private static func freePort() throws -> UInt16 {
        let origin = try Origin { _, _ in }
        origin.stop()
        return origin.port
    }

    deinit {
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
