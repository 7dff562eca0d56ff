import TestSupport

/// Damages a signed text by random changes of bits, bytes and length.
enum Mutation {
    static func of(_ text: String, using random: inout SeededRandom) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0..<max(1, bytes.count), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where !bytes.isEmpty: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.insert(.random(in: 0...255, using: &random), at: min(index, bytes.count))
            case 2 where !bytes.isEmpty: bytes.remove(at: index)
            case 3: bytes = Array(bytes.prefix(index))
            default: bytes += bytes.suffix(index)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
