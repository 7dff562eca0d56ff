internal import IntertwinePrimitives

package struct ItemFilter: Sendable, Hashable {
    package enum Form: String, Sendable, Hashable, CaseIterable {
        case choice, flag, number, text
        /// A list, of which an item needs one of the values.
        case tags
    }

    /// The characters of a text that are compared, and the values of a field in one request.
    package static let (textLimit, valueLimit) = (SortField.textLimit, 16)

    package static let listLimit = 100
    package static let countLimit = 8

    package let name: String
    package let form: Form
    package let choices: [String]
    private let field: FieldDeclaration

    package var label: LocalizedText? { field.label }
    package var choiceLabels: [String: LocalizedText] { field.choiceLabels }

    /// nil if the values of the field are neither a choice, a flag, a number, a short text nor tags.
    package init?(_ field: FieldDeclaration) {
        switch field.type {
        case .boolean: (form, choices) = (.flag, ["true", "false"])
        case .number: (form, choices) = (.number, [])
        case .text where !field.choices.isEmpty: (form, choices) = (.choice, field.choices)
        case .text where field.languages.isEmpty && field.maximum ?? .infinity <= Double(Self.textLimit): (form, choices) = (.text, [])
        case .tags: (form, choices) = (.tags, [])
        case .text, .date, .url, .image: return nil
        }
        (name, self.field) = (field.name, field)
    }

    /// Returns the value as items have it.
    package func value(_ text: String) throws(ItemError) -> String {
        guard choices.isEmpty || choices.contains(where: { ByteString($0) == ByteString(text) }) else {
            throw ItemError(field: name, reason: "must be one of \(choices.joined(separator: ", "))", code: .unknown)
        }
        guard form == .number else {
            guard text.unicodeScalars.count <= Self.textLimit, !text.isEmpty else {
                throw ItemError(field: name, reason: "must have 1 to \(Self.textLimit) characters", code: .outOfRange)
            }
            return text
        }
        guard text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 || "+-.eE".utf8.contains($0) }),
            let fields = try? ItemFields(Array(#"{"\#(name)":\#(text)}"#.utf8)), let number = try? field.value(in: fields)
        else {
            throw ItemError(field: name, reason: "must be a number that the field can have")
        }
        return String(decoding: number, as: UTF8.self)
    }

    func matches(_ fields: ItemFields, _ values: [String]) -> Bool {
        let found: [String]
        if form == .tags {
            found = (try? field.tags(in: fields)) ?? []
        } else {
            found = (try? field.value(in: fields)).map { [String(decoding: $0, as: UTF8.self)] } ?? []
        }
        return found.contains { one in values.contains { ByteString($0) == ByteString(one) } }
    }

    /// The index of the most selective condition is read. Why: it has the values of the other fields, so that no other rows are.
    /// Only a table of tags has tags.
    func rank(of values: Int) -> Int { form == .tags ? .max : (choices.isEmpty ? .max : choices.count) / (values + 1) }
}

package struct FilterValue: Sendable, Hashable, Encodable {
    package let value: String
    package let count: Int

    package init(value: String, count: Int) { (self.value, self.count) = (value, count) }
}

/// The conditions of a filtered page: the values of one field are alternatives, and all fields must match.
package struct RowFilter: Sendable, Hashable {
    package let filters: [ItemFilter]
    /// The conditions, the most selective first.
    package let conditions: [(filter: ItemFilter, values: [String])]

    init?(_ values: [String: [String]], among filters: [ItemFilter]) {
        guard !values.isEmpty else { return nil }
        self.filters = filters
        conditions = filters.compactMap { filter in values[filter.name].map { (filter: filter, values: $0) } }
            .sorted { $0.filter.rank(of: $0.values.count) > $1.filter.rank(of: $1.values.count) }
    }

    /// Stores select rows by indices. This is for items that another program chose, such as a ranker.
    func matches(_ item: FeedItem) -> Bool {
        guard let fields = try? ItemFields(item.body) else { return false }
        return conditions.allSatisfy { $0.filter.matches(fields, $0.values) }
    }

    package static func == (one: RowFilter, other: RowFilter) -> Bool {
        one.filters == other.filters && one.conditions.elementsEqual(other.conditions) { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) {
        for condition in conditions { hasher.combine(condition.values) }
    }

    /// Returns the values as a query, in one spelling for equal filters.
    package static func text(_ values: [String: [String]]) -> String {
        values.sorted { $0.key < $1.key }.flatMap { name, values in
            values.map { "\(name)=\(PercentCoding.encode($0, keeping: .unreserved))" }
        }.joined(separator: "&")
    }
}

final class FilteredSnapshot: StoreSnapshot {
    private let snapshot: any StoreSnapshot
    private let filter: RowFilter

    init(_ snapshot: any StoreSnapshot, by filter: RowFilter) {
        (self.snapshot, self.filter) = (snapshot, filter)
    }

    func visit(_ query: RowQuery, _ body: (ItemRow) throws -> Void) throws {
        var query = query
        query.filter = filter
        try snapshot.visit(query, body)
    }

    func visit(_ query: RowQuery, of authors: AuthorSet, _ body: (ItemRow) throws -> Void) throws {
        var query = query
        query.filter = filter
        try snapshot.visit(query, of: authors, body)
    }

    func item(kind: String, id: String) throws -> FeedItem? { try snapshot.item(kind: kind, id: id) }
}
