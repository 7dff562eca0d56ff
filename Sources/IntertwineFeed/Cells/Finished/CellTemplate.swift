internal import IntertwinePrimitives
internal import Synchronization

/// What is written around that which a finished cell keeps: its id, and the rest.
///
/// All cells of a kind that are of one size tell the same of their slots, but for their ids. That text is kept once, and each of them keeps what
/// fills it alone.
final class CellTemplate: Sendable {
    /// Around a cell that keeps all of its JSON.
    static let bare = CellTemplate(Array(#"{"id":"}"#.utf8), [(7, true), (7, false)], for: nil)

    /// It ends with the brace at the cell's end.
    let text: [UInt8]
    /// Where something is put into the text: the cell's id, as it stands in paths and in JSON alike, or the rest of what it keeps.
    let gaps: [(place: Int, isID: Bool)]
    /// How often the id stands there.
    let idCount: Int
    let digest: RenderedCell.Digest
    // What all else in it follows from, for cells that have the same commands.
    private let size: CellSize
    private let version: Int
    private let hasViewer: Bool
    private let language: UInt8
    private let identifier: String
    private let base: String

    private init(_ text: [UInt8], _ gaps: [(place: Int, isID: Bool)], for viewModel: CellViewModel?) {
        self.text = text
        self.gaps = gaps
        size = viewModel?.size ?? CellSize(width: 0, height: 0)
        version = viewModel?.version ?? 0
        hasViewer = viewModel?.subject.context.hasViewer ?? false
        language = viewModel?.subject.context.language?.number ?? 0
        identifier = viewModel?.identifier ?? ""
        base = viewModel?.subject.context.links.base ?? ""
        idCount = gaps.count { $0.isID }
        digest = RenderedCell.Digest(of: gaps.reduce(text) { $0 + "\($1.isID ? "id" : "rest") at \($1.place)\n".utf8 })
    }

    /// Stands for ids where nobody knows it, who could put it into what is configured.
    private static let dummyID = "cell-of-no-item-\(UInt64.random(in: 0...(.max)))"

    /// - Parameter viewModel: of one of the cells. All of its slots besides the configuration are prepared.
    private convenience init(around viewModel: CellViewModel) {
        var viewModel = viewModel
        viewModel.id = Self.dummyID
        viewModel.subject.cell = Self.dummyID
        var writer = JSONWriter(capacity: 1_024)
        writer.raw(#"{"id":""#)
        writer.append(Self.dummyID)
        writer.writeHead(of: viewModel)
        let middle = writer.bytes.count
        writer.writeSlots(of: viewModel, isFirst: false)
        writer.raw("}")
        let ids = writer.bytes.ranges(of: Self.dummyID.utf8)
        var text: [UInt8] = []
        var gaps: [(place: Int, isID: Bool)] = []
        var start = 0
        for range in (ids + [middle..<middle]).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            text += writer.bytes[start..<range.lowerBound]
            gaps.append((text.count, !range.isEmpty))
            start = range.upperBound
        }
        self.init(text + writer.bytes[start...], gaps, for: viewModel)
    }

    private func suits(_ viewModel: CellViewModel) -> Bool {
        size == viewModel.size && version == viewModel.version && hasViewer == viewModel.subject.context.hasViewer
            && language == viewModel.subject.context.language?.number ?? 0 && identifier == viewModel.identifier
            && base == viewModel.subject.context.links.base
    }

    /// The frames of cells that have the same commands. Each new cell asks for one, on several threads at once: none of them waits for another.
    final class TemplateTable: Sendable {
        /// A cell may have another size for each width of its clients: where there are so many, others keep all of their JSON.
        private static let capacity = 128

        private final class List: Sendable {
            let frames: [CellTemplate]

            init(_ frames: [CellTemplate]) { self.frames = frames }
        }

        /// All that there were: whoever reads one may do so for as long as it likes.
        private let lists: Mutex<[List]>
        private let current: Atomic<Unmanaged<List>>

        init() {
            let none = List([])
            lists = Mutex([none])
            current = Atomic(Unmanaged.passUnretained(none))
        }

        /// What is written around a cell; nil where its id is spelled differently in paths, and where there are too many frames.
        func frame(around viewModel: CellViewModel) -> CellTemplate? {
            guard PercentCoding.keeps(viewModel.id, .segment), viewModel.id == viewModel.subject.cell else { return nil }
            let known = current.load(ordering: .acquiring)._withUnsafeGuaranteedRef { Self.frame(around: viewModel, in: $0.frames) }
            return known ?? makeFrame(around: viewModel)
        }

        private static func frame(around viewModel: CellViewModel, in frames: [CellTemplate]) -> CellTemplate? {
            for index in frames.indices where frames[index].suits(viewModel) { return frames[index] }
            return nil
        }

        private func makeFrame(around viewModel: CellViewModel) -> CellTemplate? {
            lists.withLock { lists in
                let frames = lists.last?.frames ?? []
                // Another thread may have made it meanwhile.
                if let frame = Self.frame(around: viewModel, in: frames) { return frame }
                guard frames.count < Self.capacity else { return nil }
                let frame = CellTemplate(around: viewModel)
                let list = List(frames + [frame])
                lists.append(list)
                current.store(Unmanaged.passUnretained(list), ordering: .releasing)
                return frame
            }
        }
    }
}
