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
    let live: ReloadableApplication
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
            var held = source.stamp
            for await reason in wishes { await reload(because: reason, held: &held) }
            group.cancelAll()
        }
    }

    private func watch(_ changed: () -> Void) async {
        guard let file = source.file else { return }
        var read = source.stamp
        var last = read
        while !Task.isCancelled {
            do { try await Task.sleep(for: Self.interval) } catch { return }
            // A file that is gone, or no regular one at the moment, may be on its way back: it is read when it is.
            guard let now = FileStamp(path: file) else { continue }
            // One that is still being written is read when it has stopped changing.
            if now != read, now == last {
                changed()
                read = now
            }
            last = now
        }
    }

    /// - Parameter held: the file that was last read; nil if there never was one. What else is read, such as campaigns, is then read again alone.
    private func reload(because reason: String, held: inout FileStamp?) async {
        do {
            let found = source.file.flatMap(FileStamp.init)
            if let file = source.file {
                guard found != nil || held == nil && !FileManager.default.fileExists(atPath: file) else {
                    throw ConfigurationError("\(file): there is no regular file to be read again")
                }
                // Programs that save a file empty it first.
                guard found?.isBlank != true || held?.isBlank != false else {
                    throw ConfigurationError("\(file): is empty; a comment in it says that no setting is meant")
                }
            }
            let wanted = try await source.read()
            guard source.file.flatMap(FileStamp.init) == found else { throw ConfigurationError("\(source.file ?? ""): is being written") }
            held = found
            try await live.change(to: wanted)
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
    /// Whether nothing stands in the file, not even a comment.
    let isBlank: Bool

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
        let content = size.map { $0 < 64 } == true ? FileManager.default.contents(atPath: real) : nil
        isBlank = content?.allSatisfy { [0x09, 0x0A, 0x0D, 0x20].contains($0) } ?? false
    }
}
