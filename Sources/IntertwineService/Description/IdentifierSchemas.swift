internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

final class IdentifierSchemas: Sendable {
    private static let pattern = "/schemas/cells/{identifier}.json"
    private static let identifier = Parameter.segment(
        "identifier", .string(minLength: 1), "The `identifier` of a cell.", example: #""AdvertisementCollectionViewCell""#)

    private struct Part {
        typealias Form = BindingDeclaration.BindingFormat

        let name: String
        let form: Form
        let isRequired: Bool

        init(_ name: String, _ form: Form, isRequired: Bool = true) {
            (self.name, self.form, self.isRequired) = (name, form, isRequired)
        }
    }

    /// The responses by identifier, encoded at the first request. Why: each has some 13 KB, and with a thousand kinds most are never requested.
    private let responses: [String: LazyResponse]

    init(kinds: ItemKinds, publicURL: String) {
        var cells = Self.standard.mapValues { [$0] }
        for kind in kinds.names.compactMap({ kinds[$0] as? DeclaredKind }) {
            for cell in kind.declaration.cells.values.joined() {
                cells[cell.identifier, default: []].append(Self.parts(of: cell, in: kind.declaration))
            }
        }
        for case let kind as any CellKind in kinds.names.map({ kinds[$0] }) {
            for (identifier, parts) in kind.parts {
                cells[identifier, default: []].append(
                    parts.compactMap { name, type, isRequired in
                        type.flatMap { Part.Form(rawValue: $0) }.map { Part(name, $0, isRequired: isRequired) }
                    })
            }
        }
        let all = cells.map { identifier, cells in
            let answer = LazyResponse {
                let path = Self.pattern.replacing("{identifier}", with: PercentCoding.encode(identifier, keeping: .segment))
                return Route.encoded(
                    Self.pattern, type: APIDescription.schemaType, Self.schema(identifier, cells).document(id: publicURL + path))
            }
            return (identifier, answer)
        }
        responses = Dictionary(uniqueKeysWithValues: all)
    }

    var route: Route {
        let operation = APIOperation(
            "getIdentifierSchema", tag: "Description", "The JSON Schema of the cells of one identifier",
            """
            The schema `ViewModel` with the parts and bindings of the cells of one identifier (JSON Schema 2020-12). A client that \
            registers a cell class for the identifier can rely on it. Each built-in cell has a schema for either layout, as does each \
            cell of a declared kind. Members may be added.
            """,
            parameters: [Self.identifier, Parameter<Void>.ifNoneMatch],
            responses: ResponseDescription.negotiated + [
                .json(
                    .ok, "A JSON Schema.", .document(having: ["$schema", "$id", "$defs"]),
                    [.pageCaching, .eTag, .vary, .contentEncoding], type: APIDescription.schemaType,
                    example:
                        #"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "/schemas/cells/EventCell.json", "$defs": {}}"#
                ),
                .problem(.notFound, "No described cell has this identifier.", [.init(.unknownCell, "There is no such cell.")]),
            ])
        return Route(
            Self.pattern, operation,
            encoded: { [self] request in
                guard let answer = responses[try request[Self.identifier]] else {
                    throw Problem(.notFound, .unknownCell, "There is no such cell.")
                }
                return answer.response
            })
    }

    // MARK: Cells

    private static let standard: [String: [Part]] = {
        let circular = [Part("username", .text), Part("avatar", .image)]
        let snapshot = circular + [Part("background", .image, isRequired: false)]
        let media = [
            Part("media", .media), Part("poster", .image, isRequired: false), Part("mediaType", .text, isRequired: false),
            Part("duration", .number, isRequired: false),
        ]
        let (advertisement, header) = ([Part("content", .image)], [Part("title", .text)])
        return [
            "UserSnapshotCollectionViewCell": snapshot, "UserTableViewCell": snapshot, "CircularUserCollectionViewCell": circular,
            "CircularUserTableViewCell": circular, "AdvertisementCollectionViewCell": advertisement,
            "AdvertisementTableViewCell": advertisement, "AdvertisementVideoCollectionViewCell": media,
            "AdvertisementVideoTableViewCell": media, "AdvertisementAudioCollectionViewCell": media,
            "AdvertisementAudioTableViewCell": media, "SectionHeaderCollectionReusableView": header,
            "SectionHeaderTableViewHeaderFooterView": header,
        ]
    }()

    private static func parts(of cell: CellDeclaration, in kind: KindDeclaration) -> [Part] {
        cell.bindings.map { binding in
            // A template may have an empty result.
            let isRequired = binding.source.all.allSatisfy { source in
                ["id", "type"].contains(source) || kind.fields.contains { $0.name == source && $0.isRequired }
            }
            return Part(binding.part, binding.form, isRequired: isRequired)
        }
    }

    // MARK: Schemas

    private static func schema(_ identifier: String, _ cells: [[Part]]) -> Schema {
        let names = cells.joined().reduce(into: [String]()) { names, part in if !names.contains(part.name) { names.append(part.name) } }
        let bindings = names.map { name in
            let parts = cells.compactMap { cell in cell.first { $0.name == name } }
            let forms = parts.reduce(into: [Part.Form]()) { forms, part in
                if !forms.contains(part.form) { forms.append(part.form) }
            }
            let value = forms.count == 1 ? content(forms[0]) : Schema.any.with("anyOf", .list(forms.map { content($0).value }))
            let isRequired = parts.count == cells.count && parts.allSatisfy(\.isRequired)
            return isRequired ? Schema.Property.required(name, value) : .optional(name, value)
        }
        let own = Schema.object([
            .required("identifier", .word(identifier)),
            .required("actions", .object([.required("configuration", .object([.required("bindings", .object(bindings))]))])),
        ])
        return Schema.any.titled(identifier).with("allOf", .list([Schema.cell.value, own.value]))
    }

    private static func content(_ form: Part.Form) -> Schema {
        switch form {
        case .text: value("text", .required("text", .string))
        case .image:
            value(
                "image", .required("href", .href), .optional("width", .integer), .optional("height", .integer), .optional("alt", .string))
        case .date: value("date", .required("date", .string(pattern: Timestamp.pattern)))
        case .number: value("number", .required("number", .number))
        case .link, .media: value(form.rawValue, .required("href", .href))
        }
    }

    private static func value(_ type: String, _ members: Schema.Property...) -> Schema {
        .object([.required("type", .word(type))] + members)
    }
}
