/// The commands of a cell by slot, in the order of the JSON output: the standard slots first, then custom slots by name.
public struct CellCommands: Sendable, ExpressibleByDictionaryLiteral {
    /// The state that all cells of a kind share. Each cell holds one reference.
    private final class Shared: Sendable {
        let slots: Slots

        init(_ slots: Slots) { self.slots = slots }
    }

    fileprivate struct Slots: Sendable {
        var entries: [(key: CommandKey, command: any Command)] = []
        /// The prepared JSON of each slot, or nil if a slot cannot be prepared.
        var requests: [PreparedRequest?] = []
        /// The text that ``requests`` point into.
        var text: [UInt8] = []
        var reported: [CommandKey] = []
        var labels: [CommandKey: LocalizedText] = [:]
        /// The constant JSON around the cells of the kind, or nil if it differs between cells.
        var frames: CellTemplate.TemplateTable?
    }

    private static let none = Shared(Slots())

    /// The command that fills the cell; it precedes all others. Why a separate property: it is the only command that differs between cells.
    private var configuration: (any Command)?
    private var shared = Self.none

    public init() {}

    public init(dictionaryLiteral elements: (CommandKey, any Command)...) {
        for (key, command) in elements { self[key] = command }
    }

    /// The slots that have a command.
    public var keys: [CommandKey] { (configuration == nil ? [] : [.configuration]) + shared.slots.entries.map(\.key) }

    /// The slots, besides the impression, that clients report with the token of the cell instead of performing them at a URL.
    var reported: [CommandKey] {
        get { shared.slots.reported }
        set { change { $0.reported = newValue } }
    }

    /// The labels of slots, as people read them.
    var labels: [CommandKey: LocalizedText] {
        get { shared.slots.labels }
        set { change { $0.labels = newValue } }
    }

    /// The indices of the slots without the configuration.
    var indices: Range<Int> { shared.slots.entries.indices }

    func slot(at index: Int) -> (key: CommandKey, command: any Command) { shared.slots.entries[index] }

    /// Returns the prepared JSON of a slot, a part of ``preparedText``. It is nil if the command must create its action for each cell.
    func request(at index: Int) -> PreparedRequest? { shared.slots.requests[index] }

    var preparedText: [UInt8] { shared.slots.text }

    /// The constant JSON around the cells with these commands, or nil if it differs between cells.
    var frames: CellTemplate.TemplateTable? { shared.slots.frames }

    /// Creates the table of the JSON around the cells if all slots are prepared. Any change of the commands removes the table.
    mutating func prepareFrames() {
        guard shared.slots.requests.allSatisfy({ $0 != nil }) else { return }
        var slots = shared.slots
        slots.frames = CellTemplate.TemplateTable()
        shared = Shared(slots)
    }

    public subscript(key: CommandKey) -> (any Command)? {
        get {
            if key == .configuration { return configuration }
            // A linear search is faster than hashing for so few slots. The buffer pointer avoids a copy of each command that does not match.
            return shared.slots.entries.withUnsafeBufferPointer { slots in
                for index in slots.indices where slots[index].key == key { return slots[index].command }
                return nil
            }
        }
        set {
            if key == .configuration { configuration = newValue } else { change { $0.put(newValue, at: key) } }
        }
    }

    /// Prepares the JSON of a slot. The prepared JSON is used until the command of the slot changes.
    mutating func prepare(_ key: CommandKey, _ commands: [any Command], face: RequestCommand) {
        change { slots in
            guard let index = slots.entries.firstIndex(where: { $0.key == key }) else { return }
            slots.requests[index] = PreparedRequest(key, commands, face: face, appendedTo: &slots.text)
        }
    }

    private mutating func change(_ body: (inout Slots) -> Void) {
        var slots = shared.slots
        slots.frames = nil
        body(&slots)
        shared = Shared(slots)
    }
}

extension CellCommands.Slots {
    fileprivate mutating func put(_ command: (any Command)?, at key: CommandKey) {
        if let index = entries.firstIndex(where: { $0.key == key }) {
            entries.remove(at: index)
            requests.remove(at: index)
        }
        guard var command else { return }
        // A macro records a step for each of its commands, so a single command is performed as a macro of one.
        if command.components == nil { command = MacroCommand(name: command.name, [command]) }
        let index = entries.firstIndex { Self.precedes(key, $0.key) } ?? entries.count
        entries.insert((key, command), at: index)
        requests.insert(nil, at: index)
    }

    private static func precedes(_ one: CommandKey, _ other: CommandKey) -> Bool {
        let count = CommandKey.standard.count
        let (first, second) = (CommandKey.standard.firstIndex(of: one) ?? count, CommandKey.standard.firstIndex(of: other) ?? count)
        return first == second ? one.rawValue < other.rawValue : first < second
    }
}
