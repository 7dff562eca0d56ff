internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives

extension ServiceConfiguration {
    /// Returns the sources that the file `sources.file` declares; empty if the setting is empty.
    ///
    /// - Parameter environment: The source of secrets in headers; nil for the environment of the process.
    /// - Throws: `ConfigurationError` with file and line if the file is invalid.
    package func remoteSources(
        _ extensions: ServiceExtensions = ServiceExtensions(), environment: [String: String]? = nil
    ) throws(ConfigurationError) -> [RemoteSource] {
        guard !sources.file.isEmpty else { return [] }
        return try remoteSources(of: try itemKinds(extensions), environment: environment)
    }

    /// - Parameters:
    ///   - kinds: All existing kinds.
    ///   - broken: Declared kinds that are invalid.
    func remoteSources(
        of kinds: ItemKinds, broken: Set<String> = [], environment: [String: String]? = nil
    ) throws(ConfigurationError) -> [RemoteSource] {
        guard !sources.file.isEmpty else { return [] }
        return try SourcesFile(
            YAMLFile.root(at: sources.file, of: "sources.file"), kinds: kinds, broken: broken, settings: sources,
            environment: environment ?? ProcessInfo.processInfo.environment
        ).sources
    }

    /// Returns the sources as settings for display. The values of their headers are secrets.
    ///
    /// - Throws: The errors of ``remoteSources(_:environment:)``.
    package func sourceSettings() throws(ConfigurationError) -> [ListedSetting] {
        try remoteSources().flatMap { source in
            let values = [("url", source.shownURL), ("kind", source.kind.name), ("every", source.interval.setting)]
            let plain = values.map { (key: $0.0, value: $0.1, isSecret: false) }
            let secret = source.headers.map { (key: "headers.\($0.name.canonicalName)", value: $0.value, isSecret: true) }
            return (plain + secret).map { entry in
                ListedSetting(
                    key: "sources.\(source.name).\(entry.key)", elements: [entry.value], origin: .file(sources.file),
                    isSecret: entry.isSecret)
            }
        }
    }

    /// Synchronizes a source once, possibly while a service is running.
    ///
    /// - Parameters:
    ///   - report: Called on any thread for each item that is left out.
    ///   - onProgress: Called often on any thread with the progress.
    /// - Throws: `ConfigurationError` if the source does not exist, or `SourceError`.
    package func synchronise(
        _ name: String, report: @escaping @Sendable (BadSourceItem) -> Void, onProgress: @escaping @Sendable (SourceProgress) -> Void
    ) async throws -> SourceOutcome {
        let declared = try remoteSources()
        guard let source = declared.first(where: { $0.name == name }) else {
            let names = declared.map(\.name).sorted().joined(separator: ", ")
            throw ConfigurationError(
                sources.file.isEmpty
                    ? "\(name): no sources are declared; sources.file names the file that does"
                    : "\(name): no such source; \(sources.file) declares \(names.isEmpty ? "none" : names)")
        }
        let items = try store.items()
        let loop = try EventLoop(label: "sources")
        let transfers = CurlClient(on: loop, policy: sources.policy, userAgent: server.userAgent)
        let run = SyncJob(source, transfers: transfers, into: items, report: report, onProgress: onProgress)
        var memory = HTTPValidatorCache()
        let result: Result<SourceOutcome, any Error>
        do {
            result = .success(try await run.run(&memory))
        } catch {
            result = .failure(error)
        }
        await transfers.shutDown()
        loop.stop()
        return try result.get()
    }
}

extension ServiceConfiguration {
    /// The path of the audit log.
    var auditLog: String { store.path(of: "audit.log") }

    /// Performs a command of the command line, and records it in the audit log of a service that may be running.
    ///
    /// - Parameters:
    ///   - subject: The arguments of the command.
    ///   - body: Performs the command and records its changes.
    /// - Throws: `ConfigurationError` or `StoreError` if the command could not be recorded, in which case it did not run; the errors of `body`.
    package func audited<Value>(
        _ command: String, _ subject: String, _ body: (AuditContext) async throws -> Value
    ) async throws -> Value {
        if try store.sharedDatabase() != nil { store.makeDataFolder() }
        let log = try AuditLog(path: auditLog)
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await log.record(who: "command:\(NSUserName())", method: command, path: subject, now: WallClock.now, body))
        } catch {
            result = .failure(error)
        }
        await log.close()
        return try result.get()
    }
}
