internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Yams

struct SourcesFile {
    private static let limit = 100

    let sources: [RemoteSource]

    init(
        _ root: YAMLNode, kinds: ItemKinds, broken: Set<String> = [], settings: SourceSettings, environment: [String: String]
    ) throws {
        let declarations = "each source's name with its declaration"
        let node = try root.members(of: "the file", among: ["sources"]).required("sources", declarations)
        let reader = SourceReader(kinds: kinds, policy: settings.policy, environment: environment)
        sources = try node.each(declarations) { name, node in
            if let kind = node.yaml["kind"]?.string, broken.contains(kind) { return nil }
            guard RemoteSource.isName(name) else {
                throw node.notAllowed(name, "1 to \(RemoteSource.nameLimit) lower-case letters, digits and hyphens, no hyphen first")
            }
            return try reader.source(name, at: node)
        }.compactMap { $0 }
        guard sources.count <= Self.limit else { throw node.error("there are more than \(Self.limit) sources") }
    }
}

private struct SourceReader {
    let kinds: ItemKinds
    let policy: AddressPolicy
    let environment: [String: String]

    private static let keys = [
        "url", "kind", "every", "items", "key", "next", "where", "fields", "headers", "on-error", "removable", "max-pages", "max-items",
        "max-bytes", "deadline",
    ]

    func source(_ name: String, at node: YAMLNode) throws -> RemoteSource {
        var faults = ErrorCollector()
        let members = try node.members(of: "source '\(name)'", among: Self.keys, errors: &faults)
        let names = kinds.names.joined(separator: ", ")
        let url = faults.collect { try self.url(members.required("url", "where the first page is")) }
        let kind = faults.collect { try members.required("kind", names).value(names) { kinds[$0] } }
        guard let url, let kind else { throw ConfigurationError(faults.reasons) ?? node.error("url and kind are missing") }
        var source = RemoteSource(name: name, url: url, kind: kind, items: .document)
        func read<Value>(_ key: String, _ property: WritableKeyPath<RemoteSource, Value>, _ value: (YAMLNode) throws -> Value) {
            if let value = faults.collect(members[key], value) { source[keyPath: property] = value }
        }
        read("items", \.items, pointer)
        read("key", \.key) { try $0.text("the member of an item that has its name in the list") }
        read("every", \.interval) { try $0.value(in: .seconds(1) ... .seconds(30 * 86_400)) }
        read("next", \.next, next)
        read("where", \.conditions, conditions)
        read("fields", \.fields) { try fields($0, of: kind) }
        read("headers", \.headers, headers)
        read("on-error", \.policy) { try $0.choice(BadItemPolicy.self) }
        read("removable", \.removable) { try $0.value("a share from 0 to 1") { Double($0).flatMap { (0...1).contains($0) ? $0 : nil } } }
        read("max-pages", \.pageLimit) { try $0.value(in: 1...100_000) }
        read("max-items", \.itemLimit) { try $0.value(in: 1...100_000_000) }
        read("max-bytes", \.byteLimit) { node in
            try node.value("\(ByteCount.allowed), at least 1") { ByteCount(setting: $0).flatMap { $0.bytes > 0 ? $0.bytes : nil } }
        }
        read("deadline", \.deadline) { try $0.value(in: .seconds(1) ... .seconds(86_400)) }
        try faults.finish()
        return source
    }

    private func url(_ node: YAMLNode) throws -> FetchURL {
        let url = try node.value("an absolute http or https URL, without a user") { try? FetchURL($0) }
        do {
            try policy.check(url)
        } catch {
            throw node.error(error.explained(by: FetchRejection(url: url, addresses: url.address.map { [$0] } ?? [])))
        }
        return url
    }

    private func pointer(_ node: YAMLNode) throws -> JSONPointer {
        let allowed = "a JSON Pointer such as /data/items, or nothing for the whole document"
        // An empty text is a pointer too, to the whole document.
        guard let text = node.yaml.scalar?.string, node.yaml.null == nil || text.isEmpty else {
            throw node.error("a single value is expected: \(allowed)")
        }
        guard let pointer = JSONPointer(text) else { throw node.notAllowed(text, allowed) }
        return pointer
    }

