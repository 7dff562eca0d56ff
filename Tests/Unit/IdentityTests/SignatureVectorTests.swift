import Foundation
import Testing

@testable import IntertwinePrimitives

/// Vectors of NIST and of the authors of Ed25519, which the PyPI package `cryptography_vectors` contains. `make install-test` installs it.
@Suite("Vectors of signatures")
struct SignatureVectorTests {
    private struct Missing: Error, CustomStringConvertible {
        let description = "cryptography_vectors is missing: make install-test"
    }

    private static func lines(of name: String) throws -> [Substring] {
        let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../.build/python/lib").standardized.path
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let files = folders.map { "\(root)/\($0)/site-packages/cryptography_vectors/asymmetric/\(name)" }
        guard let file = files.first(where: FileManager.default.fileExists) else { throw Missing() }
        return try String(contentsOfFile: file, encoding: .utf8).split(whereSeparator: \.isNewline)
    }

    /// Returns the cases of a section of a NIST file: the members up to each `Result`. Members of the section itself are in all of its cases.
    private static func cases(of name: String, in section: (String) -> Bool) throws -> [[String: String]] {
        var cases: [[String: String]] = []
        var (values, isWanted) = ([String: String](), false)
        for line in try lines(of: name) {
            if line.hasPrefix("[") {
                isWanted = section(String(line))
                values = [:]
            }
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard isWanted, parts.count == 2 else { continue }
            values[parts[0]] = parts[1]
            if parts[0] == "Result" { cases.append(values) }
        }
        return cases
    }

    private static func bytes(_ text: String?, count: Int? = nil) throws -> [UInt8] {
        let text = try #require(text)
        var bytes = Array(
            try #require(Hexadecimal.bytes(text.count.isMultiple(of: 2) ? text : "0" + text)).drop { $0 == 0 && count != nil })
        if let count, bytes.count < count { bytes = [UInt8](repeating: 0, count: count - bytes.count) + bytes }
        return bytes
    }

    @Test("Signatures of P-256 are valid or not as NIST says")
    func es256() throws {
        let cases = try Self.cases(of: "ECDSA/FIPS_186-3/SigVer.rsp") { $0 == "[P-256,SHA-256]" }
        var valid = 0
        for values in cases {
            let key = PublicKey(x: try Self.bytes(values["Qx"], count: 32), y: try Self.bytes(values["Qy"], count: 32))
            let signature = try Self.bytes(values["R"], count: 32) + Self.bytes(values["S"], count: 32)
            let message = try Self.bytes(values["Msg"])
            let isValid = key?.isValid(signature, of: message[...]) ?? false
            #expect(isValid == values["Result"]?.hasPrefix("P"), "\(values)")
            if isValid { valid += 1 }
        }
        #expect(cases.count == 15 && valid > 0 && valid < cases.count)
    }

    @Test("A point that is not on the curve is no key")
    func points() throws {
        let cases = try Self.cases(of: "ECDSA/FIPS_186-3/PKV.rsp") { $0 == "[P-256]" }
        for values in cases {
            let key = PublicKey(x: try Self.bytes(values["Qx"], count: 32), y: try Self.bytes(values["Qy"], count: 32))
            #expect((key != nil) == values["Result"]?.hasPrefix("P"), "\(values)")
        }
        #expect(cases.count == 12)
    }

    @Test("Signatures of RSA are valid or not as NIST says, and short keys are refused", arguments: [1_024, 1_536, 2_048, 3_072, 4_096])
    func rs256(bits: Int) throws {
        let cases = try Self.cases(of: "RSA/FIPS_186-2/SigVer15_186-3.rsp") { $0 == "[mod = \(bits)]" }.filter { $0["SHAAlg"] == "SHA256" }
        var valid = 0
        for values in cases {
            let exponent = try Self.bytes(values["e"], count: 1)
            let key = PublicKey(modulus: try Self.bytes(values["n"]), exponent: exponent)
            #expect((key != nil) == (bits >= 2_048 && exponent.count <= 4), "\(exponent)")
            guard let key else { continue }
            let (signature, message) = (try Self.bytes(values["S"]), try Self.bytes(values["Msg"]))
            let isValid = key.isValid(signature, of: message[...])
            #expect(isValid == values["Result"]?.hasPrefix("P"), "\(values["Result"] ?? "")")
            if isValid { valid += 1 }
        }
        #expect(!cases.isEmpty && (valid > 0) == (bits >= 2_048))
    }

    @Test("Signatures of Ed25519 are valid, and with a changed bit they are not")
    func edDSA() throws {
        let lines = try Self.lines(of: "Ed25519/sign.input").filter { $0.contains(":") }
        for line in lines.prefix(256) {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let (message, signed) = (try Self.bytes(parts[2]), try Self.bytes(parts[3]))
            let key = try #require(PublicKey(ed25519: try Self.bytes(parts[1])))
            var signature = Array(signed.prefix(64))
            #expect(key.isValid(signature, of: message[...]))
            signature[message.count % 64] ^= 1
            #expect(!key.isValid(signature, of: message[...]))
        }
        #expect(lines.count == 1_024)
    }

    @Test("The example of RFC 8037 is valid")
    func rfc8037() throws {
        let bytes = try #require(Base64URL.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo".utf8))
        let key = try #require(PublicKey(ed25519: bytes))
        let signature = try #require(
            Base64URL.decode("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg".utf8))
        let message = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        #expect(key.isValid(signature, of: message[...]))
    }
}
