import Foundation

/// A parser of server-sent events from received bytes.
struct EventStreamParser {
    struct Event: Equatable {
        var name = "message"
        var data: String
        var id = ""
    }

    /// The maximum number of bytes of one event.
    private static let maxEventBytes = 4 << 20
    private var line: [UInt8] = []
    private var name = ""
    private var data: [String] = []
    private var length = 0
    private var endedWithReturn = false
    private var isFirstLine = true
    /// The id of the last event.
    private(set) var lastID = ""
    /// The reconnection time in seconds, as requested by the server.
    private(set) var retry: Double?

    /// Returns the events that end within these bytes. Throws if an event exceeds the maximum length.
    mutating func receive(_ bytes: Data) throws -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            defer { endedWithReturn = byte == 13 }
            if byte == 10, endedWithReturn { continue }
            if byte == 10 || byte == 13 {
                if let event = endLine() { events.append(event) }
            } else {
                line.append(byte)
                guard line.count + length <= Self.maxEventBytes else { throw BodyTooLongError() }
            }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        var text = String(decoding: line, as: UTF8.self)
        if isFirstLine, text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        isFirstLine = false
        guard !text.isEmpty else { return endEvent() }
        guard !text.hasPrefix(":") else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var value = parts.count > 1 ? String(parts[1]) : ""
        if value.hasPrefix(" ") { value.removeFirst() }
        switch parts[0] {
        case "event": name = value
        case "data":
            data.append(value)
            length += line.count
        case "id" where !value.unicodeScalars.contains("\0"): lastID = value
        case "retry":
            if !value.isEmpty, value.allSatisfy(\.isASCII), let milliseconds = UInt32(value) { retry = Double(milliseconds) / 1000 }
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> Event? {
        defer { (name, data, length) = ("", [], 0) }
        guard !data.isEmpty else { return nil }
        return Event(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: lastID)
    }
}
