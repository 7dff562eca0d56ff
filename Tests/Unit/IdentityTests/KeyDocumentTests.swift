import Foundation
import Testing

@testable import IntertwinePrimitives
@testable import IntertwineService

@Suite("Documents of keys")
struct KeyDocumentTests {
    private static let all = Set(SignatureAlgorithm.allCases)

    private func error(
        _ text: String, origin: KeyDocument.Origin = .file, algorithms: Set<SignatureAlgorithm> = all
    ) -> String? {
        do throws(KeyDocumentError) {
            _ = try KeyDocument(Array(text.utf8), origin: origin, algorithms: algorithms)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("A public key is read from a JSON Web Key, a set and PEM", arguments: [SignatureAlgorithm.rs256, .es256, .edDSA])
    func forms(_ algorithm: SignatureAlgorithm) async throws {
        let maker = try TokenMaker(algorithm, id: "k1")
        for text in [maker.jwk, "{\"keys\":[\(maker.jwk)]}", maker.pem, "\n" + maker.pem, "\u{FEFF}" + maker.jwk] {
            let document = try KeyDocument(Array(text.utf8), origin: .file, algorithms: Self.all)
            #expect(document.keys.map(\.algorithm) == [algorithm] && document.ignored == [])
            let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: TokenKeys([document]))
            #expect(try await verifier.verify(try maker.token(), now: TokenMaker.now).subject == "ada")
        }
    }

    @Test("A document or key with two members of one name is refused, so the last good set stays")
    func duplicates() throws {
        let maker = try TokenMaker(.es256, id: "k1")
        for text in [
            #"{"keys":[],"keys":[\#(maker.jwk)]}"#, #"{"keys":[\#(maker.jwk)],"keys":[]}"#, #"{"keys":[],"keys":[]}"#,
            #"{"keys":[{"kid":"other",\#(maker.jwk.dropFirst())]}"#,
        ] {
            #expect(error(text, origin: .remote) != nil, "\(text)")
        }
    }

    @Test("Several PEM blocks are several keys")
    func blocks() async throws {
        let makers = [try TokenMaker(.es256), try TokenMaker(.rs256), try TokenMaker(.edDSA)]
        let text = makers.map(\.pem).joined(separator: "\n\n")
        let document = try KeyDocument(Array(text.utf8), origin: .file, algorithms: Self.all)
        #expect(document.keys.map(\.algorithm) == [.es256, .rs256, .edDSA])
    }

    @Test("A set with keys that are not supported is read without them")
    func others() async throws {
        let maker = try TokenMaker(.es256, id: "k1")
        let others = [
            #"{"kty":"RSA","kid":"enc","use":"enc","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"EC","crv":"secp256k1","kid":"coin","x":"AA","y":"AA"}"#,
            #"{"kty":"EC","crv":"P-384","kid":"wide","x":"AA","y":"AA","alg":"ES384"}"#, #"{"kty":"new","kid":"new"}"#, #"{"kid":7}"#,
            #"{"kty":"RSA","kid":"oaep","alg":"RSA-OAEP-256","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"short","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"off","x":"AA","y":"AA"}"#, #"{"kty":"oct","kid":"published","k":"AAAA"}"#,
            #"{"kty":"OKP","crv":"Ed25519","kid":"wrap","key_ops":["wrapKey"],"x":"AA"}"#,
            #"{"kty":"OKP","crv":"Ed25519","kid":"owner","d":"AA","x":"AA"}"#,
        ]
        let text = "{\"keys\":[\((others + [maker.jwk]).joined(separator: ","))]}"
        let document = try KeyDocument(Array(text.utf8), origin: .remote, algorithms: Self.all)
        #expect(document.keys.map(\.id) == ["k1"])
        #expect(document.ignored.count == others.count)
        #expect(document.ignored.contains("key 'published' is a secret, and was published"))
        #expect(document.ignored.contains("key 'owner' is private; verification needs the public key only"))
    }

    @Test("A member of a set that is no object is ignored", arguments: ["null", "7", "\"k1\"", "[]", "true"])
    func noObject(_ member: String) async throws {
        let maker = try TokenMaker(.es256, id: "k1")
        for text in ["{\"keys\":[\(member),\(maker.jwk)]}", "{\"keys\":[\(maker.jwk),\(member)]}"] {
            for origin in [KeyDocument.Origin.file, .remote] {
                let document = try KeyDocument(Array(text.utf8), origin: origin, algorithms: Self.all)
                #expect(document.keys.map(\.id) == ["k1"] && document.ignored == ["a member is no object"])
            }
        }
        #expect(error("{\"keys\":[\(member)]}") == "has no usable keys: a member is no object")
    }

    @Test("A document without usable keys is refused with the reasons")
    func unusable() async throws {
        let maker = try TokenMaker(.es256, id: "k1")
        #expect(error("{\"keys\":[]}") == nil, "a set without members revokes all keys")
        #expect(error("{") == "is not a JSON Web Key or a set of them")
        for text in ["[]", "0123456789abcdef0123456789abcdef"] {
            #expect(error(text) == "is neither JSON nor PEM; a shared secret requires HS256 as the only algorithm")
        }
        #expect(error("<html>", origin: .remote) == "is not JSON")
        #expect(error(maker.pem, origin: .remote) == "is not JSON")
        #expect(error("-----BEGIN PUBLIC KEY-----\nAAAA") == "has an incomplete PEM block")
        #expect(error(maker.jwk, algorithms: [.rs256]) == "has no usable keys: ES256 is not an accepted algorithm")
        #expect(
            error("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----")
                == "has no usable keys: has a private key; verification needs the public key only")
        let many = (0...32).map { _ in maker.jwk }.joined(separator: ",")
        #expect(error("{\"keys\":[\(many)]}") == "has more than 32 keys")
    }

    private static func secret(_ bytes: [UInt8]) throws(KeyDocumentError) -> [VerificationKey] {
        try KeyDocument(bytes, origin: .file, algorithms: [.hs256]).keys
    }

    @Test("A secret has at least 32 bytes, and its line break is not part of it")
    func secret() async throws {
        let secret = "0123456789abcdef0123456789abcdef"
        for text in [secret, secret + "\n", secret + "\r\n"] {
            #expect(try Self.secret(Array(text.utf8)).map(\.algorithm) == [.hs256])
        }
        #expect(throws: KeyDocumentError.self) { try Self.secret(Array((secret.dropLast() + "\n").utf8)) }
        // A binary secret is used as it is.
        let bytes = [UInt8](repeating: 0xFF, count: 31) + [0x0A]
        #expect(try Self.secret(bytes).count == 1)
        // A random secret may begin as DER does.
        #expect(try Self.secret([0x30, 0x82] + [UInt8](repeating: 0xFF, count: 30)).count == 1)
    }

    @Test("A public key in any form is no secret", arguments: [SignatureAlgorithm.rs256, .es256, .edDSA])
    func publishedSecret(_ algorithm: SignatureAlgorithm) async throws {
        let maker = try TokenMaker(algorithm)
        let lines = maker.pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let der = Array(try #require(Data(base64Encoded: lines)))
        for bytes in [
            Array(maker.pem.utf8), Array(("# our key\n" + maker.pem).utf8), Array(maker.jwk.utf8), Array("[\(maker.jwk)]".utf8), der,
        ] {
            #expect(throws: KeyDocumentError.self) { try Self.secret(bytes) }
        }
    }
}
