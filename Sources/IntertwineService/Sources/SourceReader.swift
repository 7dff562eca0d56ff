internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineStorage
internal import IntertwineSync
internal import Yams

/// Reads the declaration of one source, `name: {url: …, kind: …}`.
struct SourceReader {
    let kinds: ItemKinds
    let policy: AddressPolicy
    let environment: [String: String]

    private static let keys = [
        "url", "kind", "every", "items", "next", "fields", "headers", "on-error", "removable", "verify", "max-pages", "max-items",
        "max-bytes", "deadline",
    ]

    func source(_ name: String, at place: YAMLPlace) throws(ConfigurationError) -> RemoteSource {
        let members = try place.members(of: "source '\(name)'", among: Self.keys)
        guard let url = members["url"] else { throw place.fault("url is missing: where the first page is") }
        guard let kind = members["kind"] else { throw place.fault("kind is missing; allowed: \(kinds.names.joined(separator: ", "))") }
        var faults = FaultCollector()
        let found = faults.collect { () throws(ConfigurationError) in try self.url(url) }
        let declared = faults.collect { () throws(ConfigurationError) in try self.kind(kind) }
        guard let found, let declared else { throw ConfigurationError(faults.reasons) ?? place.fault("url and kind are missing") }
        var source = RemoteSource(name: name, url: found, kind: declared, items: .document)
        func read(_ name: String, _ body: (YAMLPlace) throws(ConfigurationError) -> Void) {
            guard let place = members[name] else { return }
            faults.collect { () throws(ConfigurationError) in try body(place) }
        }
        read("items") { place throws(ConfigurationError) in source.items = try pointer(place) }
        read("every") { place throws(ConfigurationError) in
            source.interval = try duration(place, from: .seconds(1), to: .seconds(30 * 86_400))
        }
        read("next") { place throws(ConfigurationError) in source.next = try next(place) }
        read("fields") { place throws(ConfigurationError) in source.fields = try fields(place, of: source.kind) }
        read("headers") { place throws(ConfigurationError) in source.headers = try headers(place) }
        read("on-error") { place throws(ConfigurationError) in source.policy = try place.choice(BadItemPolicy.self) }
        read("removable") { place throws(ConfigurationError) in source.removable = try share(place) }
        read("verify") { place throws(ConfigurationError) in source.isVerified = try place.flag() }
        read("max-pages") { place throws(ConfigurationError) in source.pageLimit = try count(place, upTo: 100_000) }
        read("max-items") { place throws(ConfigurationError) in source.itemLimit = try count(place, upTo: 100_000_000) }
        read("max-bytes") { place throws(ConfigurationError) in source.byteLimit = try bytes(place) }
        read("deadline") { place throws(ConfigurationError) in
            source.deadline = try duration(place, from: .seconds(1), to: .seconds(86_400))
        }
        try faults.finish()
        return source
    }

    private func url(_ place: YAMLPlace) throws(ConfigurationError) -> FetchURL {
        let text = try place.text("an absolute http or https URL")
        guard let url = try? FetchURL(text) else { throw place.notAllowed(text, "an absolute http or https URL, without a user") }
        do {
            try policy.check(url)
        } catch {
            let refusal = FetchRefusal(url: url, addresses: url.address.map { [$0] } ?? [])
            throw place.fault(error.explained(by: refusal))
        }
        return url
    }

    private func kind(_ place: YAMLPlace) throws(ConfigurationError) -> any ItemKind {
        let name = try place.text(kinds.names.joined(separator: ", "))
        guard let kind = kinds[name] else { throw place.notAllowed(name, kinds.names.joined(separator: ", ")) }
        return kind
    }

    func pointer(_ place: YAMLPlace) throws(ConfigurationError) -> JSONPointer {
        // An empty text is a pointer too, to the whole document.
        guard let text = place.node.scalar?.string, place.node.null == nil || text.isEmpty else {
            throw place.fault("a single value is expected: \(Self.pointers)")
        }
        guard let pointer = JSONPointer(text) else { throw place.notAllowed(text, Self.pointers) }
        return pointer
    }

    private static let pointers = "a JSON Pointer such as /data/items, or nothing for the whole document"

    /// `link`, `{url: /links/next}` or `{cursor: /meta/next, parameter: cursor}`.
    private func next(_ place: YAMLPlace) throws(ConfigurationError) -> NextPage {
        let allowed = "link, {url: pointer}, {cursor: pointer, parameter: name}"
        guard place.isMapping else {
            let text = try place.text(allowed)
            guard text == "link" else { throw place.notAllowed(text, allowed) }
            return .link
        }
        let members = try place.members(of: "next", among: ["url", "cursor", "parameter"])
        switch (members["url"], members["cursor"], members["parameter"]) {
        case (let url?, nil, nil): return .url(try pointer(url))
        case (nil, let cursor?, let parameter?):
            return .cursor(try pointer(cursor), parameter: try parameter.text("a query parameter's name"))
        default: throw place.fault("next is one of \(allowed)")
        }
    }
}

extension JSONPointer {
    fileprivate static var document: JSONPointer { JSONPointer("") ?? JSONPointer(member: "") }
}
