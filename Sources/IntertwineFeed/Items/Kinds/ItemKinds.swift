/// The kinds of item that a service knows, by `klass`.
public struct ItemKinds: Sendable {
    /// Users and advertisements.
    public static let standard = ItemKinds([UserKind(), AdvertisementKind()])

    private var kinds: [String: any ItemKind] = [:]
    /// What whoever misses a kind is told: where others are declared.
    public var note: String?

    /// Where two kinds have one name, the last holds.
    public init(_ kinds: [any ItemKind]) {
        for kind in kinds { self.kinds[kind.name] = kind }
    }

    /// These kinds and others. Where two have one name, the last holds.
    public func adding(_ kinds: [any ItemKind]) -> ItemKinds {
        var all = ItemKinds(Array(self.kinds.values) + kinds)
        all.note = note
        return all
    }

    public subscript(name: String) -> (any ItemKind)? { kinds[name] }

    public var names: [String] { kinds.keys.sorted() }

    /// Checks one object of the import format, whatever its kind.
    public func validate(_ fields: ItemFields) throws(ItemFault) -> ValidItem {
        let klass = try fields.text("klass", limit: 64)
        guard let kind = kinds[String(decoding: klass, as: UTF8.self)] else {
            throw ItemFault(
                field: "klass",
                reason: "must be one of \(names.joined(separator: ", ")), is \(ItemFault.quoted(klass))" + (note.map { "; \($0)" } ?? ""))
        }
        return try kind.validate(fields)
    }

    /// The same for the bytes of one JSON object.
    public func validate(_ bytes: [UInt8]) throws(ItemFault) -> ValidItem {
        try validate(ItemFields(bytes))
    }
}
