internal import Yams

/// A reader of YAML from clients of the service, with bounds for the work that a text causes.
///
/// Aliases are refused, because a short text with them has an exponential size. The depth is bounded before the recursive parser begins.
/// The number of template tags bounds the compilation.
package enum ClientYAML {
    /// The maximum number of bytes.
    package static let byteLimit = 16 << 10
    private static let bracketLimit = 400
    private static let indentationLimit = 80
    private static let tagLimit = 128

    /// - Parameter path: A name of the text for messages.
    /// - Throws: ``ConfigurationError`` if the text exceeds a limit, is empty, or no YAML.
    package static func root(of text: String, from path: String) throws(ConfigurationError) -> YAMLNode {
        guard text.utf8.count <= byteLimit else {
            throw ConfigurationError("\(path):1: the text is longer than \(byteLimit) bytes")
        }
        var (line, indentation, brackets) = (1, 0, 0)
        var previous = UInt8(ascii: "\n")
        var isIndentation = true
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\n") {
                (line, indentation, isIndentation) = (line + 1, 0, true)
            } else if isIndentation, " \t-?:".utf8.contains(byte) {
                indentation += 1
                guard indentation <= indentationLimit else {
                    throw ConfigurationError("\(path):\(line): the indentation is deeper than \(indentationLimit) characters")
                }
            } else {
                isIndentation = false
            }
            if "[{".utf8.contains(byte) {
                brackets += 1
                guard brackets <= bracketLimit else { throw ConfigurationError("\(path):\(line): more than \(bracketLimit) brackets") }
            }
            let next = index + 1 < bytes.count ? bytes[index + 1] : UInt8(ascii: " ")
            if byte == UInt8(ascii: "*"), " \t\r\n[{,:?-\"'".utf8.contains(previous), next > UInt8(ascii: " ") {
                throw ConfigurationError("\(path):\(line): aliases are not supported here; quote a text that begins with *")
            }
            previous = byte
        }
        let root = try YAMLFile.root(of: text, from: path)
        guard tags(in: root.yaml) <= tagLimit else { throw ConfigurationError("\(path):1: more than \(tagLimit) template tags") }
        return root
    }

    private static func tags(in node: Node) -> Int {
        switch node {
        case .scalar(let scalar): scalar.string.ranges(of: "{{").count
        case .mapping(let mapping): mapping.reduce(0) { $0 + tags(in: $1.key) + tags(in: $1.value) }
        case .sequence(let sequence): sequence.reduce(0) { $0 + tags(in: $1) }
        default: 0
        }
    }
}
