import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import IntertwineService

@Suite("Log lines")
struct LogTests {
    private static let nasty = "a\nb \"c\" = \\ \u{1} ü\r"

    /// The lines that a logger with these settings writes.
    private func written(_ flags: [String: String], _ body: (Logger, LogControl) -> Void) async throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).log").path
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer {
            close(descriptor)
            try? FileManager.default.removeItem(atPath: file)
        }
        let empty = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: empty, atomically: true, encoding: .utf8)
        let settings = try ServiceConfiguration(try SettingSources(flags: flags, environment: [:], file: empty)).log
        let telemetry = Telemetry(settings, sink: LogSink(descriptor: descriptor))
        body(telemetry.logger, telemetry.control)
        telemetry.sink.flush()
        return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test("A JSON line with special characters can be parsed again")
    func json() async throws {
        let lines = try await written(["log.format": "json"]) { logger, _ in
            logger.info("\(Self.nasty)", metadata: ["key": "\(Self.nasty)", "other": "1"])
        }
        #expect(lines.count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(lines.joined().utf8)) as? [String: String])
        #expect(object["message"] == Self.nasty)
        #expect(object["key"] == Self.nasty)
        #expect(object["level"] == "info")
        #expect(object["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
    }

    @Test("A text entry with line breaks stays on one line")
    func text() async throws {
        let lines = try await written([:]) { logger, _ in
            logger.warning("first\nsecond", metadata: ["key": "\(Self.nasty)", "plain": "word"])
        }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(" warning first second key=\"a\\nb ") == true)
        #expect(lines.first?.hasSuffix(" plain=word") == true)
    }

    @Test("Control characters are escaped in log lines", arguments: ["text", "json"])
    func controls(format: String) async throws {
        let nasty = "\u{9B}31m\u{7F}\u{202E}\u{2066}\u{2028}\u{FEFF}\u{E0001} ü 漢 👍"
        let lines = try await written(["log.format": format]) { logger, _ in
            logger.info("a \(nasty)", metadata: ["key": "\(nasty)"])
        }
        let line = try #require(lines.first)
        for scalar in nasty.unicodeScalars.prefix(9) where scalar.properties.generalCategory != .decimalNumber && scalar != "m" {
            #expect(!line.unicodeScalars.contains(scalar), "\(scalar.value)")
        }
        #expect(line.contains(#"\u009b31m\u007f\u202e\u2066\u2028\ufeff\udb40\udc01 ü 漢 👍""#))
        guard format == "json" else { return }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["key"] == nasty && object["message"] == "a \(nasty)")
    }

    @Test("A new log level applies to existing loggers")
    func level() async throws {
        let lines = try await written(["log.level": "warning"]) { logger, control in
            logger.info("one")
            logger.error("two")
            control.apply(LogSettings(level: .debug))
            logger.debug("three")
            control.apply(LogSettings(level: .critical))
            logger.error("four")
        }
        #expect(lines.map { $0.split(separator: " ").last } == ["two", "three"])
    }

    @Test("Each line has its own time, independent of the previous line")
    func times() {
        var lines = LogLineEncoder()
        for milliseconds: Int64 in [1_795_285_041_543, 1_795_285_041_999, 1_795_285_042_000, 1_795_285_041_007] {
            lines.begin(level: "info", message: "a", json: false, at: milliseconds)
            lines.end()
        }
        #expect(
            String(decoding: lines.bytes, as: UTF8.self).split(separator: "\n") == [
                "2026-11-21T18:17:21.543Z info a", "2026-11-21T18:17:21.999Z info a", "2026-11-21T18:17:22.000Z info a",
                "2026-11-21T18:17:21.007Z info a",
            ])
    }

    @Test("A blocked log reader causes dropped lines without delay or unbounded memory")
    func stuck() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let sink = LogSink(descriptor: ends[1])
        let message = String(repeating: "A", count: 1_000)
        let lost = try await offPool {
            for _ in 0..<10_000 {
                sink.append { stripe in
                    stripe.lines.begin(level: "info", message: message, json: false)
                    stripe.lines.end()
                }
            }
            return sink.droppedLines
        }
        #expect(lost > 5_000)
        // The closed pipe ends the writer thread's blocked write.
        signal(SIGPIPE, SIG_IGN)
        close(ends[0])
        sink.flush()
    }
}

extension LogSettings {
    fileprivate init(level: Level) {
        self.init(format: .text, level: level, requests: true)
    }
}