    private func conditions(_ node: YAMLNode) throws -> [SourceCondition] {
        try node.each("members or JSON Pointers, each with a value, a list of values, not, or present") { name, node in
            guard let pointer = JSONPointer(declared: name) else { throw node.notAllowed(name, "a member's name or a JSON Pointer") }
            let expected = "a value, or a list of values"
            guard node.isMapping else { return SourceCondition(pointer, .anyOf(try node.texts(expected))) }
            let members = try node.members(of: "a condition", among: ["not", "present"])
            switch (members["not"], members["present"]) {
            case (let not?, nil): return SourceCondition(pointer, .noneOf(try not.texts(expected)))
            case (nil, let present?): return SourceCondition(pointer, .present(try present.flag()))
            default: throw node.error("a condition is a value, a list of values, {not: value} or {present: true}")
            }
        }
    }

    private func next(_ node: YAMLNode) throws -> NextPage {
        let allowed =
            "link, {url: pointer}, {cursor: pointer, parameter: name}, {after: pointer, parameter: name}, "
            + "{page: parameter, first: 1, last or pages: pointer}, {offset: parameter, first: 0, total: pointer}"
        guard node.isMapping else { return try node.value(allowed) { $0 == "link" ? .link : nil } }
        let members = try node.members(
            of: "next", among: ["url", "cursor", "after", "parameter", "page", "offset", "first", "last", "pages", "total"])
        func name(_ key: String) throws -> String { try members.text(key, "a query parameter's name") }
        func first(_ usual: Int) throws -> Int { try members["first"]?.value(in: 0...1_000_000) ?? usual }
        func optionalPointer(_ key: String) throws -> JSONPointer? { try members[key].map(pointer) }
        let keys = members.keys
        if keys.contains("page"), keys.isSubset(of: ["page", "first", "last", "pages"]), !keys.isSuperset(of: ["last", "pages"]) {
            return .page(
                parameter: try name("page"), first: try first(1), last: try optionalPointer("last"), pages: try optionalPointer("pages"))
        }
        if keys.contains("offset"), keys.isSubset(of: ["offset", "first", "total"]) {
            return .offset(parameter: try name("offset"), first: try first(0), total: try optionalPointer("total"))
        }
        if keys == ["url"], let url = try optionalPointer("url") { return .url(url) }
        if keys == ["after", "parameter"], let after = try optionalPointer("after") {
            return .after(after, parameter: try name("parameter"))
        }
        guard keys == ["cursor", "parameter"], let cursor = try optionalPointer("cursor") else {
            throw node.error("next is one of \(allowed)")
        }
        return .cursor(cursor, parameter: try name("parameter"))
    }
}

extension JSONPointer {
    fileprivate static var document: JSONPointer { JSONPointer("") ?? JSONPointer(member: "") }

    /// The member of a name, or the place of a JSON Pointer.
    fileprivate init?(declared text: String) {
        guard let pointer = text.hasPrefix("/") ? JSONPointer(text) : JSONPointer(member: text) else { return nil }
        self = pointer
    }
}

extension SourceReader {
    private static let discriminator = "kind"

    private func fields(_ node: YAMLNode, of kind: any ItemKind) throws -> FieldMapping {
        let known = kind.fields.map { $0 + ItemSchedule.fields }
        let fields = try node.each("each field's name with where its value stands") { name, node in
            let field = known?.first { $0.name == name }
            if let known, field == nil, name != Self.discriminator {
                throw node.unknown("field", name, " of the kind \(kind.name)", among: [Self.discriminator] + known.map(\.name))
            }
            let origin = try self.origin(of: name, node)
            if case .constant(let text) = origin.place {
                do { try field?.validate(text) } catch { throw node.error("no item can have this value: \(error)") }
            }
            return (name: name, origin: origin)
        }
        guard !fields.isEmpty else { throw node.error("fields is empty; without it an item's fields are the members of the same names") }
        if let missing = known?.first(where: { known in known.isRequired && !fields.contains { $0.name == known.name } }) {
            throw node.error("field '\(missing.name)' is missing: every item of the kind \(kind.name) has one")
        }
        return FieldMapping(fields)
    }

