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
    ) throws(ConfigurationError) {
        guard let nodes = try root.members(of: "the file", among: ["sources"])["sources"] else { throw root.error("sources is missing") }
        let reader = SourceReader(kinds: kinds, policy: settings.policy, environment: environment)
        var sources: [RemoteSource] = []
        var faults = ErrorCollector()
        for (name, node) in try nodes.members("each source's name with its declaration") {
            if let kind = node.yaml["kind"]?.string, broken.contains(kind) { continue }
            let source = faults.collect { () throws(ConfigurationError) in
                guard RemoteSource.isName(name) else {
                    throw node.notAllowed(name, "1 to \(RemoteSource.nameLimit) lower-case letters, digits and hyphens, no hyphen first")
                }
                guard sources.count < Self.limit else { throw node.error("there are more than \(Self.limit) sources") }
                return try reader.source(name, at: node)
            }
            if let source { sources.append(source) }
        }
        try faults.finish()
        self.sources = sources
    }
}

private struct SourceReader {
    let kinds: ItemKinds
    let policy: AddressPolicy
    let environment: [String: String]

    private static let keys = [
        "url", "kind", "every", "items", "next", "where", "fields", "headers", "on-error", "removable", "max-pages", "max-items",
        "max-bytes", "deadline",
    ]

    func source(_ name: String, at node: YAMLNode) throws(ConfigurationError) -> RemoteSource {
        let members = try node.members(of: "source '\(name)'", among: Self.keys)
        guard let url = members["url"] else { throw node.error("url is missing: where the first page is") }
        guard let kind = members["kind"] else { throw node.error("kind is missing; allowed: \(kinds.names.joined(separator: ", "))") }
        var faults = ErrorCollector()
        let found = faults.collect { () throws(ConfigurationError) in try self.url(url) }
        let declared = faults.collect { () throws(ConfigurationError) in try self.kind(kind) }
        guard let found, let declared else { throw ConfigurationError(faults.reasons) ?? node.error("url and kind are missing") }
        var source = RemoteSource(name: name, url: found, kind: declared, items: .document)
        func read(_ name: String, _ body: (YAMLNode) throws(ConfigurationError) -> Void) {
            guard let node = members[name] else { return }
            faults.collect { () throws(ConfigurationError) in try body(node) }
        }
        read("items") { node throws(ConfigurationError) in source.items = try pointer(node) }
        read("every") { node throws(ConfigurationError) in
            source.interval = try duration(node, from: .seconds(1), to: .seconds(30 * 86_400))
        }
        read("next") { node throws(ConfigurationError) in source.next = try next(node) }
        read("where") { node throws(ConfigurationError) in source.conditions = try conditions(node) }
        read("fields") { node throws(ConfigurationError) in source.fields = try fields(node, of: source.kind) }
        read("headers") { node throws(ConfigurationError) in source.headers = try headers(node) }
        read("on-error") { node throws(ConfigurationError) in source.policy = try node.choice(BadItemPolicy.self) }
        read("removable") { node throws(ConfigurationError) in source.removable = try share(node) }
        read("max-pages") { node throws(ConfigurationError) in source.pageLimit = try count(node, upTo: 100_000) }
        read("max-items") { node throws(ConfigurationError) in source.itemLimit = try count(node, upTo: 100_000_000) }
        read("max-bytes") { node throws(ConfigurationError) in source.byteLimit = try bytes(node) }
        read("deadline") { node throws(ConfigurationError) in
            source.deadline = try duration(node, from: .seconds(1), to: .seconds(86_400))
        }
        try faults.finish()
        return source
    }

    private func url(_ node: YAMLNode) throws(ConfigurationError) -> FetchURL {
        let text = try node.text("an absolute http or https URL")
        guard let url = try? FetchURL(text) else { throw node.notAllowed(text, "an absolute http or https URL, without a user") }
        do {
            try policy.check(url)
        } catch {
            let refusal = FetchRejection(url: url, addresses: url.address.map { [$0] } ?? [])
            throw node.error(error.explained(by: refusal))
        }
        return url
    }

    private func kind(_ node: YAMLNode) throws(ConfigurationError) -> any ItemKind {
        let name = try node.text(kinds.names.joined(separator: ", "))
        guard let kind = kinds[name] else { throw node.notAllowed(name, kinds.names.joined(separator: ", ")) }
        return kind
    }

