internal import IntertwineJSON
internal import IntertwinePrimitives

/// The words that imports accept besides the current ones: the member `klass` for `kind`, and the kind `advertisement` for `ad`.
///
/// The service never writes these words.
package enum ImportSynonyms {
    /// The members that contain the kind of an imported item. No field of a kind has one of these names.
    package static let members = [member, synonym]
    private static let member = "kind"
    private static let synonym = "klass"

    /// Returns the kind with a name or a synonym.
    package static func kind(_ name: String) -> String { name == "advertisement" ? Advertisement.kind : name }

    /// Returns the fields of an imported object, with `kind` in place of `klass`.
    ///
    /// - Throws: ``ItemError`` if the object has both members and their values differ.
    static func fields(of object: JSONObject) throws(ItemError) -> ItemFields {
        let fields = ItemFields(object)
        guard object.members.contains(where: { object.matches($0.name, synonym) }) else { return fields }
        let (value, other) = (try fields.token(member), try fields.token(synonym))
        if let value, let other, kind(object.text(of: value)) != kind(object.text(of: other)) {
            throw ItemError(field: synonym, reason: "differs from \(member)")
        }
        var bytes = [UInt8(ascii: "{")]
        bytes.reserveCapacity(object.range.count)
        if let value = value ?? other {
            bytes.append(jsonString: member.utf8)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: object.source(of: value))
        }
        for (name, value) in object.members where !members.contains(where: { object.matches(name, $0) }) {
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: object.source(of: name))
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: object.source(of: value))
        }
        bytes.append(UInt8(ascii: "}"))
        return try ItemFields(bytes)
    }
}

extension JSONObject {
    fileprivate func text(of token: JSONToken) -> String { String(decoding: characters(of: token), as: UTF8.self) }

    /// Returns the JSON of a value or of a name. The range of a string excludes its quotes.
    fileprivate func source(of token: JSONToken) -> ArraySlice<UInt8> {
        bytes[token.kind == .string ? token.range.lowerBound - 1..<token.range.upperBound + 1 : token.range]
    }
}
