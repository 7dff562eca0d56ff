internal import Foundation
internal import IntertwineFeed

/// Records the fields that the `init(from:)` of a type reads, and returns sample values for them.
/// The fields of a `Codable` type are those that its initializer reads, so an initializer must read the same fields for all values.
final class FieldRecorder: FieldSource {
    enum Optionals {
        case present, absent
    }

    private let optionals: Optionals
    private let variant: String?
    private(set) var fields: [FieldDeclaration] = []
    private(set) var variants: [String] = []
    private var optional: Set<String> = []

    init(_ optionals: Optionals = .present, variant: String? = nil) {
        (self.optionals, self.variant) = (optionals, variant)
    }

    func contains(_ field: String) -> Bool {
        // An initializer asks for the existence of optional values only.
        optional.insert(field)
        return optionals == .present
    }

    func text(_ field: String, _ type: FieldType) throws(ItemError) -> String {
        switch field {
        case "id":
            guard type == .text else { throw ItemError(field: field, reason: "is the id of the item, a String") }
            return "1"
        case "type": throw ItemError(field: field, reason: "is the variant of the item: an enum of texts that is CaseIterable")
        default: try record(FieldDeclaration(field, type, isRequired: !optional.contains(field)))
        }
        return switch type {
        case .text: "text"
        case .number: "1"
        case .date: "2026-01-01T00:00:00Z"
        case .url, .image: "https://example.com/"
        case .boolean: "true"
        case .tags: ""
        }
    }

    func wholeNumber(_ field: String) throws(ItemError) -> String {
        guard !["id", "type"].contains(field) else { return try text(field, .number) }
        try record(FieldDeclaration(field, .number, isRequired: !optional.contains(field), isWhole: true))
        return "1"
    }

    func value<Value: Decodable>(_ type: Value.Type, of field: String) throws -> Value {
        if let words = Self.words(of: type), let first = words.first {
            guard field != "type" else {
                if variants.isEmpty { variants = words.map(\.text) }
                guard let value = (words.first { $0.text == variant } ?? first).value as? Value else { throw Self.unknown(type, field) }
                return value
            }
            try record(FieldDeclaration(field, .text, isRequired: !optional.contains(field), choices: words.map(\.text)))
            guard let value = first.value as? Value else { throw Self.unknown(type, field) }
            return value
        }
        do {
            return try Value(from: ScalarDecoder(source: self, field: field))
        } catch let error as ItemError {
            throw error
        } catch {
            throw Self.unknown(type, field)
        }
    }

    private static func unknown(_ type: Any.Type, _ field: String) -> ItemError {
        ItemError(
            field: field,
            reason: "the type \(type) cannot be described: an enum is CaseIterable with raw values of the type String, and other types "
                + "decode any value")
    }

    private static func words(of type: Any.Type) -> [(text: String, value: Any)]? {
        func cases<Word: CaseIterable>(_ type: Word.Type) -> [(text: String, value: Any)]? {
            let words = type.allCases.compactMap { word in
                ((word as? any RawRepresentable)?.rawValue as? String).map { (text: $0, value: word as Any) }
            }
            return words.count == type.allCases.count ? words : nil
        }
        return (type as? any CaseIterable.Type).flatMap { cases($0) }
    }

    private func record(_ field: FieldDeclaration) throws(ItemError) {
        guard let known = fields.first(where: { $0.name == field.name }) else {
            fields.append(field)
            return
        }
        guard known.type == field.type else {
            throw ItemError(field: field.name, reason: "is read as a \(known.type.rawValue) and as a \(field.type.rawValue)")
        }
    }
}

extension [FieldDeclaration] {
    init(
        of type: (some Decodable).Type, replacedBy declared: [FieldDeclaration], recorder: FieldRecorder = FieldRecorder()
    ) throws(ItemError) {
        do { _ = try type.init(from: FieldDecoder(source: recorder)) } catch { throw ItemError(wrapping: error) }
        for field in declared where !recorder.fields.contains(where: { $0.name == field.name }) {
            let names = recorder.fields.map(\.name).joined(separator: ", ")
            throw ItemError(field: field.name, reason: "is declared, but \(type) has no such field; it has \(names)")
        }
        self = try recorder.fields.map { field throws(ItemError) in
            guard var own = declared.first(where: { $0.name == field.name }) else { return field }
            guard own.refines(field.type) else {
                throw ItemError(field: field.name, reason: "is declared as \(own.type.rawValue), but is read as \(field.type.rawValue)")
            }
            own.isRequired = field.isRequired
            own.isWhole = own.isWhole || field.isWhole
            if own.choices.isEmpty { own.choices = field.choices }
            return own
        }
    }
}

extension FieldDeclaration {
    fileprivate func refines(_ type: FieldType) -> Bool {
        switch type {
        case .text: ![.number, .boolean].contains(self.type)
        case .url, .image: [.url, .image].contains(self.type)
        case .number, .date, .boolean, .tags: self.type == type
        }
    }
}
