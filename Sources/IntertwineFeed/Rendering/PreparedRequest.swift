internal import IntertwinePrimitives

/// The prepared JSON of a slot whose request depends only on the id of the cell.
/// The text is cut out of the JSON of a placeholder cell. Why: ``RequestCommand/action(for:)`` remains the only definition of requests.
struct PreparedRequest: Sendable {
    private static let (base, cell) = ("/base-of-no-service", "cell-of-no-item")

    // Ranges in the prepared text of a kind. Why ranges: cells read the text without reference counting.

    private let head: Range<Int>
    private let path: Range<Int>
    private let tail: Range<Int>
    private let namesCell: Bool
    let needsViewer: Bool

    /// Returns nil if a command must create the action for each cell.
    init?(_ slot: CommandKey, _ macro: MacroCommand, appendedTo text: inout [UInt8]) {
        let speaker = macro.commands.first { !($0 is any ServerCommand) } ?? macro.clientCommand
        guard let request = speaker as? RequestCommand, request.namesCellAlone else { return nil }
        let context = CellContext(
            links: Links(base: Self.base), tokens: CellTokens(keys: SigningKeys(current: .random())), now: 0, hasViewer: true)
        let nothing = FeedItem(kind: "", id: "", variant: "", position: 0, body: [])
        guard let action = request.action(for: CommandSubject(cell: Self.cell, item: nothing, context: context)) else { return nil }
        var writer = JSONWriter(capacity: 256)
        writer.write(slot.rawValue)
        writer.raw(":")
        writer.write(action)
        let bytes = writer.bytes
        let (bases, cells) = (bytes.ranges(of: Self.base.utf8), bytes.ranges(of: Self.cell.utf8))
        guard bases.count == 1, cells.count <= 1, let start = bases.first?.upperBound, cells.allSatisfy({ $0.lowerBound > start }) else {
            return nil
        }
        let begin = text.count
        text += bytes
        head = begin..<begin + bases[0].lowerBound
        path = begin + start..<begin + (cells.first?.lowerBound ?? start)
        tail = begin + (cells.first?.upperBound ?? start)..<text.count
        namesCell = !cells.isEmpty
        needsViewer = macro.commands.contains { $0.needs.contains(.viewer) }
    }

    func write(to writer: inout JSONWriter, from text: [UInt8], base: String, cell: String, label: String?) {
        text.withUnsafeBufferPointer { text in
            writer.append(text[head])
            writer.writeCharacters(of: base)
            writer.append(text[path])
            if namesCell { writer.append(cell) }
            writer.append(text[tail])
        }
        if let label { writer.add(label: label) }
    }
}

protocol ServerCommand: Command {}

extension Analytics: ServerCommand {}
extension Present: ServerCommand {}
extension Save: ServerCommand {}
extension Dismiss: ServerCommand {}
extension ListRemoval: ServerCommand {}

extension RequestCommand {
    fileprivate var namesCellAlone: Bool {
        switch target {
        case .imageRequests: true
        case .slot(let slot): slot != .impression
        case .report: false
        }
    }
}
