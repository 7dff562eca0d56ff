internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives

extension ServiceConfiguration {
    func remoteSources(
        _ extensions: ServiceExtensions = ServiceExtensions(), environment: [String: String]? = nil
    ) throws(ConfigurationError) -> [RemoteSource] {
        guard !sources.file.isEmpty else { return [] }
        return try remoteSources(of: try itemKinds(extensions), environment: environment)
    }

    func remoteSources(
        of kinds: ItemKinds, broken: Set<String> = [], environment: [String: String]? = nil
    ) throws(ConfigurationError) -> [RemoteSource] {
        guard !sources.file.isEmpty else { return [] }
        let root = try YAMLFile.root(at: sources.file, of: "sources.file")
        let environment = environment ?? ProcessInfo.processInfo.environment
        return try ConfigurationError.wrap {
            try SourcesFile(root, kinds: kinds, broken: broken, settings: sources, environment: environment).sources
        }
    }

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
    var auditLog: String { store.path(of: "audit.log") }

    package func audited<Value>(
        _ command: String, _ subject: String, begins: InterruptibleBegin? = nil, _ body: (AuditContext) async throws -> Value
    ) async throws -> Value {
        store.makeDataFolder()
        let log = try AuditLog(path: auditLog)
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await log.record(
                    who: "command:\(NSUserName())", method: command, path: subject, now: WallClock.now, begins: begins, body))
        } catch {
            result = .failure(error)
        }
        await log.close()
        return try result.get()
    }
}
