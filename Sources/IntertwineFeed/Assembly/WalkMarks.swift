internal import IntertwinePrimitives

/// How much content of each section a walk has met at the edge of a page, where placements count it.
struct ContentOffset: Hashable {
    struct Section: Hashable {
        var index: Int
        var count: Int64
    }

    /// Sections that are remembered; those further back are counted from their end when a walk comes back to them.
    private static let limit = 64

    /// Of the section in which the edge lies: items before it.
    var here: Int64
    /// Of sections before that one, in order.
    var before: [Section]

    init(here: Int64, before: [Section] = []) {
        self.here = here
        self.before = before.suffix(Self.limit)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(here)
        writer.write(UInt8(clamping: before.count))
        for section in before {
            writer.write(UInt16(clamping: section.index))
            writer.write(section.count)
        }
    }

    init?(_ reader: inout ByteReader) {
        guard let here = reader.readInt64(), let count = reader.readByte(), Int(count) <= Self.limit else { return nil }
        var before: [Section] = []
        for _ in 0..<count {
            guard let index = reader.readUInt16(), let count = reader.readInt64() else { return nil }
            before.append(Section(index: Int(index), count: count))
        }
        self.init(here: here, before: before)
    }
}

/// The counts of one page: where each of its stretches begins, and what the cursors beside it carry.
struct PageOffsets {
    private let cursor: PageCursor?
    /// By section.
    private var starts: [Int: Int64] = [:]
    private var ends: [Int: Int64] = [:]

    /// - Parameter stretches: the sections of the page's content, with how much each has.
    init(of stretches: [(section: Int, range: Range<Int>)], cursor: PageCursor?) {
        self.cursor = cursor
        guard let cursor, let counts = cursor.offsets else {
            for (section, range) in stretches { record(section, start: 0, count: range.count) }
            return
        }
        for section in counts.before { ends[section.index] = section.count }
        switch cursor.direction {
        case .forward:
            ends[cursor.position.section] = counts.here
            for (section, range) in stretches {
                record(section, start: section == cursor.position.section ? counts.here : 0, count: range.count)
            }
        case .backward:
            for (section, range) in stretches {
                let end = section == cursor.position.section ? counts.here : ends[section] ?? Int64(range.count)
                record(section, start: end.subtractingReportingOverflow(Int64(range.count)).partialValue, count: range.count)
            }
        }
    }

    private mutating func record(_ section: Int, start: Int64, count: Int) {
        starts[section] = start
        ends[section] = start.addingReportingOverflow(Int64(count)).partialValue
    }

    func start(of section: Int) -> Int64 { starts[section] ?? 0 }

    /// For the cursor of a page that begins behind a place of this page.
    func after(_ section: Int) -> ContentOffset {
        ContentOffset(here: ends[section] ?? cursor?.offsets?.here ?? 0, before: sections(before: section))
    }

    /// For the cursor of a page that ends in front of a place of this page.
    func before(_ section: Int) -> ContentOffset {
        ContentOffset(here: starts[section] ?? cursor?.offsets?.here ?? 0, before: sections(before: section))
    }

    private func sections(before section: Int) -> [ContentOffset.Section] {
        ends.filter { $0.key < section }.map { ContentOffset.Section(index: $0.key, count: $0.value) }.sorted { $0.index < $1.index }
    }
}
