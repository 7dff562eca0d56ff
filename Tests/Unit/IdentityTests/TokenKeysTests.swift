import Synchronization
import Testing

@testable import IntertwineService

@Suite("Keys from a document that rotates")
struct TokenKeysTests {
    private let now = TokenMaker.now

    /// An origin of a document, which tests change.
    private final class Origin: Sendable {
        private struct Unreachable: Error {}

        private let state = Mutex((document: "", fetches: 0, delay: Duration.zero, events: [String]()))

        var fetches: Int { state.withLock { $0.fetches } }
        var events: [String] { state.withLock { $0.events } }

        func serve(_ makers: TokenMaker...) { serve("{\"keys\":[\(makers.map(\.jwk).joined(separator: ","))]}") }
        func serve(_ document: String) { state.withLock { $0.document = document } }
        func delay(_ duration: Duration) { state.withLock { $0.delay = duration } }

        func keys() -> TokenKeys {
            TokenKeys(algorithms: Set(SignatureAlgorithm.allCases)) { [self] in
                let (document, delay) = state.withLock { state in
                    state.fetches += 1
                    return (state.document, state.delay)
                }
                try await Task.sleep(for: delay)
                guard !document.isEmpty else { throw Unreachable() }
                return Array(document.utf8)
            } onReload: { [self] event in
                state.withLock { state in
                    switch event {
                    case .loaded(let keys, _): state.events.append(keys.joined(separator: " "))
                    case .failed(let reason, let keepsKeys):
                        state.events.append("failed, \(keepsKeys ? "with" : "without") keys: \(reason)")
                    }
                }
            }
        }
    }

