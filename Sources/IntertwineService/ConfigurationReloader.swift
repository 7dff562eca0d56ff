internal import Foundation
internal import Logging
internal import ServiceLifecycle

/// Reads the configuration again on SIGHUP and when its file has changed, and puts it in force as far as that is possible.
struct ConfigurationReloader: ServiceLifecycle.Service {
    /// How often the file is looked at. Looking beats being told: it works for files that are replaced, linked or mounted.
    private static let interval = Duration.seconds(1)

    let source: ConfigurationSource
    /// One for each SIGHUP.
    let hangUps: AsyncStream<Void>
    let live: LiveComposition
    let logger: Logger

    func run() async throws {
        let (wishes, wish) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(4))
        await withTaskGroup { group in
            group.addTask {
                for await _ in hangUps.cancelOnGracefulShutdown() { wish.yield("SIGHUP") }
                wish.finish()
            }
            group.addTask {
                await cancelWhenGracefulShutdown { await watch { wish.yield("file") } }
            }
            // One after the other: two readings at once could end in the wrong order.
            var hadFile = source.stamp != nil
            for await reason in wishes { await reload(because: reason, hadFile: &hadFile) }
            group.cancelAll()
        }
    }

    private func watch(_ changed: () -> Void) async {
        guard let file = source.file else { return }
        var last = source.stamp
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.interval) } catch { return }
            let now = FileStamp(path: file)
            // A file that is gone, or no regular one at the moment, may be on its way back: it is read when it is.
            if let now, now != last { changed() }
            last = now ?? last
        }
    }

    /// - Parameter hadFile: whether there has been a file. Where there never was one, what else is read, such as campaigns, is read again alone.
    private func reload(because reason: String, hadFile: inout Bool) async {
        do {
            if let file = source.file {
                if FileStamp(path: file) != nil {
                    hadFile = true
                } else if hadFile || FileManager.default.fileExists(atPath: file) {
                    throw ConfigurationError("\(file): there is no regular file to be read again")
                }
            }
            try await live.change(to: try await source.read())
        } catch {
            logger.error("configuration not taken; the old one stays in force", metadata: ["reason": "\(reason)", "error": "\(error)"])
        }
    }
}

/// Where a running service's configuration comes from.
public struct ConfigurationSource: Sendable {
    /// The file that is watched; nil for none.
    public var file: String?
    /// Reads everything again: flags, environment, file.
    public var read: @Sendable () async throws -> ServiceConfiguration
    /// Which file it was when this was made.
    let stamp: FileStamp?

    /// To be made before the configuration is read for the first time: what becomes of the file from then on is read again.
    public init(file: String?, read: @escaping @Sendable () async throws -> ServiceConfiguration) {
        self.file = file
        self.read = read
        stamp = file.flatMap(FileStamp.init)
    }
}

/// What tells that a file is another one than before.
struct FileStamp: Equatable, Sendable {
    private let number: UInt64?
    private let size: UInt64?
    private let changed: Date?

    /// Nil where there is no regular file: a pipe is read once, at the start.
    init?(path: String) {
        // Links are followed, as a mounted configuration is often one.
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: real),
            attributes[.type] as? FileAttributeType == .typeRegular
        else { return nil }
        number = attributes[.systemFileNumber] as? UInt64
        size = attributes[.size] as? UInt64
        changed = attributes[.modificationDate] as? Date
    }
}
