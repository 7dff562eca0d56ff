internal import IntertwinePrimitives

/// The number of content items of each section that a pagination session has passed at the edge of a page, if placements count content.
struct ContentOffset: Hashable {
    struct Section: Hashable {
        var index: Int
        var count: Int64
    }

    private static let limit = 64

    var here: Int64
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

struct PageOffsets {
    private let cursor: PageCursor?
    private var starts: [Int: Int64] = [:]
    private var ends: [Int: Int64] = [:]

    init(of content: PageContent, cursor: PageCursor?) {
        self.cursor = cursor
        let offsets = cursor?.offsets
        for section in offsets?.before ?? [] { ends[section.index] = section.count }
        if let cursor, let offsets, cursor.direction == .forward { ends[cursor.position.section] = offsets.here }
        content.forEachRange { section, range in
            guard let cursor, let offsets else { return record(section, start: 0, count: range.count) }
            switch cursor.direction {
            case .forward: record(section, start: section == cursor.position.section ? offsets.here : 0, count: range.count)
            case .backward:
                let end = section == cursor.position.section ? offsets.here : ends[section] ?? Int64(range.count)
                record(section, start: end.subtractingReportingOverflow(Int64(range.count)).partialValue, count: range.count)
            }
        }
    }

    private mutating func record(_ section: Int, start: Int64, count: Int) {
        starts[section] = start
        ends[section] = start.addingReportingOverflow(Int64(count)).partialValue
    }

    func start(of section: Int) -> Int64 { starts[section] ?? 0 }

    func after(_ section: Int) -> ContentOffset {
        ContentOffset(here: ends[section] ?? cursor?.offsets?.here ?? 0, before: sections(before: section))
    }

    func before(_ section: Int) -> ContentOffset {
        ContentOffset(here: starts[section] ?? cursor?.offsets?.here ?? 0, before: sections(before: section))
    }

    private func sections(before section: Int) -> [ContentOffset.Section] {
        ends.filter { $0.key < section }.map { ContentOffset.Section(index: $0.key, count: $0.value) }.sorted { $0.index < $1.index }
    }
}
