internal import Foundation
internal import Yams

/// Reads a YAML file, which may be a pipe or a device, once; what is wrong with it is told with file and line.
enum YAMLFile {
    /// Bytes. No file that a person writes comes near it.
    static let limit = 1 << 20

    /// - Parameter key: of the setting that names the file, for messages.
    /// - Throws: ``ConfigurationError`` where the file cannot be read, is too large, empty, or no YAML.
    static func root(at path: String, of key: String? = nil) throws(ConfigurationError) -> YAMLPlace {
        try root(of: text(at: path, of: key), from: path)
    }

    /// - Parameter key: of the setting that names the file, for messages.
    /// - Throws: ``ConfigurationError`` where the file cannot be read, is too large, or not UTF-8.
    static func text(at path: String, of key: String? = nil) throws(ConfigurationError) -> String {
        let fault = { (reason: String) in ConfigurationError("\(key.map { "\($0): " } ?? "")\(path): the file \(reason)") }
        var bytes: [UInt8] = []
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            while bytes.count <= limit, let piece = try file.read(upToCount: limit + 1 - bytes.count), !piece.isEmpty { bytes += piece }
        } catch {
            throw fault("cannot be read")
        }
        guard bytes.count <= limit else { throw fault("is longer than \(limit) bytes") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault("is not UTF-8") }
        return text
    }

    /// - Parameter path: for messages.
    static func root(of text: String, from path: String) throws(ConfigurationError) -> YAMLPlace {
        guard let root = try node(of: text, from: path) else { throw ConfigurationError("\(path):1: the file is empty") }
        return YAMLPlace(file: path, node: root, line: root.mark?.line ?? 1)
    }

    /// Nil where nothing but comments stands there. What stands on a faulty line is not told: it may be a secret.
    ///
    /// - Parameter path: for messages.
    static func node(of text: String, from path: String) throws(ConfigurationError) -> Node? {
        do {
            return try Yams.Parser(yaml: withoutMark(text)).singleRoot()
        } catch {
            throw ConfigurationError("\(path):\(describe(error, in: text))".replacing("\n", with: " "))
        }
    }

    /// YAML 1.2 §5.2 lets a byte order mark begin a document; the parser does not.
    static func withoutMark(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    private static func describe(_ error: any Error, in text: String) -> String {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            "\(mark.line): \(problem)"
        case .reader(let problem, let offset, _, _):
            "\(text.prefix(offset ?? 0).count { $0.isNewline } + 1): \(problem)"
        case .duplicatedKeysInMapping(let duplicates, let context):
            "\(line(ofSecond: duplicates.first ?? "", after: context.mark, in: text)): '\(duplicates.first ?? "")' stands there twice"
        default: "1: \(error)"
        }
    }

    /// The parser tells where the first of two keys stands; it is the second that has to go.
    private static func line(ofSecond key: String, after first: Mark, in text: String) -> Int {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated().dropFirst(max(0, first.line)) {
            let indentation = line.prefix { $0 == " " }.count
            if indentation + 1 == first.column, line.dropFirst(indentation).hasPrefix(key + ":") { return index + 1 }
        }
        return first.line
    }
}
