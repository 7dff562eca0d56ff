internal import IntertwinePrimitives

/// The rotation continues after the position of an advertisement, not after a count. It therefore stays in step if advertisements are added
/// or deleted, and works in both directions.
final class HouseAds: AdSource {
    static let unknownLimit = 64

    let name = "h"
    private let sections: FeedSections
    private let isFair: Bool
    private let rotations: [CellLayout: HouseAdRotation]
    private let rotating: [Int]

    init(in sections: FeedSections, factories: CellFactories, isFair: Bool) {
        (self.sections, self.isFair) = (sections, isFair)
        rotations = Dictionary(
            uniqueKeysWithValues: CellLayout.allCases.map { ($0, HouseAdRotation(types: factories.advertisementForms(in: $0))) })
        rotating = sections.members { $0.fillsSlots }
    }

    private func rotation(of session: PageSession) -> HouseAdRotation { rotations[session.request.layout] ?? HouseAdRotation(types: []) }

    func begin(_ slots: inout AdSlots) throws {
        slots.source = name
        let session = slots.session
        let rotation = rotation(of: session)
        var mark = session.cursor.flatMap { _ in Self.mark(slots.state) }
        // A page in the middle of a session may be the first one since the store changed. Unless their positions are known, advertisements are
        // read type by type.
        var inventory = rotation.inventory(at: session.version)
        if !rotating.isEmpty {
            let found = try rotation.inventory(at: session.version, in: session.snapshot, of: session.store)
            if session.cursor == nil, isFair, let hour = session.request.rotationHour {
                mark = rotation.offset(of: session.client.viewer?.name, hour: hour, in: found)
            }
            if slots.viewed == nil, found.ownsStream, !found.isEmpty { announce(found, from: mark, for: session) }
            inventory = found
        }
        slots.houseAds = (inventory, mark)
    }

    private static func mark(_ state: [UInt8]) -> Int64? {
        var reader = ByteReader(state)
        return reader.readInt64()
    }

    private static func leave(_ mark: Int64, towards direction: PageDirection, in slots: inout AdSlots) {
        var writer = ByteWriter(capacity: 8)
        writer.write(mark)
        slots.leave(writer.bytes, towards: direction)
    }

    private func announce(_ inventory: HouseAdInventory, from mark: Int64?, for session: PageSession) {
        guard sections.indices.count == 1, sections.reader(of: 0) == nil, session.ranked == nil, session.direction == .forward,
            case .rotating(let count) = sections.placement(in: 0).supply, count > 0
        else { return }
        var queries: [RowQuery] = []
        inventory.forEachRead(.forward, of: mark, limit: count) { query, _ in queries.append(query) }
        if let mark, inventory.ends(within: count, after: mark) {
            inventory.forEachRead(.forward, of: nil, limit: count) { query, _ in queries.append(query) }
        }
        session.snapshot.prefetch(queries, isComplete: !session.maySkipContent)
    }

    /// Only as many advertisements are read as there are empty slots, so that the rotation continues after the last one shown.
    func fill(_ slots: inout AdSlots) throws {
        let (session, (inventory, mark)) = (slots.session, slots.houseAds)
        var reader = HouseAdReader(of: rotation(of: session).types, inventory, in: slots.context, for: session)
        var (rotation, count) = (mark, slots.emptyCount)
        // Later pages may have a slot for the first house ad, which comes after the last one.
        if session.cursor == nil, rotation == nil, count == 0, !rotating.isEmpty {
            rotation = try reader.mark(.backward, of: nil)
        }
        let repeats = slots.blocks.contains { $0.placement.supply == .perSlot }
        let cells = try reader.next(count, session.direction, of: rotation, repeating: repeats)
        // Advertisements that the client cannot show are skipped. One is reported as skipped only if a slot stays empty because of it.
        count -= cells.count
        slots.omissions += reader.omissions.filter { omission in
            guard omission.reason.lack != nil else { return true }
            count -= 1
            return count >= 0
        }
        if let shown = slots.fillEmpty(with: cells) {
            Self.leave(shown.first, towards: .backward, in: &slots)
            Self.leave(shown.last, towards: .forward, in: &slots)
        } else if let rotation {
            // A page without house ads lies between two of the rotation. The mark is the one already passed in reading direction:
            // forward it stays the mark, backward the one on the other side becomes the mark.
            let other = try reader.mark(session.direction, of: rotation) ?? rotation
            Self.leave(session.direction == .forward ? other : rotation, towards: .backward, in: &slots)
            Self.leave(session.direction == .forward ? rotation : other, towards: .forward, in: &slots)
        }
        if slots.targeting == nil { slots.respaceRotation() }
    }
}

/// A reader of house ads for one page, which starts again at the first one after the last.
private struct HouseAdReader {
    private let stream: AdStream
    private let inventory: HouseAdInventory?
    private var renderer: CellRenderer

    init(of types: [ItemType], _ inventory: HouseAdInventory?, in context: CellContext, for session: PageSession) {
        stream = AdStream(snapshot: session.snapshot, types: types, inventory: inventory)
        self.inventory = inventory
        renderer = session.houseAdRenderer(in: context)
    }

    var omissions: [FeedPage.SkippedItem] { renderer.omissions }

    /// Returns the position of the next house ad. Why: campaigns may have many ads before it, so it is read only if it is not known.
    mutating func mark(_ direction: PageDirection, of start: Int64?) throws -> Int64? {
        if let inventory, inventory.isKnown { return inventory.next(direction, of: start) }
        return try next(1, direction, of: start).first?.position.item.position
    }

    mutating func next(
        _ count: Int, _ direction: PageDirection, of start: Int64?, repeating isRepeating: Bool = false
    ) throws -> [CellRenderer.PlacedCell] {
        // Without house ads nothing has to be read.
        guard count > 0, inventory?.isEmpty != true else { return [] }
        let stream = stream
        var cells = try renderer.cells(count, from: start.map { SortPosition(position: $0) }) {
            try stream.visit(direction, of: $0?.position, limit: $1, $2)
        }
        if let start, cells.count < count {
            // Continue at the other end, up to the mark, which is the last advertisement that has not been read.
            cells += try renderer.cells(count - cells.count, from: nil) { anchor, limit, body in
                try stream.visit(direction, of: anchor?.position, limit: limit) { row in
                    if direction == .forward ? row.position <= start : row.position >= start { try body(row) }
                }
            }
        }
        if isRepeating, !cells.isEmpty, cells.count < count {
            let all = cells
            while cells.count < count { cells += all.prefix(count - cells.count) }
        }
        if direction == .backward { cells.reverse() }
        return cells
    }
}
