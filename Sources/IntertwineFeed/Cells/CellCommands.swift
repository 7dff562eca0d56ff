internal import Synchronization

/// The commands of a cell by slot, in the order of the JSON output: the standard slots first, then custom slots by name.
///
/// ```swift
/// let commands: CellCommands = [.dismissal: Dismiss(), .selection: MacroCommand(Analytics(), Present())]
/// let keys = commands.keys  // [.selection, .dismissal]
/// ```
public struct CellCommands: Sendable, ExpressibleByDictionaryLiteral {
    private final class Shared: Sendable {
        let slots: Slots
        let attachment = AtomicLazyReference<any AnyObject & Sendable>()

        init(_ slots: Slots) { self.slots = slots }
    }

    fileprivate struct Slots: Sendable {
        var entries: [(key: CommandKey, command: any Command)] = []
        var reported: [CommandKey] = []
        var viewability: Viewability?
        var labels: [CommandKey: LocalizedText] = [:]
        var areOfKind = false
    }

    private static let none = Shared(Slots())

    /// Why a separate property: it is the only command that differs between cells.
    private var configuration: (any Command)?
    private var shared = Self.none

    /// Creates commands without an occupied slot.
    public init() {}

    /// Creates the commands of a dictionary literal. If a slot occurs twice, the last command is used.
    public init(dictionaryLiteral elements: (CommandKey, any Command)...) {
        for (key, command) in elements { self[key] = command }
    }

    /// The slots that have a command.
    public var keys: [CommandKey] { (configuration == nil ? [] : [.configuration]) + shared.slots.entries.map(\.key) }

    package var reported: [CommandKey] {
        get { shared.slots.reported }
        set { change { $0.reported = newValue } }
    }

    var viewability: Viewability? {
        get { shared.slots.viewability }
        set { change { $0.viewability = newValue } }
    }

    var labels: [CommandKey: LocalizedText] {
        get { shared.slots.labels }
        set { change { $0.labels = newValue } }
    }

    package var indices: Range<Int> { shared.slots.entries.indices }

    package func slot(at index: Int) -> (key: CommandKey, command: any Command) { shared.slots.entries[index] }

    /// All callers must use one type of object.
    /// nil if the commands are not those of a kind as configured, because each cell may then have its own.
    func attachment<Object: AnyObject & Sendable>(_ make: (CellCommands) -> Object) -> Object? {
        guard shared.slots.areOfKind else { return nil }
        return unsafeDowncast(shared.attachment.load() ?? shared.attachment.storeIfNil(make(self)), to: Object.self)
    }

    /// Declares that these are all commands of a kind, so that values derived from them can be shared.
    mutating func setComplete() {
        var slots = shared.slots
        slots.areOfKind = true
        shared = Shared(slots)
    }

    /// The command of a slot; nil if the slot is empty.
    ///
    /// A command without components is stored as a ``MacroCommand`` of one command, unless the slot is ``CommandKey/configuration``.
    ///
    /// ```swift
    /// var commands = CellCommands()
    /// commands["like"] = Analytics()
    /// let name = commands["like"]?.name  // "analytics"
    /// ```
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

    private mutating func change(_ body: (inout Slots) -> Void) {
        var slots = shared.slots
        slots.areOfKind = false
        body(&slots)
        shared = Shared(slots)
    }
}

extension CellCommands.Slots {
    fileprivate mutating func put(_ command: (any Command)?, at key: CommandKey) {
        if let index = entries.firstIndex(where: { $0.key == key }) {
            entries.remove(at: index)
        }
        guard var command else { return }
        // A macro records a step for each of its commands, so a single command is performed as a macro of one.
        if command.components == nil { command = MacroCommand(name: command.name, [command]) }
        let index = entries.firstIndex { Self.precedes(key, $0.key) } ?? entries.count
        entries.insert((key, command), at: index)
    }

    private static func precedes(_ one: CommandKey, _ other: CommandKey) -> Bool {
        let count = CommandKey.standard.count
        let (first, second) = (CommandKey.standard.firstIndex(of: one) ?? count, CommandKey.standard.firstIndex(of: other) ?? count)
        return first == second ? one.rawValue < other.rawValue : first < second
    }
}
