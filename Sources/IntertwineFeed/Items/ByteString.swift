internal import Glibc

/// A text that equals another only where their bytes do: an item's or a cell's id, a viewer, a key of the ledger, a token.
///
/// Swift's own texts are equal where Unicode calls them canonically equivalent: `é` as one scalar and as two, the Kelvin sign and `K`.
/// Whoever gives out ids means bytes by them, and so do SQLite and signatures.
public struct ByteString: Sendable {
    public let text: String

    public init(_ text: String) {
        self.text = text
    }
}

extension ByteString: Hashable {
    public static func == (one: ByteString, other: ByteString) -> Bool {
        // Where they lie: the views of texts give one byte after the other, and this is on the way of every click.
        var (one, other) = (one.text, other.text)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
                    return one.isEmpty && other.isEmpty
                }
                return memcmp(first, second, one.count) == 0
            }
        }
    }

    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension ByteString: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        self.init(text)
    }
}
