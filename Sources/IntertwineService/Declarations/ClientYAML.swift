internal import Yams

/// A reader of YAML from clients of the service, with bounds for the work that a text causes.
/// Aliases are refused, because a short text with them has an exponential size.
enum ClientYAML {
    static let byteLimit = 16 << 10
    private static let bracketLimit = 400
    private static let indentationLimit = 80
    private static let tagLimit = 128
    private static let lineEnds: Set<Unicode.Scalar> = ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"]

    static func root(of text: String, from path: String) throws(ConfigurationError) -> YAMLNode {
        guard text.utf8.count <= byteLimit else {
            throw ConfigurationError("\(path):1: the text is longer than \(byteLimit) bytes")
        }
        var (line, indentation, brackets) = (1, 0, 0)
        var previous: Unicode.Scalar = "\n"
        var isIndentation = true
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if Self.lineEnds.contains(scalar) {
                if scalar != "\n" || previous != "\r" { line += 1 }
                (indentation, isIndentation) = (0, true)
            } else if isIndentation, " \t-?:".unicodeScalars.contains(scalar) {
                indentation += 1
                guard indentation <= indentationLimit else {
                    throw ConfigurationError("\(path):\(line): the indentation is deeper than \(indentationLimit) characters")
                }
            } else {
                isIndentation = false
            }
            if scalar == "[" || scalar == "{" {
                brackets += 1
                guard brackets <= bracketLimit else { throw ConfigurationError("\(path):\(line): more than \(bracketLimit) brackets") }
            }
            let next = index + 1 < scalars.count ? scalars[index + 1] : " "
            let isFirst = Self.lineEnds.contains(previous) || " \t[{,:?-\"'".unicodeScalars.contains(previous)
            if scalar == "*", isFirst, next > " " {
                throw ConfigurationError("\(path):\(line): aliases are not supported here; quote a text that begins with *")
            }
            previous = scalar
        }
        let root = try YAMLFile.root(of: text, from: path)
        guard hasPlainKeys(root.yaml) else { throw ConfigurationError("\(path):1: a key must be a text, not a list or a mapping") }
        guard tags(in: root.yaml) <= tagLimit else { throw ConfigurationError("\(path):1: more than \(tagLimit) template tags") }
        return root
    }

    private static func hasPlainKeys(_ node: Node) -> Bool {
        switch node {
        case .mapping(let mapping): mapping.allSatisfy { $0.key.scalar != nil && hasPlainKeys($0.value) }
        case .sequence(let sequence): sequence.allSatisfy(hasPlainKeys)
        default: true
        }
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