    func pointer(_ node: YAMLNode) throws(ConfigurationError) -> JSONPointer {
        // An empty text is a pointer too, to the whole document.
        guard let text = node.yaml.scalar?.string, node.yaml.null == nil || text.isEmpty else {
            throw node.error("a single value is expected: \(Self.pointers)")
        }
        guard let pointer = JSONPointer(text) else { throw node.notAllowed(text, Self.pointers) }
        return pointer
    }

    private static let pointers = "a JSON Pointer such as /data/items, or nothing for the whole document"

    private func conditions(_ node: YAMLNode) throws(ConfigurationError) -> [SourceCondition] {
        try node.members("members or JSON Pointers, each with a value, a list of values, not, or present").map {
            (name, node) throws(ConfigurationError) in
            guard let pointer = name.hasPrefix("/") ? JSONPointer(name) : JSONPointer(member: name) else {
                throw node.notAllowed(name, "a member's name or a JSON Pointer")
            }
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

    private func next(_ node: YAMLNode) throws(ConfigurationError) -> NextPage {
        let allowed =
            "link, {url: pointer}, {cursor: pointer, parameter: name}, {page: parameter, first: 1, last or pages: pointer}, "
            + "{offset: parameter, first: 0, total: pointer}"
        guard node.isMapping else {
            let text = try node.text(allowed)
            guard text == "link" else { throw node.notAllowed(text, allowed) }
            return .link
        }
        let members = try node.members(
            of: "next", among: ["url", "cursor", "parameter", "page", "offset", "first", "last", "pages", "total"])
        let name = "a query parameter's name"
        func number(_ usual: Int) throws(ConfigurationError) -> Int {
            guard let first = members["first"] else { return usual }
            let text = try first.text("a whole number")
            guard let number = Int(text), (0...1_000_000).contains(number) else { throw first.notAllowed(text, "a whole number") }
            return number
        }
        func optionalPointer(_ name: String) throws(ConfigurationError) -> JSONPointer? {
            try members[name].map { (node) throws(ConfigurationError) in try pointer(node) }
        }
        if let page = members["page"], Set(members.keys).isSubset(of: ["page", "first", "last", "pages"]),
            members["last"] == nil || members["pages"] == nil
        {
            return .page(
                parameter: try page.text(name), first: try number(1), last: try optionalPointer("last"), pages: try optionalPointer("pages")
            )
        }
        if let offset = members["offset"], Set(members.keys).isSubset(of: ["offset", "first", "total"]) {
            return .offset(parameter: try offset.text(name), first: try number(0), total: try optionalPointer("total"))
        }
        guard Set(members.keys).isSubset(of: ["url", "cursor", "parameter"]) else { throw node.error("next is one of \(allowed)") }
        switch (members["url"], members["cursor"], members["parameter"]) {
        case (let url?, nil, nil): return .url(try pointer(url))
        case (nil, let cursor?, let parameter?):
            return .cursor(try pointer(cursor), parameter: try parameter.text("a query parameter's name"))
        default: throw node.error("next is one of \(allowed)")
        }
    }
}

extension JSONPointer {
    fileprivate static var document: JSONPointer { JSONPointer("") ?? JSONPointer(member: "") }
}

extension SourceReader {
    func fields(_ node: YAMLNode, of kind: any ItemKind) throws(ConfigurationError) -> FieldMapping {
        var fields: [(name: String, origin: FieldMapping.Origin)] = []
        let known = kind.fields.map { $0 + ItemSchedule.fields }
        var faults = ErrorCollector()
        for (name, node) in try node.members("each field's name with where its value stands") {
            let origin = faults.collect { () throws(ConfigurationError) in
                let field = known?.first { $0.name == name }
                if let known, field == nil, name != Self.discriminator {
                    throw node.unknown("field", name, " of the kind \(kind.name)", among: [Self.discriminator] + known.map(\.name))
                }
                let origin = try self.origin(of: name, node)
                if case .constant(let text) = origin.place, let field { try check(text, field, at: node) }
                return origin
            }
            if let origin { fields.append((name, origin)) }
        }
        try faults.finish()
        guard !fields.isEmpty else { throw node.error("fields is empty; without it an item's fields are the members of the same names") }
        if let missing = known?.first(where: { known in known.isRequired && !fields.contains { $0.name == known.name } }) {
            throw node.error("field '\(missing.name)' is missing: every item of the kind \(kind.name) has one")
        }
        return FieldMapping(fields)
    }

    private static let discriminator = "kind"

    private func origin(of name: String, _ node: YAMLNode) throws(ConfigurationError) -> FieldMapping.Origin {
        guard node.isMapping else { return FieldMapping.Origin(.first(try pointers(node))) }
        let keys = ["value", "template", "from", "as", "zone", "join", "each"]
        let members = try node.members(of: "field '\(ItemError.shown(name))'", among: keys)
        let places = ["value", "template", "from"].filter { members[$0] != nil }
        guard places.count == 1 else { throw node.error("a field has one of from, value and template") }
        guard let from = members["from"] else {
            guard members.count == 1 else { throw node.error("as, zone, join and each belong to from") }
            if let value = members["value"] { return .constant(try value.text("a text")) }
            let text = try members["template"]?.text("a template") ?? ""
            guard let template = SourceTemplate(text) else {
                throw node.notAllowed(
                    text, "a text with {{member}} or {{/pointer}}; a URL has its host and a slash before the first of them")
            }
            return FieldMapping.Origin(.template(template))
        }
        var origin = FieldMapping.Origin(.first(try pointers(from)))
        origin.form = try members["as"].map { (node) throws(ConfigurationError) in try form(node, zone: members["zone"]) }
        if members["as"] == nil, let zone = members["zone"] { throw zone.error("zone belongs to as: date") }
        let each = try members["each"].map { (node) throws(ConfigurationError) in try pointers(node) }
        guard each == nil || members["join"] != nil else { throw node.error("each belongs to join: the value of each element of a list") }
        if let join = members["join"] { origin.joined = (each?.first, join.isEmptyText ? "" : try join.text("the text between elements")) }
        return origin
    }

    private func pointers(_ node: YAMLNode) throws(ConfigurationError) -> [JSONPointer] {
        let expected = "a member's name, a JSON Pointer, a list of them, or a mapping with from, value or template"
        return try node.texts(expected).map { (text) throws(ConfigurationError) in
            guard let pointer = text.hasPrefix("/") ? JSONPointer(text) : JSONPointer(member: text) else {
                throw node.notAllowed(text, Self.pointers)
            }
            return pointer
        }
    }

    private func form(_ node: YAMLNode, zone: YAMLNode?) throws(ConfigurationError) -> SourceForm {
        let name = try node.text("text, number or date")
        guard name == "date" || zone == nil else { throw node.error("zone belongs to as: date") }
        switch name {
        case "text": return .text
        case "number": return .number
        case "date":
            return .date(
                zone: try zone.map { (node) throws(ConfigurationError) in
                    let text = try node.text("a time zone such as Europe/Berlin or +02:00")
                    guard let zone = SourceForm.TimeZoneName(text) else {
                        throw node.notAllowed(text, "a time zone such as Europe/Berlin or +02:00")
                    }
                    return zone
                })
        default: throw node.notAllowed(name, "text, number, date")
        }
    }

    private func check(_ text: String, _ field: ItemField, at node: YAMLNode) throws(ConfigurationError) {
        do {
            try field.validate(text)
        } catch {
            throw node.error("no item can have this value: \(error)")
        }
    }
}

extension SourceReader {
    func headers(_ node: YAMLNode) throws(ConfigurationError) -> HTTPFields {
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

    private func headerValue(_ node: YAMLNode) throws(ConfigurationError) -> String {
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

    func duration(_ node: YAMLNode, from least: Duration, to most: Duration) throws(ConfigurationError) -> Duration {
        let allowed = "\(Duration.allowed), from \(least.setting) to \(most.setting)"
        let text = try node.text(allowed)
        guard let duration = Duration(setting: text), (least...most).contains(duration) else { throw node.notAllowed(text, allowed) }
        return duration
    }

    func share(_ node: YAMLNode) throws(ConfigurationError) -> Double {
        let share = try node.number("a share from 0 to 1")
        guard (0...1).contains(share) else { throw node.notAllowed(String(share), "a share from 0 to 1") }
        return share
    }

    func count(_ node: YAMLNode, upTo most: Int) throws(ConfigurationError) -> Int {
        let allowed = "a whole number from 1 to \(most)"
        let text = try node.text(allowed)
        guard let count = Int(text), (1...most).contains(count) else { throw node.notAllowed(text, allowed) }
        return count
    }

    func bytes(_ node: YAMLNode) throws(ConfigurationError) -> Int {
        let allowed = "\(ByteCount.allowed), at least 1"
        let text = try node.text(allowed)
        guard let count = ByteCount(setting: text), count.bytes > 0 else { throw node.notAllowed(text, allowed) }
        return count.bytes
    }
}