    private func origin(of name: String, _ node: YAMLNode) throws -> FieldMapping.Origin {
        guard node.isMapping else { return FieldMapping.Origin(.first(try pointers(node))) }
        let keys = ["value", "template", "from", "as", "decimal", "zone", "join", "split", "each"]
        let members = try node.members(of: "field '\(ItemError.shown(name))'", among: keys)
        let places = members.keys.intersection(["value", "template", "from"])
        guard places.count == 1 else { throw node.error("a field has one of from, value and template") }
        guard let from = members["from"] else {
            guard members.keys.count == 1 else { throw node.error("as, decimal, zone, join, split and each belong to from") }
            if let value = members["value"] { return .constant(try value.text("a text")) }
            let allowed = "a text with {{member}} or {{/pointer}}; a URL has its host and a slash before the first of them"
            return FieldMapping.Origin(.template(try members.required("template", allowed).value(allowed) { SourceTemplate($0) }))
        }
        var origin = FieldMapping.Origin(.first(try pointers(from)))
        origin.form = try members["as"]?.value("text, number, date") { ["text": .text, "number": .number(), "date": .date(zone: nil)][$0] }
        if let decimal = members["decimal"] {
            guard origin.form == .number() else { throw decimal.error("decimal belongs to as: number") }
            let mark: Character = try decimal.value("a comma or a full stop") { [",", "."].contains($0) ? $0.first : nil }
            origin.form = .number(decimal: mark)
        }
        if let zone = members["zone"] {
            guard origin.form == .date(zone: nil) else { throw zone.error("zone belongs to as: date") }
            origin.form = .date(zone: try zone.value("a time zone such as Europe/Berlin or +02:00") { SourceForm.TimeZoneName($0) })
        }
        let each = try members["each"].map(pointers)?.first
        switch (members["join"], members["split"]) {
        case (let join?, nil): origin.parts = .joined(each: each, by: join.isEmptyText ? "" : try join.text("the text between elements"))
        case (nil, let split?):
            guard each == nil else { throw split.error("split is for a text, and each for a list") }
            origin.parts = .split(by: try split.text("the text between parts"))
        case (let join?, .some): throw join.error("join is for a list, and split for a text")
        case (nil, nil): origin.parts = each.map { .list(each: $0) }
        }
        return origin
    }

    private func pointers(_ node: YAMLNode) throws -> [JSONPointer] {
        let expected = "a member's name, a JSON Pointer, a list of them, or a mapping with from, value or template"
        return try node.elements.map { try $0.value(expected) { JSONPointer(declared: $0) } }
    }
}

extension SourceReader {
    private func headers(_ node: YAMLNode) throws -> HTTPFields {
        var headers = HTTPFields()
        for (name, node) in try node.members("each field's name with its value") {
            guard let fieldName = HTTPField.Name(name) else { throw node.notAllowed(name, "a header field's name") }
            guard !Self.reservedNames.contains(name.lowercased()) else { throw node.error("\(name) is set by the service itself") }
            let value = try headerValue(node)
            guard !value.isEmpty, value.utf8.count <= 8_192, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw node.error("the value of \(name) must be 1 to 8192 visible ASCII characters")
            }
            headers.append(HTTPField(name: fieldName, value: value))
        }
        return headers
    }

    private static let reservedNames: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "if-none-match", "if-modified-since", "range",
        "expect", "upgrade", "te", "trailer",
    ]

    private func headerValue(_ node: YAMLNode) throws -> String {
        guard node.isMapping else { return try node.text("the field's value") }
        let members = try node.members(of: "a field's value", among: ["env", "file"])
        switch (members["env"], members["file"]) {
        case (let name?, nil):
            let variable = try name.text("an environment variable's name")
            guard !variable.hasPrefix(SettingName.environmentPrefix) else {
                throw name.error("\(variable) would be read as a setting; the name must not begin with \(SettingName.environmentPrefix)")
            }
            guard let value = environment[variable], !value.isEmpty else {
                throw name.error("the environment variable \(variable) is not set")
            }
            return value
        case (nil, let file?):
            let path = try file.text("a file's path")
            do {
                return try TextFile.text(at: path).trimmingCharacters(in: .whitespacesAndNewlines)
            } catch {
                throw file.error("\(path) \(error.reason)")
            }
        default: throw node.error("a field's value is a text, {env: variable} or {file: path}")
        }
    }
}
