/// The rotation continues after the position of an advertisement, not after a count. It therefore stays in step if advertisements are added
/// or deleted, and works in both directions.
final class HouseAds: AdSource {
    static let unknownLimit = 64

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

    func prefetch(for session: inout PageSession) throws {
        let rotation = rotation(of: session)
        // A page in the middle of a session may be the first one since the store changed. Unless their stream is known to hold nothing else,
        // advertisements are read type by type.
        guard !rotating.isEmpty else {
            session.houseAds = rotation.inventory(at: session.version)
            return
        }
        let inventory = try rotation.inventory(at: session.version, in: session.snapshot, of: session.store)
        session.houseAds = inventory
        if session.cursor == nil, isFair, let hour = session.request.rotationHour {
            let seed = RotationSeed(viewer: session.client.viewer?.name, hour: hour)
            session.rotation = rotation.offset(seed, of: inventory)
        }
        if session.targeting == nil, inventory.ownsStream, !inventory.isEmpty { announce(inventory, for: session) }
    }

    private func announce(_ inventory: HouseAdInventory, for session: PageSession) {
        guard sections.indices.count == 1, sections.reader(of: 0) == nil, session.ranked == nil, session.direction == .forward,
            case .rotating(let count) = sections.placement(in: 0).supply, count > 0
        else { return }
        let first = RowQuery(.stream(.advertisements), limit: count)
        var queries = [first]
        if let rotation = session.rotation {
            queries[0].anchor = SortPosition(position: rotation)
            if inventory.ends(within: count, after: rotation) { queries.append(first) }
        }
        session.snapshot.prefetch(queries, isComplete: !session.maySkipContent)
    }

    func fill(_ slots: inout AdSlots, for session: PageSession) throws {
        let reader = HouseAdReader(of: rotation(of: session).types, in: slots.context, for: session)
        try rotate(reader, into: &slots, for: session)
    }

    /// Only as many advertisements are read as there are empty slots, so that the rotation continues after the last one shown.
    private func rotate(_ reader: HouseAdReader, into slots: inout AdSlots, for session: PageSession) throws {
        var (reader, rotation, count) = (reader, session.rotation, slots.emptyCount)
        // Later pages may have a slot for the first house ad, which comes after the last one.
        if session.cursor == nil, rotation == nil, count == 0, !rotating.isEmpty {
            rotation = try reader.next(1, .backward, of: nil).first?.position.item.position
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
            slots.rotation = (shown.first, shown.last)
        } else if let rotation {
            // A page without house ads lies between two of the rotation. The mark is the one already passed in reading direction:
            // forward it stays the mark, backward the one on the other side becomes the mark.
            let other = try reader.next(1, session.direction, of: rotation).first?.position.item.position ?? rotation
            slots.rotation = session.direction == .forward ? (other, rotation) : (rotation, other)
        }
        if session.targeting == nil { slots.respaceRotation() }
    }
}

/// A reader of house ads for one page, which starts again at the first one after the last.
private struct HouseAdReader {
    private let stream: AdStream
    private let isEmpty: Bool
    private var renderer: CellRenderer

    init(of types: [ItemType], in context: CellContext, for session: PageSession) {
        stream = AdStream(snapshot: session.snapshot, types: types, ownsStream: session.houseAds?.ownsStream ?? false)
        isEmpty = session.houseAds?.isEmpty ?? false
        renderer = session.houseAdRenderer(in: context)
    }

    var omissions: [FeedPage.SkippedItem] { renderer.omissions }

    mutating func next(
        _ count: Int, _ direction: PageDirection, of start: Int64?, repeating isRepeating: Bool = false
    ) throws -> [CellRenderer.PlacedCell] {
        // Without house ads nothing has to be read.
        guard count > 0, !isEmpty else { return [] }
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
