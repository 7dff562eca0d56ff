import Foundation

/// A bounded cache of responses with their entity tags, so that a repeated request is answered with 304 in a few bytes.
final class ResponseCache: Sendable {
    struct Entry: Sendable {
        let value: JSONValue
        let tag: String
        let language: String?
        let bytes: Int
        var lastUse: Int
    }
    private struct State {
        var entries: [String: Entry] = [:]
        var bytes = 0
        var clock = 0
    }

    private static let maxResponses = 64
    private static let maxBytes = 8 << 20
    private let state = LockedBox(State())

    func response(for key: String) -> Entry? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.lastUse = state.clock
            return state.entries[key]
        }
    }

    func store(_ value: JSONValue, tag: String, language: String?, bytes: Int, for key: String) {
        state.withLock { state in
            state.clock += 1
            if let old = state.entries.removeValue(forKey: key) { state.bytes -= old.bytes }
            guard bytes <= Self.maxBytes / 4 else { return }
            state.entries[key] = Entry(value: value, tag: tag, language: language, bytes: bytes, lastUse: state.clock)
            state.bytes += bytes
            while state.entries.count > Self.maxResponses || state.bytes > Self.maxBytes {
                guard let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
                state.entries.removeValue(forKey: oldest.key)
                state.bytes -= oldest.value.bytes
            }
        }
    }
}
