/// What a client is told of a slot whose request names the cell and nothing else of it: as JSON, with all but the id made when the service
/// starts.
///
/// It is cut out of what the command tells of a cell that there is not, so that how requests look is said in one place, by
/// ``RequestCommand/action(for:)``.
final class PreparedRequest: Sendable {
    private static let (base, cell) = ("/base-of-no-service", "cell-of-no-item")

    /// From the slot's name to where hrefs begin.
    private let head: [UInt8]
    /// From there to the cell's id; empty where it is not named.
    private let path: [UInt8]
    /// To the closing brace.
    private let tail: [UInt8]
    private let namesCell: Bool
    /// Whether it is offered to those alone who have a viewer.
    let needsViewer: Bool

    /// Nil where what is told has to be asked of a command for each cell.
    ///
    /// - Parameters:
    ///   - commands: of the slot, of which the first that has something to tell speaks.
    ///   - face: speaks where none has.
    init?(_ slot: CommandKey, _ commands: [any Command], face: RequestCommand) {
        let speaker = commands.first { !($0 is any SilentCommand) } ?? face
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
        head = Array(bytes[..<bases[0].lowerBound])
        path = Array(bytes[start..<(cells.first?.lowerBound ?? start)])
        tail = Array(bytes[(cells.first?.upperBound ?? start)...])
        namesCell = !cells.isEmpty
        needsViewer = commands.contains { $0.needs.contains(.viewer) }
    }

    /// - Parameters:
    ///   - cell: its id, as it stands in paths.
    ///   - label: as for ``JSONWriter/write(_:label:)``.
    func write(to writer: inout JSONWriter, links: Links, cell: String, label: String?) {
        writer.append(head)
        writer.writeCharacters(of: links.base)
        writer.append(path)
        if namesCell { writer.append(cell) }
        writer.append(tail)
        if let label { writer.add(label: label) }
    }
}

/// A command of the product that has nothing to tell clients, whatever the cell.
protocol SilentCommand: Command {}

extension AnalyticsCommand: SilentCommand {}
extension PresentCommand: SilentCommand {}
extension DismissCommand: SilentCommand {}
extension SaveCommand: SilentCommand {}
extension RestoreCommand: SilentCommand {}
extension UnsaveCommand: SilentCommand {}

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
