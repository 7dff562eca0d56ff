internal import Foundation
internal import IntertwineFeed
internal import Logging
internal import ServiceLifecycle

/// Reloads the configuration on SIGHUP and after changes of its file, and applies the settings that can change at run time.
struct ConfigurationReloader: ServiceLifecycle.Service {
    /// The interval of checks of the file. Why: unlike file notifications, polling works for replaced, linked and mounted files.
    private static let interval = Duration.seconds(1)
    private static let retryInterval = Duration.seconds(2)
    private static let retry = "retry"

    let source: ConfigurationSource
    let hangUps: AsyncStream<Void>
    let live: ReloadableApplication
    let logger: Logger

    func run() async throws {
        let (requests, requestContinuation) = AsyncStream.makeStream(of: String.self)
        // A failed configuration may be tried again for days.
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in hangUps.cancelOnGracefulShutdown() { requestContinuation.yield("SIGHUP") }
                requestContinuation.finish()
            }
            group.addTask {
                await cancelWhenGracefulShutdown { await watch { requestContinuation.yield("file") } }
            }
            // Reloads are serial, because concurrent ones could end in the wrong order.
            var lastStamp = source.stamp
            // Why every failure is retried: a file that the configuration names may be written after it.
            var (failure, failedStamp, isRetryPending) = (String?.none, source.stamp, false)
            for await reason in requests {
                if reason == Self.retry { isRetryPending = false }
                guard failure != nil || reason != Self.retry else { continue }
                failure = await reload(because: reason, lastStamp: &lastStamp, failedStamp: &failedStamp, after: failure)
                guard failure != nil, !isRetryPending else { continue }
                isRetryPending = true
                group.addTask {
                    await cancelWhenGracefulShutdown { try? await Task.sleep(for: Self.retryInterval) }
                    requestContinuation.yield(Self.retry)
                }
            }
            group.cancelAll()
        }
    }

    private func watch(_ changed: () -> Void) async {
        guard let file = source.file else { return }
        var read = source.stamp
        var last = read
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.interval) } catch { return }
            // A missing or irregular file may reappear, and is read then.
            guard let now = FileStamp(path: file) else { continue }
            // A file that is being written is read after it has stopped changing.
            if now != read, now == last {
                changed()
                read = now
            }
            last = now
        }
    }

    /// Returns the error; nil after success. A retry with the error before it writes no line.
    private func reload(
        because reason: String, lastStamp: inout FileStamp?, failedStamp: inout FileStamp?, after failure: String?
    ) async -> String? {
        do {
            let found = source.file.flatMap(FileStamp.init)
            // A changed file may be in the middle of being written: `watch` waits for its end.
            if reason == Self.retry, let failure, found != failedStamp { return failure }
            failedStamp = found
            if let file = source.file {
                guard found != nil || lastStamp == nil && !FileManager.default.fileExists(atPath: file) else {
                    throw ConfigurationError("\(file): is not a regular file")
                }
                // Some programs truncate a file before they write it.
                guard found?.isBlank != true || lastStamp?.isBlank != false else {
                    throw ConfigurationError("\(file): is empty; if that is intended, add a comment")
                }
            }
            let updated = try await source.read()
            guard source.file.flatMap(FileStamp.init) == found else { throw ConfigurationError("\(source.file ?? ""): is being written") }
            lastStamp = found
            try await live.change(to: updated)
            return nil
        } catch {
            if reason != Self.retry || "\(error)" != failure {
                logger.error(
                    "configuration not applied; the previous one stays in effect", metadata: ["reason": "\(reason)", "error": "\(error)"])
            }
            return "\(error)"
        }
    }
}

/// The source of a running service's configuration.
///
/// ```swift
/// let source = ConfigurationSource(file: "feed.yaml") {
///     try ServiceConfiguration(try SettingSources(file: "feed.yaml"))
/// }
/// let configuration = try await source.read()
/// try await FeedService.serve(configuration: configuration, logger: logger, reloading: source)
/// ```
public struct ConfigurationSource: Sendable {
    /// The path of the watched file; nil for none.
    public var file: String?
    /// Reads flags, environment and file again.
    public var read: @Sendable () async throws -> ServiceConfiguration
    let stamp: FileStamp?

    /// Creates a source. Call it before the first read of the configuration, so that later changes of the file are noticed.
    public init(file: String?, read: @escaping @Sendable () async throws -> ServiceConfiguration) {
        self.file = file
        self.read = read
        stamp = file.flatMap(FileStamp.init)
    }
}

struct FileStamp: Equatable, Sendable {
    private let number: UInt64?
    private let size: UInt64?
    private let changed: Date?
    private static let byteOrderMarks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFE, 0xFF], [0xFF, 0xFE]]
    let isBlank: Bool

    init?(path: String) {
        // Links are followed, because mounted configurations often use them.
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: real),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        number = attributes[.systemFileNumber] as? UInt64
        size = attributes[.size] as? UInt64
        changed = attributes[.modificationDate] as? Date
        let content = size.map { $0 < 64 } == true ? FileManager.default.contents(atPath: real) : nil
        let text = content.map { content in content.dropFirst(Self.byteOrderMarks.first { content.starts(with: $0) }?.count ?? 0) }
        isBlank = text?.allSatisfy { [0x09, 0x0A, 0x0D, 0x20].contains($0) } ?? false
    }
}
