import Foundation
import Glibc

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
        let output = Pipe()
        server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        server.arguments = ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", folder + "/key.pem", "-www"]
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        server.standardInput = FileHandle.nullDevice
        try server.run()
        // It says "ACCEPT 127.0.0.1:12345" once it listens.
        var said = ""
        while !said.contains("ACCEPT"), case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            said += String(decoding: data, as: UTF8.self)
        }
        let number = said.split(separator: "\n").lazy.compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }.first
        guard let number else { throw CocoaError(.fileReadUnknown) }
        port = number
    }

    deinit {
        server.terminate()
        server.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
