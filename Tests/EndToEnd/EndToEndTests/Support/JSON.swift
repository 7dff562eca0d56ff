import Foundation

/// Parsed JSON with access by key and index; nil if a value is absent.
struct JSON {
    let value: Any

    init(_ text: String) throws {
        value = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    }

    private init(_ value: Any) {
        self.value = value
    }

    subscript(key: String) -> JSON? { ((value as? [String: Any])?[key]).map { JSON($0) } }

    subscript(index: Int) -> JSON? {
        guard let list = value as? [Any], list.indices.contains(index) else { return nil }
        return JSON(list[index])
    }

    var text: String? { value as? String }
    var number: Int? { value as? Int }
    var list: [JSON] { (value as? [Any] ?? []).map { JSON($0) } }
    var keys: Set<String> { Set((value as? [String: Any] ?? [:]).keys) }
    var isNull: Bool { value is NSNull }
}
