internal import IntertwinePrimitives

struct ActionInput {
    var values: [String: JSONValue] = [:]
    var recorded: EventInput?
}

extension FieldDeclaration {
    private static let maximumErrors = 32

    static func read(_ input: [FieldDeclaration], in body: [UInt8]) throws(ActionError) -> ActionInput {
        guard !input.isEmpty else { return ActionInput() }
        let fields: ItemFields
        do { fields = try ItemFields(body.isEmpty ? Array("{}".utf8) : JSONPreamble.text(body), isLenient: true) } catch {
            throw .invalidInput([error])
        }
        var read = ActionInput()
        var json: [UInt8] = []
        var choices: [EventInput.Choice] = []
        var errors: [ItemError] = []
        for field in input {
            do throws(ItemError) {
                guard let characters = try field.value(in: fields) else { continue }
                read.values[field.name] = field.actionValue(characters)
                json.append(json.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
                json.append(jsonString: field.name.utf8)
                json.append(UInt8(ascii: ":"))
                switch field.type {
                case .number, .boolean: json += characters
                case .text, .date, .url, .image, .tags: json.append(jsonString: characters)
                }
                if !field.choices.isEmpty { choices.append(.init(field.name, String(decoding: characters, as: UTF8.self))) }
            } catch {
                errors.append(error)
            }
        }
        for member in fields.object.members where errors.count < maximumErrors {
            guard !input.contains(where: { fields.object.matches(member.name, $0.name) }) else { continue }
            let names = input.map(\.name).joined(separator: ", ")
            let name = fields.object.characters(of: member.name)
            errors.append(
                ItemError(
                    field: ItemError.shown(name), reason: "is not declared; allowed: \(names)", code: .unknown,
                    path: [String(decoding: name, as: UTF8.self)]))
        }
        guard errors.isEmpty else { throw .invalidInput(errors) }
        guard !json.isEmpty else { return read }
        json.append(UInt8(ascii: "}"))
        guard json.count <= EventInput.limit else {
            throw .invalidInput([ItemError(reason: "The values together exceed \(EventInput.limit) bytes", code: .tooLong)])
        }
        read.recorded = EventInput(json: String(decoding: json, as: UTF8.self), choices: choices)
        return read
    }

    private func actionValue(_ characters: ArraySlice<UInt8>) -> JSONValue {
        let text = String(decoding: characters, as: UTF8.self)
        return switch type {
        case .number: Int64(text).map { .integer($0) } ?? .number(Double(text) ?? .nan)
        case .boolean: .flag(text == "true")
        case .text, .date, .url, .image, .tags: .text(text)
        }
    }
}
