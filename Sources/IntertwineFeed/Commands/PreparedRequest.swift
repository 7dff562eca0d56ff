/// What a client is told of a slot whose request names the cell and nothing else of it: as JSON, with all but the id made when the service
/// starts.
///
/// It is cut out of what the command tells of a cell that there is not, so that how requests look is said in one place, by
/// ``RequestCommand/action(for:)``.
struct PreparedRequest: Sendable {
    private static let (base, cell) = ("/base-of-no-service", "cell-of-no-item")

    // Places in the text of all that is prepared for a kind: cells read them without counting references.

    /// From the slot's name to where hrefs begin.
    private let head: Range<Int>
    /// From there to the cell's id; empty where it is not named.
    private let path: Range<Int>
    /// To the closing brace.
    private let tail: Range<Int>
    private let namesCell: Bool
    /// Whether it is offered to those alone who have a viewer.
    let needsViewer: Bool

    /// Nil where what is told has to be asked of a command for each cell.
    ///
    /// - Parameters:
    ///   - commands: of the slot, of which the first that has something to tell speaks.
    ///   - face: speaks where none has.
    ///   - text: of all that is prepared for the cells of a kind.
    init?(_ slot: CommandKey, _ commands: [any Command], face: RequestCommand, appendedTo text: inout [UInt8]) {
        let speaker = commands.first { !($0 is any ConstantActionCommand) } ?? face
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
        needsViewer = commands.contains { $0.needs.contains(.viewer) }
    }

    /// - Parameters:
    ///   - text: that it was appended to.
    ///   - cell: its id, as it stands in paths.
    ///   - label: as for ``JSONWriter/write(_:label:)``.
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

/// A command of the product that has nothing to tell clients, whatever the cell.
protocol ConstantActionCommand: Command {}

extension AnalyticsCommand: ConstantActionCommand {}
extension PresentCommand: ConstantActionCommand {}
extension DismissCommand: ConstantActionCommand {}
extension SaveCommand: ConstantActionCommand {}
extension RestoreCommand: ConstantActionCommand {}
extension UnsaveCommand: ConstantActionCommand {}

extension RequestCommand {
    /// Whether what it tells depends on nothing else of the cell than its id.
    fileprivate var namesCellAlone: Bool {
        switch target {
        case .imageRequests: true
        case .slot(let slot): slot != .impression
        case .report: false
        }
    }
}