    @Test("A token with a new key causes one reload, and is verified")
    func rotation() async throws {
        let (first, second) = (try TokenMaker(.es256, id: "k1"), try TokenMaker(.es256, id: "k2"))
        let origin = Origin()
        origin.serve(first)
        let keys = origin.keys()
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: keys)
        // The first token loads the set.
        let token = try first.token()
        #expect(try await verifier.verify(token, now: now).subject == "ada")
        origin.serve(first, second)
        let later = now + TokenKeys.retryInterval
        #expect(try await verifier.verify(try second.token(), now: later).subject == "ada")
        #expect(origin.fetches == 2)
        // Tokens of the remaining key are still cached.
        #expect(verifier.cached(token, now: later) != nil)
        origin.serve(second)
        await keys.reload(now: later + 1)
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(try first.token(), now: later + 2) }
        #expect(origin.events == ["k1", "k1 k2", "k2"])
    }

    @Test("A cached token ends with its key, and remains if the key remains")
    func revocation() async throws {
        let (first, second) = (try TokenMaker(.edDSA, id: "k1"), try TokenMaker(.edDSA, id: "k2"))
        let origin = Origin()
        origin.serve(first, second)
        let keys = origin.keys()
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: keys)
        let tokens = [try first.token(), try second.token()]
        var senders: [VerifiedIdentity] = []
        for token in tokens { senders.append(try await verifier.verify(token, now: now)) }
        await keys.reload(now: now)
        #expect(senders.map(\.revocation.isEffective) == [false, false])
        for token in tokens { #expect(verifier.cached(token, now: now) != nil) }
        origin.serve(second)
        await keys.reload(now: now)
        #expect(verifier.cached(tokens[0], now: now) == nil)
        #expect(verifier.cached(tokens[1], now: now) != nil)
        // What a token opened ends with its key, too.
        #expect(senders.map(\.revocation.isEffective) == [true, false])
        // Another key with the same identifier does not verify the old token either.
        origin.serve(try TokenMaker(.edDSA, id: "k2"))
        await keys.reload(now: now)
        #expect(verifier.cached(tokens[1], now: now) == nil)
        await #expect(throws: TokenError.invalidSignature) { try await verifier.verify(tokens[1], now: now) }
    }

    @Test("The last good set remains while the origin fails", arguments: ["", "<html>", "{\"keys\":[{\"kty\":\"oct\"}]}"])
    func failure(_ document: String) async throws {
        let maker = try TokenMaker(.rs256, id: "k1")
        let origin = Origin()
        origin.serve(maker)
        let keys = origin.keys()
        await keys.reload(now: now)
        origin.serve(document)
        await keys.reload(now: now + 1)
        #expect(keys.current?.keys.map(\.id) == ["k1"])
        #expect(origin.events.last?.hasPrefix("failed, with keys: ") == true)
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: keys)
        #expect(try await verifier.verify(try maker.token(), now: now).subject == "ada")
    }

    @Test("A set without members revokes all keys and their cached tokens")
    func empty() async throws {
        let maker = try TokenMaker(.es256, id: "k1")
        let origin = Origin()
        origin.serve(maker)
        let keys = origin.keys()
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: keys)
        let token = try maker.token()
        _ = try await verifier.verify(token, now: now)
        origin.serve("{\"keys\":[]}")
        await keys.reload(now: now + 1)
        #expect(verifier.cached(token, now: now + 1) == nil)
        await #expect(throws: TokenError.unknownKey) { try await verifier.verify(token, now: now + 2) }
        #expect(origin.events == ["k1", ""])
    }

    @Test("Without a set tokens are neither valid nor invalid")
    func unavailable() async throws {
        let maker = try TokenMaker(.es256, id: "k1")
        let origin = Origin()
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: origin.keys())
        for _ in 0..<5 {
            await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(try maker.token(), now: now) }
        }
        #expect(origin.fetches == 1)
        origin.serve(maker)
        #expect(try await verifier.verify(try maker.token(), now: now + TokenKeys.retryInterval).subject == "ada")
        // A clock that was set back does not delay a reload.
        origin.serve(try TokenMaker(.es256, id: "k2"))
        _ = try? await verifier.verify(try TokenMaker(.es256, id: "k3").token(), now: 0)
        #expect(origin.fetches == 3)
    }

    @Test("Tokens with invented keys cause one fetch in ten seconds")
    func flood() async throws {
        let maker = try TokenMaker(.es256, id: "k1")
        let origin = Origin()
        origin.serve(maker)
        origin.delay(.milliseconds(100))
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: origin.keys())
        let rejections = await withTaskGroup(of: TokenError?.self) { group in
            for number in 0..<2_000 {
                group.addTask {
                    let token = HMACToken.token(secret: [1], header: "{\"alg\":\"ES256\",\"kid\":\"x\(number)\"}", payload: "{}")
                    do throws(TokenError) {
                        _ = try await verifier.verify(token, now: TokenMaker.now)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: [TokenError?: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(origin.fetches == 1)
        #expect(rejections[nil] == nil)
        #expect(rejections[.unknownKey, default: 0] + rejections[.keysUnavailable, default: 0] == 2_000)
        #expect(try await verifier.verify(try maker.token(), now: now).subject == "ada")
    }

    @Test("A secret in a published document is not used")
    func published() async throws {
        let maker = try TokenMaker(.hs256, id: "k1")
        let origin = Origin()
        origin.serve(maker)
        let keys = origin.keys()
        await keys.reload(now: now)
        #expect(keys.current == nil)
        #expect(origin.events == ["failed, without keys: has no usable keys: key 'k1' is a secret, and was published"])
    }

    @Test("A token without kid is verified with each key of its algorithm")
    func unnamed() async throws {
        let named = try TokenMaker(.es256, id: "k1")
        let origin = Origin()
        origin.serve(try TokenMaker(.es256, id: "k0"), try TokenMaker(.rs256, id: "k2"), named)
        let verifier = TokenVerifier(rules: TokenMaker.rules(), keys: origin.keys())
        #expect(try await verifier.verify(try named.token(header: #"{"alg":"ES256"}"#), now: now).subject == "ada")
    }

    @Test("The stop cancels the load that runs and each later one, and reports none", .timeLimit(.minutes(5)))
    func stop() async throws {
        let origin = Origin()
        origin.serve(try TokenMaker(.es256))
        let keys = origin.keys()
        await keys.reload(now: now)
        // Without a stop, the load ends after the delay, and succeeds.
        origin.delay(.seconds(20))
        let load = Task { await keys.reload(now: now) }
        while origin.fetches < 2 { await Task.yield() }
        keys.stop()
        for event in [await load.value, await keys.reload(now: now)] {
            guard case .failed(_, keepsKeys: true)? = event else { throw Unstopped() }
        }
        #expect(origin.events.count == 1 && keys.current?.keys.count == 1, "\(origin.events)")
    }

    private struct Unstopped: Error {}
}
