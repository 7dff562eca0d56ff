internal import HTTPTypes
internal import IntertwinePrimitives

extension Route {
    package static func errors(in added: [Route], beside others: [Route]) -> [String] {
        added.indices.compactMap { index in
            let route = added[index]
            let reason = route.patternError ?? route.methodError ?? route.conflict(with: others, added[..<index])
            return reason.map { "route \(route.method.rawValue) \(route.pattern): \($0)" }
        }
    }

    private var patternError: String? {
        guard pattern.hasPrefix("/") else { return "a path begins with /" }
        var names: Set<Substring> = []
        for segment in pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            if segment.hasPrefix(":") { return "a parameter is written {\(segment.dropFirst())}" }
            if segment == "*" || segment == "**" { return "a pattern has no wildcards; {name} matches one segment" }
            var rest = segment
            if segment.hasPrefix("{"), let end = segment.firstIndex(of: "}") {
                let name = segment[..<end].dropFirst()
                guard !name.isEmpty, name.utf8.allSatisfy({ PercentCoding.Kept.unreserved.contains($0) }) else {
                    return "'{\(name)}' is not the name of a parameter: letters, digits, - . _ ~"
                }
                guard names.insert(name).inserted else { return "two parameters are named '\(name)'" }
                rest = segment[end...].dropFirst()
            }
            if let error = literalError(rest) { return error }
        }
        return nil
    }

    private func literalError(_ text: Substring) -> String? {
        guard !text.contains(where: { "{}".contains($0) }) else {
            return "a parameter is at the start of a segment, as in /{name} or /{name}.json"
        }
        let escaped = PercentCoding.encode(String(text), keeping: .path)
        guard escaped == text else { return "a path has no '\(text)'; write '\(escaped)'" }
        guard PercentCoding.normalised(text) == text else { return "'\(text)' is compared as '\(PercentCoding.normalised(text))'" }
        return nil
    }

    private var methodError: String? {
        switch method {
        case .get, .post, .put, .patch, .delete: nil
        case .head: "HEAD has the route of GET"
        case .options: "the service answers OPTIONS"
        default: "the service does not serve this method"
        }
    }

    private func conflict(with others: [Route], _ earlier: ArraySlice<Route>) -> String? {
        func isSame(_ other: Route) -> Bool { other.pattern == pattern && other.method == method }
        if others.contains(where: isSame) { return "the product has this route" }
        if earlier.contains(where: isSame) { return "it is declared twice" }
        let form = Resource.form(of: pattern)
        func isMoreSpecific(than other: [String]) -> Bool {
            other != form && other.count == form.count && zip(other, form).allSatisfy { $0 == $1 || $0 == "{}" }
        }
        if let hidden = others.first(where: { isMoreSpecific(than: Resource.form(of: $0.pattern)) }) {
            return "it hides \(hidden.method.rawValue) \(hidden.pattern) of the product"
        }
        // A request matches the first pattern of a form, also if that pattern has no route for its method.
        guard let first = (others + earlier).first(where: { $0.pattern != pattern && Resource.form(of: $0.pattern) == form }) else {
            return nil
        }
        return "\(first.pattern) matches the same paths first; use its parameter names"
    }
}
