internal import Dispatch
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import Logging
internal import ServiceLifecycle

final class TokenService: ServiceLifecycle.Service, Sendable {
    /// It has a few keys, and a redirect is refused because it could lead to another party.
    private static let limits: FetchLimits = {
        var limits = FetchLimits()
        limits.bodyBytes = 1 << 20
        limits.redirects = 0
        return limits
    }()

    let listener: String
    let verifier: TokenVerifier
    let keys: TokenKeys
    private let fileSetting: String?
    private let interval: Duration
    private let client: CurlClient?
    private let clock: @Sendable () -> Int64

    init?(
        _ settings: TokenSettings, _ section: String, rules: TokenRules?, listener: String, userAgent: String,
        clock: @escaping @Sendable () -> Int64, logger: Logger
    ) throws {
        guard settings.isEnabled, let rules else { return nil }
        let onReload: @Sendable (TokenKeys.Event) -> Void = { Self.log($0, section, logger) }
        if settings.keysFile.isEmpty {
            let client = try Self.client(settings, userAgent)
            self.client = client
            fileSetting = nil
            keys = TokenKeys(
                algorithms: rules.algorithms, fetch: { try await Self.document(at: settings.jwksURL, by: client, section) },
                onReload: onReload)
        } else {
            client = nil
            fileSetting = "\(section).keys-file: \(settings.keysFile)"
            keys = TokenKeys(
                origin: .file, algorithms: rules.algorithms, fetch: { try await Self.document(inFile: settings.keysFile) },
                onReload: onReload)
        }
        (self.listener, self.clock, interval) = (listener, clock, settings.refreshInterval)
        verifier = TokenVerifier(rules: rules, keys: keys)
    }

    /// Keys of a URL are read by ``run()``, so a start does not depend on another service.
    func load() async throws(ConfigurationError) {
        guard let fileSetting else { return }
        switch await keys.reload(now: clock()) {
        case .failed(let reason, _): throw ConfigurationError("\(fileSetting): \(reason)")
        case .loaded([], _): throw ConfigurationError("\(fileSetting): has no keys")
        case .loaded, nil: break
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withTaskCancellationHandler {
                if client != nil { await keys.reload(now: clock()) }
                while !Task.isCancelled {
                    do { try await Task.sleep(for: interval) } catch { return }
                    await keys.reload(now: clock())
                    verifier.removeInvalid(now: clock())
                }
            } onCancel: {
                keys.stop()
            }
        }
    }

    func close() async {
        await client?.shutDown()
        client?.loop.stop()
    }

    // MARK: Documents

    /// An http URL is fetched from the allowed networks only, so that a resolver cannot lead to a server beyond them.
    private static func client(_ settings: TokenSettings, _ userAgent: String) throws -> CurlClient {
        let url = try FetchURL(settings.jwksURL)
        let policy = AddressPolicy(
            allowedNetworks: settings.allowedNetworks.compactMap(Network.init), allowedPorts: [url.port],
            allowedHosts: HostPattern(url.host).map { [$0] } ?? [], deniesPublicAddresses: !url.isSecure)
        return CurlClient(on: try EventLoop(label: "keys"), policy: policy, userAgent: userAgent)
    }

    private static func document(at url: String, by client: CurlClient, _ section: String) async throws -> [UInt8] {
        var request = FetchRequest(try FetchURL(url), headers: [.accept: "application/json"], limits: limits)
        request.acceptsCompression = true
        let stream = client.open(request) { $0.status == 200 }
        defer { stream.cancel() }
        let head: FetchHead
        var body: [UInt8] = []
        do throws(FetchError) {
            head = try await stream.head()
            if head.status == 200 { while let bytes = try await stream.next() { body += bytes } }
        } catch .tooManyRedirects {
            throw KeyReadError(description: "the URL redirects to another one, and redirects are not followed")
        } catch {
            throw KeyReadError(description: error.explained(by: stream.refusal).replacing("sources.", with: "\(section)."))
        }
        guard head.status == 200 else { throw KeyReadError(description: "the response has the status \(head.status)") }
        return body
    }

    private static func document(inFile path: String) async throws -> [UInt8] {
        try await DispatchQueue.global().perform {
            do throws(TextFile.ReadError) {
                return Array(try TextFile.text(at: path).utf8)
            } catch {
                throw KeyReadError(description: error.reason)
            }
        }
    }

    private struct KeyReadError: Error, CustomStringConvertible {
        let description: String
    }

    private static func log(_ event: TokenKeys.Event, _ section: String, _ logger: Logger) {
        switch event {
        case .loaded([], _):
            logger.warning("the set of keys is empty; all tokens are rejected", metadata: ["section": "\(section)"])
        case .loaded(let keys, let ignored):
            logger.debug(
                "keys of tokens loaded",
                metadata: [
                    "section": "\(section)", "kid": "\(keys.joined(separator: " "))", "ignored": "\(ignored.joined(separator: "; "))",
                ])
        case .failed(let reason, let keepsKeys):
            logger.warning(
                "keys of tokens not loaded; \(keepsKeys ? "the last ones stay valid" : "there are none, so no token is accepted")",
                metadata: ["section": "\(section)", "error": "\(reason)"])
        }
    }
}

extension ServiceConfiguration {
    func tokenServices(
        clock: @escaping @Sendable () -> Int64, logger: Logger
    ) throws -> (viewers: TokenService?, operators: TokenService?) {
        let viewers = try TokenService(
            viewers.jwt, "viewers.jwt", rules: viewers.tokenRules, listener: "service", userAgent: server.userAgent, clock: clock,
            logger: logger)
        let operators = try TokenService(
            admin.jwt, "admin.jwt", rules: admin.tokenRules, listener: "admin", userAgent: server.userAgent, clock: clock, logger: logger)
        return (viewers, operators)
    }

    /// Checks the files with the keys of tokens.
    ///
    /// - Throws: `ConfigurationError` with one line for each file without usable keys.
    public func checkTokenKeys() async throws {
        let services = try tokenServices(clock: WallClock.now, logger: Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
        var reasons: [String] = []
        for service in [services.viewers, services.operators].compactMap({ $0 }) {
            do throws(ConfigurationError) { try await service.load() } catch { reasons += error.reasons }
            await service.close()
        }
        if let error = ConfigurationError(reasons) { throw error }
    }
}
