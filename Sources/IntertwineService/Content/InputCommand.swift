public import IntertwineFeed
public import IntertwinePrimitives

/// A command whose input is a `Codable` type.
///
/// The fields follow from the properties of the type, as for ``ItemContent``. Clients receive their JSON Schema with the action, and the API
/// description has it. The service decodes and validates the input before any command of the action runs. A client with invalid values gets
/// problem details (422) that name each of them.
///
/// ```swift
/// struct Rate: InputCommand {
///     struct Input: Codable {
///         var stars: Int
///         var comment: String?
///     }
///
///     let name = "rate"
///     let inputFields = [FieldDeclaration("stars", .number, minimum: 1, maximum: 5)]
///
///     func perform(_ input: Input, in context: inout CommandContext) async throws {
///         try await ratings.add(input.stars, for: context.cell)
///     }
/// }
/// ```
public protocol InputCommand: Command {
    /// The input of a request. Its properties are the members of the JSON body.
    associatedtype Input: Codable

    /// Declarations of input fields that have limits, choices or a label. Their requirement follows from the properties of the input.
    var inputFields: [FieldDeclaration] { get }

    /// Validates the input beyond the types and limits of its fields.
    ///
    /// - Throws: `ItemError` with the name of a field, or any error with a description for the client's developer.
    func validate(_ input: Input) throws

    /// Performs the server part of the command, as `Command.perform(in:)` does.
    func perform(_ input: Input, in context: inout CommandContext) async throws
}

extension InputCommand {
    /// The default: no declarations. The fields follow from the properties of the input.
    public var inputFields: [FieldDeclaration] { [] }

    /// The fields of the input. A type that cannot be described ends the start of the service.
    public var input: [FieldDeclaration] { (try? [FieldDeclaration](of: Input.self, replacedBy: inputFields)) ?? [] }

    /// Accepts each input. Types and limits of its fields are validated before.
    public func validate(_ input: Input) throws {}

    /// Decodes the members of a request's body, and validates the result.
    ///
    /// - Throws: `ItemError` with the name of the invalid field.
    public func validate(_ input: [String: JSONValue]) throws(ItemError) {
        do { try validate(try Self.decoded(input)) } catch { throw ItemError(wrapping: error) }
    }

    /// Decodes the input of the request, and performs the command with it.
    public func perform(in context: inout CommandContext) async throws {
        try await perform(try Self.decoded(context.input), in: &context)
    }

    private static func decoded(_ input: [String: JSONValue]) throws -> Input {
        try Input(from: FieldDecoder(source: InputValues(values: input)))
    }

    var inputError: String? {
        do throws(ItemError) {
            _ = try [FieldDeclaration](of: Input.self, replacedBy: inputFields)
            return nil
        } catch {
            return "the input of the command '\(name)': \(error)"
        }
    }
}

private struct InputValues: FieldSource {
    let values: [String: JSONValue]

    func contains(_ field: String) -> Bool { values[field] != nil }

    func text(_ field: String, _ type: FieldType) throws(ItemError) -> String {
        switch values[field] {
        case .text(let text): return text
        case .integer(let number): return String(number)
        case .number(let number): return number.description
        case .flag(let flag): return String(flag)
        default: throw ItemError(field: field, reason: "is missing", code: .required)
        }
    }
}
