internal import Foundation

/// The JSON Schema of a cell as a document of its own: what the OpenAPI description says of cells, and nothing else of it.
struct CellSchema: Sendable {
    static let path = "/schemas/cell.json"
    static let mediaType = "application/schema+json"
    private static let root = "ViewModel"
    private static let components = "#/components/schemas/"
    private static let definitions = "#/$defs/"

    /// The schema (JSON Schema 2020-12), UTF-8.
    let document: [UInt8]

    /// - Parameter description: an OpenAPI document, UTF-8.
    /// - Throws: ``ConfigurationError`` where the description does not describe cells.
    init(description: [UInt8], publicURL: String) throws {
        guard let object = try JSONSerialization.jsonObject(with: Data(description)) as? [String: Any],
            let components = object["components"] as? [String: Any], let schemas = components["schemas"] as? [String: Any]
        else { throw ConfigurationError("the description has no schemas") }
        var definitions: [String: Any] = [:]
        var wanted = [Self.root]
        while let name = wanted.popLast() {
            guard definitions[name] == nil else { continue }
            guard let schema = schemas[name] else { throw ConfigurationError("the description has no schema \(name)") }
            definitions[name] = Self.relocated(schema) { wanted.append($0) }
        }
        let schema: [String: Any] = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": publicURL + Self.path, "$ref": Self.definitions + Self.root,
            "$defs": definitions,
        ]
        document = Array(
            try JSONSerialization.data(withJSONObject: schema, options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]))
    }

    /// The same schema, its references pointing into `$defs`.
    ///
    /// - Parameter found: called with the name of each schema that it refers to.
    private static func relocated(_ value: Any, found: (String) -> Void) -> Any {
        if let list = value as? [Any] { return list.map { relocated($0, found: found) } }
        guard let object = value as? [String: Any] else { return value }
        return Dictionary(
            uniqueKeysWithValues: object.map { key, value -> (String, Any) in
                guard key == "$ref", let reference = value as? String, reference.hasPrefix(components) else {
                    return (key, relocated(value, found: found))
                }
                let name = String(reference.dropFirst(components.count))
                found(name)
                return (key, definitions + name)
            })
    }
}
