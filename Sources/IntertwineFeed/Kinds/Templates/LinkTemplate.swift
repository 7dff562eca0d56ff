/// A link whose host stands in the declaration, and whose path and query may be put together from fields.
struct LinkTemplate: Sendable {
    private let template: TextTemplate

    /// - Throws: ``KindFault`` where the template does not begin with a whole `https://host/` (or http): no field may say where a link leads;
    ///   or where it comes to no link, whatever the fields hold.
    init(_ source: String, reading known: [(name: String, reference: FieldReference)]) throws(KindFault) {
        let literal = source.firstRange(of: "{{").map { source[..<$0.lowerBound] } ?? source[...]
        let start = Array(literal.utf8)[...]
        let authority = literal.firstRange(of: "://").map { literal[$0.upperBound...] } ?? ""
        guard ItemURL.fault(in: start) == nil, authority.contains(where: { "/?#".contains($0) }) else {
            throw KindFault([], "a link's template must begin with http:// or https://, a host and a slash, before its first field")
        }
        template = try TextTemplate(source, for: .link, reading: known)
        for sample in template.samples {
            if let fault = ItemURL.fault(in: Array(sample.utf8)[...]) { throw KindFault([], "a link from this template \(fault)") }
        }
    }

    /// - Throws: ``ItemFault`` where a field is not what the kind declares, or the link becomes none, or too long.
    func href(of values: FieldValues) throws(ItemFault) -> String {
        let href = try template.text(of: values)
        if let fault = ItemURL.fault(in: Array(href.utf8)[...]) { throw ItemFault(reason: "the link \(fault)") }
        return href
    }
}
