internal import Foundation
public import Logging
internal import Synchronization

/// The lines that a ``TestService`` logs, such as the items that a factory could not show.
///
/// ```swift
/// #expect(service.log.lines.contains { $0.level == .warning && $0.text.contains("recipe") })
/// ```
///
/// Lines of the level warning and above are also written to standard error, so that a failed test shows them.
public final class TestLog: Sendable {
    /// A line of the log.
    public struct Line: Sendable, Hashable {
        /// The level of the line.
        public let level: Logger.Level
        /// The message, followed by its metadata as `key=value`, ordered by key.
        public let text: String
    }

    private struct Handler: LogHandler {
        let log: TestLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            log.append(Line(level: event.level, text: "\(event.message)" + fields.joined()))
        }
    }

    private let recorded = Mutex<[Line]>([])

    /// The lines so far, of the level info and above.
    public var lines: [Line] { recorded.withLock { $0 } }

    var logger: Logger { Logger(label: "tests") { _ in Handler(log: self) } }

    private func append(_ line: Line) {
        recorded.withLock { $0.append(line) }
        if line.level >= .warning { FileHandle.standardError.write(Data("\(line.level): \(line.text)\n".utf8)) }
    }
}
