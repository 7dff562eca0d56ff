/// A field of a declared kind, or a value that a command takes: its name, what it holds, and the limits that each of its values keeps.
public struct FieldDeclaration: Sendable, Hashable {
    /// Characters (Unicode scalars) that a text may have where nothing else is said.
    public static let usualTextLimit = 2_000.0
    /// Characters that no declaration can go beyond.
    public static let textLimit = 65_536.0

    public var name: String
    public var type: FieldType
    public var isRequired: Bool
    /// Of a text, the number of its characters; of a number, the number itself. Other types have no bounds of their own.
    public var minimum: Double?
    public var maximum: Double?
    /// The texts that it can be; any where there are none.
    public var choices: [String]

    public init(
        _ name: String, _ type: FieldType, isRequired: Bool = false, minimum: Double? = nil, maximum: Double? = nil, choices: [String] = []
    ) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.minimum = minimum
        self.maximum = maximum
        self.choices = choices
    }

    /// Why its limits make no sense; nil where they do.
    var boundsFault: String? {
        switch type {
        case .text:
            let isWhole = [minimum, maximum].compactMap { $0 }.allSatisfy { $0 >= 0 && $0 == $0.rounded() }
            guard isWhole, maximum ?? 1 >= 1, maximum ?? 1 <= Self.textLimit else {
                return "min and max of a text are whole numbers of characters, max 1 to \(Int(Self.textLimit))"
            }
        case .number: break
        case .date, .url, .image, .boolean:
            guard minimum == nil, maximum == nil else {
                return "min and max are for text and number; the field is of the type \(type.rawValue)"
            }
        }
        guard minimum ?? -.infinity <= maximum ?? (type == .text ? Self.usualTextLimit : .infinity) else {
            return "min is greater than max"
        }
        guard choices.isEmpty || type == .text else { return "a \(type.rawValue) has no choices" }
        guard choices.allSatisfy({ !$0.isEmpty }), Set(choices.map { ExactText($0) }).count == choices.count else {
            return "a choice is empty, or stands there twice"
        }
        return nil
    }
}
