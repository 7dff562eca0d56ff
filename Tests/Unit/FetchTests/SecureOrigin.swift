import Foundation
import Glibc

/// An https server with a certificate of its own making, by the openssl command.
final class SecureOrigin {
    let port: UInt16
    let certificate: String
    private let folder: String
    private let server: Process

    /// - Parameter dialogue: where requests are to be read and answers to be written, byte for byte; without it the server answers by itself.
    init(dialogue: (requests: Pipe, answers: Pipe)? = nil) throws {
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
        // Below the ports that the kernel hands out, so that no other test's origin gets it in between.
        var candidate = UInt16.random(in: 20_000..<32_000)
        var server = Self.server(on: candidate, folder, dialogue)
        try server.run()
        while !Self.listens(on: candidate) {
            if server.isRunning {
                usleep(5_000)
            } else {
                candidate = UInt16.random(in: 20_000..<32_000)
                server = Self.server(on: candidate, folder, dialogue)
                try server.run()
            }
        }
        port = candidate
        self.server = server
    }

    private static func server(on port: UInt16, _ folder: String, _ dialogue: (requests: Pipe, answers: Pipe)?) -> Process {
        let server = Process()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments =
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-cert", folder + "/certificate.pem", "-key", folder + "/key.pem", "-quiet",
            ] + (dialogue == nil ? ["-www"] : [])
        server.standardOutput = dialogue?.requests ?? FileHandle.nullDevice
        server.standardError = FileHandle.nullDevice
        server.standardInput = dialogue?.answers ?? FileHandle.nullDevice
        return server
    }

    private static func listens(on port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
        return withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    deinit {
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
