import Foundation

/// A bounded cache of responses with their entity tags, so that a repeated request is answered with 304 in a few bytes.
final class AnswerMemory: Sendable {
    struct Known: Sendable {
        let value: JSONValue
        let tag: String
        let language: String?
        let bytes: Int
        var used: Int
    }
    private struct Shelf {
        var answers: [String: Known] = [:]
        var bytes = 0
        var clock = 0
    }

    private static let mostAnswers = 64
    private static let mostBytes = 8 << 20
    private let shelf = Locked(Shelf())

    func answer(for key: String) -> Known? {
        shelf.withLock { shelf in
            shelf.clock += 1
            shelf.answers[key]?.used = shelf.clock
            return shelf.answers[key]
        }
    }

    func keep(_ value: JSONValue, tag: String, language: String?, bytes: Int, for key: String) {
        shelf.withLock { shelf in
            shelf.clock += 1
            if let old = shelf.answers.removeValue(forKey: key) { shelf.bytes -= old.bytes }
            guard bytes <= Self.mostBytes / 4 else { return }
            shelf.answers[key] = Known(value: value, tag: tag, language: language, bytes: bytes, used: shelf.clock)
            shelf.bytes += bytes
            while shelf.answers.count > Self.mostAnswers || shelf.bytes > Self.mostBytes {
                guard let oldest = shelf.answers.min(by: { $0.value.used < $1.value.used }) else { return }
                shelf.answers.removeValue(forKey: oldest.key)
                shelf.bytes -= oldest.value.bytes
            }
        }
    }
}
