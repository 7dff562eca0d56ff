internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// Reads from a request what campaigns may ask for.
struct CampaignFactsReader: Sendable {
    /// In lower case; nil where nobody tells attributes.
    private let attributesField: String?
    /// Milliseconds within which a viewer's page is the same page.
    private let window: Int64
    private let counter = Counter()

    /// - Parameters:
    ///   - attributesField: the request field with the viewer's attributes; empty for none.
    ///   - window: milliseconds within which a viewer's page, asked for again, is the same page.
    init(attributesField: String, window: Int64) {
        self.attributesField = attributesField.isEmpty ? nil : attributesField.lowercased()
        self.window = max(1, window)
    }

    func facts(of request: HTTPRequest, viewer: String?, now: Int64) -> CampaignFacts {
        var fields = Fields()
        for field in request.headerFields { fields.add(field.name.canonicalName, attributesField) { field.value } }
        return facts(fields, viewer, now)
    }

    func facts(of head: borrowing RequestHead, viewer: String?, now: Int64) -> CampaignFacts {
        var fields = Fields()
        head.forEachField { name, value in fields.add(name, attributesField, value) }
        return facts(fields, viewer, now)
    }

    private func facts(_ fields: Fields, _ viewer: String?, _ now: Int64) -> CampaignFacts {
        // Nobody is remembered who does not want that.
        let viewer = fields.wantsNoTrace ? nil : viewer
        return CampaignFacts(
            viewer: viewer, attributes: fields.attributes.map(ViewerAttributes.init),
            languages: fields.languages.map(LanguagePreferences.init),
            moment: viewer == nil ? now << 16 | Int64(counter.next()) : now / window)
    }

    /// Tells those apart who ask in the same millisecond and have no name.
    private final class Counter: Sendable {
        private let count = Atomic<UInt16>(0)

        func next() -> UInt16 { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    private struct Fields {
        var attributes: String?
        var languages: String?
        var wantsNoTrace = false

        mutating func add(_ name: String, _ attributesField: String?, _ value: () -> String) {
            if name == attributesField { Self.add(value(), to: &attributes) }
            switch name {
            case "accept-language": Self.add(value(), to: &languages)
            case "dnt", "sec-gpc": wantsNoTrace = wantsNoTrace || value().split(separator: ",").contains { $0.contains("1") }
            default: break
            }
        }

        private static func add(_ value: String, to joined: inout String?) {
            joined = joined.map { "\($0), \(value)" } ?? value
        }
    }
}
