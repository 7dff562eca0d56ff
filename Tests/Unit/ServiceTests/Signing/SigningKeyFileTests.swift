import Foundation
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Signing key in a file")
struct SigningKeyFileTests {
    @Test("The key file is created despite a leftover temporary file with the same process ID")
    func leftover() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/signing.key"
        try "".write(toFile: "\(path).\(ProcessInfo.processInfo.processIdentifier)", atomically: false, encoding: .utf8)
        let key = try SigningKeyFile(path: path).load()
        #expect(try SigningKeyFile(path: path).load().hexadecimal == key.hexadecimal)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    }
}
