import Logging
import Synchronization

/// A logger whose lines the test reads.
final class LogCapture: Sendable {
    private struct Handler: LogHandler {
        let capture: LogCapture
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            capture.all.withLock { $0.append("\(event.level): \(event.message) \(event.metadata ?? [:])") }
        }
    }

    private let all = Mutex<[String]>([])

    var lines: [String] { all.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(capture: self) } }
}
