internal import IntertwinePrimitives

/// A URL template of a third party that is called (webhook) after an impression or a click, with placeholders for the event's data.
/// Other braces are text, because URLs of other parties have macros of their own, such as `${GDPR}`.
/// For this machine http is accepted, which operators must also allow. The host contains no placeholder, so that data of an event cannot
/// change the target.
package struct TrackerTemplate: Sendable, Hashable {
    private static let placeholders = ["event", "viewer", "time", "campaign", "ad"]
    package static let limit = 8

    package let text: String

    package init(_ text: String) throws(ItemError) {
        let text = (try? ItemURL.absolute(Array(text.utf8)[...])).map { String(decoding: $0, as: UTF8.self) } ?? text
        if let fault = ItemURL.error(in: Array(text.utf8)[...]) {
            throw ItemError(reason: fault == ItemURL.secret ? fault : "\(fault): \(ItemError.shown(text))")
        }
        guard !text.drop(while: { $0 != "/" }).dropFirst(2).prefix(while: { !"/?#".contains($0) }).contains("{") else {
            throw ItemError(reason: "must not have a placeholder in its host: \(ItemError.shown(text))")
        }
        let lower = text.lowercased()
        let isLocal = ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { start in
            lower.hasPrefix(start) && (lower.dropFirst(start.count).first.map { ":/?#".contains($0) } ?? true)
        }
        guard lower.hasPrefix("https://") || isLocal else { throw ItemError(reason: "must be an https URL: \(ItemError.shown(text))") }
        self.text = text
    }

    package func filled(_ values: [String: String]) -> String {
        var url = ""
        var rest = Substring(text)
        while let open = rest.firstIndex(of: "{") {
            url += rest[..<open]
            rest = rest[rest.index(after: open)...]
            if let name = Self.placeholders.first(where: { rest.hasPrefix("\($0)}") }) {
                url += PercentCoding.encode((values[name] ?? "").utf8, keeping: .unreserved)
                rest = rest.dropFirst(name.count + 1)
            } else {
                url += "{"
            }
        }
        return url + rest
    }
}

package struct Trackers: Sendable, Hashable {
    package var impression: [TrackerTemplate] = []
    package var click: [TrackerTemplate] = []

    package init() {}

    static let impressionField = "impressionTrackers"
    static let clickField = "clickTrackers"

    package init(_ fields: ItemFields) throws(ItemError) {
        impression = try Self.templates(Self.impressionField, in: fields)
        click = try Self.templates(Self.clickField, in: fields)
    }

    private static func templates(_ field: String, in fields: ItemFields) throws(ItemError) -> [TrackerTemplate] {
        guard let token = try fields.token(field) else { return [] }
        guard token.kind == .array, let list = try? JSONArray(Array(fields.object.bytes[token.range]), isLenient: true) else {
            throw ItemError(field: field, reason: "must be a list of https URLs, is \(token.kind.rawValue)")
        }
        guard list.elements.count <= TrackerTemplate.limit else {
            throw ItemError(field: field, reason: "has more than \(TrackerTemplate.limit) URLs", code: .tooMany)
        }
        var templates: [TrackerTemplate] = []
        for element in list.elements {
            guard element.kind == .string else { throw ItemError(field: field, reason: "must be a list of https URLs") }
            let characters = element.isEscaped ? JSONText.unescaped(list.bytes.span, element.range) : list.bytes(of: element)
            do {
                templates.append(try TrackerTemplate(String(decoding: characters, as: UTF8.self)))
            } catch {
                throw ItemError(field: field, reason: error.reason)
            }
        }
        return templates
    }

    static func literal(_ templates: [TrackerTemplate]) -> ArraySlice<UInt8>? {
        guard !templates.isEmpty else { return nil }
        var bytes = [UInt8(ascii: "[")]
        for (index, template) in templates.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: template.text.utf8)
        }
        return (bytes + [UInt8(ascii: "]")])[...]
    }
}
