/// Looks for any of several words in a text, ASCII letters of either case being the same. One pass over the bytes, nothing allocated.
struct WordSearch: Sendable, Hashable {
    private let words: [[UInt8]]
    /// Whether a word begins with a byte.
    private let begins: [Bool]

    init(_ words: [String]) {
        self.words = words.map { $0.utf8.map(Self.folded) }.filter { !$0.isEmpty }
        var begins = [Bool](repeating: false, count: 256)
        for first in self.words.compactMap(\.first) { begins[Int(first)] = true }
        self.begins = begins
    }

    func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            text.indices.contains { start in
                begins[Int(Self.folded(text[start]))] && words.contains { Self.stands($0, in: text, at: start) }
            }
        }
    }

    private static func stands(_ word: [UInt8], in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        guard text.count - start >= word.count else { return false }
        return word.indices.allSatisfy { folded(text[start + $0]) == word[$0] }
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
