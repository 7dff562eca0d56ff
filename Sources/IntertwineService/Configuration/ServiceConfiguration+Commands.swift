internal import Foundation
public import IntertwineDeclarations
internal import IntertwineEventLoop
internal import IntertwineFeed
internal import IntertwineFetch
public import IntertwineOperators
internal import IntertwinePrimitives
public import IntertwineSync

extension ServiceConfiguration {
    /// The sources that the file under `sources.file` declares; none where no file is named.
    ///
    /// - Parameter environment: where secrets of headers come from; the process's own where nil.
    /// - Throws: `ConfigurationError` with file and line where that file is wrong.
    public func remoteSources(
        _ extensions: ServiceExtensions = ServiceExtensions(), environment: [String: String]? = nil
    ) throws(ConfigurationError) -> [RemoteSource] {
        guard !sources.file.isEmpty else { return [] }
        return try remoteSources(of: try itemKinds(extensions), environment: environment)
    }

    /// - Parameters:
    ///   - kinds: all there are.
    ///   - broken: kinds that are declared, and not rightly.
    func remoteSources(
        of kinds: ItemKinds, broken: Set<String> = [], environment: [String: String]? = nil
    ) throws(ConfigurationError) -> [RemoteSource] {
        guard !sources.file.isEmpty else { return [] }
        return try SourcesFile(
            YAMLFile.root(at: sources.file, of: "sources.file"), kinds: kinds, broken: broken, settings: sources,
            environment: environment ?? ProcessInfo.processInfo.environment
        ).sources
    }

    /// The sources as settings, for people: their headers' values are secrets.
    ///
    /// - Throws: as ``remoteSources(_:environment:)``.
    public func sourceSettings() throws(ConfigurationError) -> [Setting] {
        try remoteSources().flatMap { source in
            let values = [("url", source.shownURL), ("kind", source.kind.name), ("every", source.interval.setting)]
            let plain = values.map { (key: $0.0, value: $0.1, isSecret: false) }
            let secret = source.headers.fields.map { (key: "headers.\($0.name)", value: $0.value, isSecret: true) }
            return (plain + secret).map { entry in
                Setting(
                    key: "sources.\(source.name).\(entry.key)", value: entry.value, origin: .file(sources.file), isSecret: entry.isSecret)
            }
        }
    }

    /// Synchronises one source now, beside a service that may be running.
    ///
    /// - Parameters:
    ///   - report: told of each item that is left out. From any thread.
    ///   - told: told how far it is, often. From any thread.
    /// - Throws: `ConfigurationError` where there is no such source, or `SourceError`.
    public func synchronise(
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
        let transfers = CurlClient(on: loop, policy: sources.policy)
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
    /// Where operators' writes are recorded.
    var auditLog: String { store.path(of: "audit.log") }

    /// Does what a command of the command line was told to, with a line in the audit log of a service that may be running.
    ///
    /// - Parameters:
    ///   - subject: what it was told to do it with.
    ///   - body: says what it changed.
    /// - Throws: `ConfigurationError` or `StoreError` where it could not be recorded, and so was not done; what `body` throws.
    public func audited<Value>(
        _ command: String, _ subject: String, _ body: (AuditContext) async throws -> Value
    ) async throws -> Value {
        if try store.postgresAddress() != nil { store.makeDataFolder() }
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
