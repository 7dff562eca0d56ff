internal import IntertwinePrimitives
internal import Synchronization

/// The JSON that all cells of one kind and size share: everything except the id and the bindings.
final class CellTemplate: Sendable {
    static let bare = CellTemplate(Array(#"{"id":"}"#.utf8), [(7, true), (7, false)], for: nil)

    let text: [UInt8]
    let gaps: [(offset: Int, isID: Bool)]
    let idCount: Int
    let digest: RenderedCell.Digest
    // The key of the template, for cells that have the same commands. All other text follows from these members.
    private let size: CellSize
    private let version: Int
    private let hasViewer: Bool
    private let language: UInt8
    private let identifier: String
    private let base: String

    private init(_ text: [UInt8], _ gaps: [(offset: Int, isID: Bool)], for viewModel: CellViewModel?) {
        self.text = text
        self.gaps = gaps
        size = viewModel?.size ?? CellSize(width: 0, height: 0)
        version = viewModel?.version ?? 0
        hasViewer = viewModel?.subject.context.hasViewer ?? false
        language = viewModel?.subject.context.language?.number ?? 0
        identifier = viewModel?.identifier ?? ""
        base = viewModel?.subject.context.links.base ?? ""
        idCount = gaps.count { $0.isID }
        digest = RenderedCell.Digest(of: gaps.reduce(text) { $0 + "\($1.isID ? "id" : "rest") at \($1.offset)\n".utf8 })
    }

    /// Why random: Content from outside must not be able to contain it.
    private static let dummyID = "cell-of-no-item-\(UInt64.random(in: 0...(.max)))"

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
        var gaps: [(offset: Int, isID: Bool)] = []
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

    final class TemplateTable: Sendable {
        /// A cell can have a different size for each client width, so the oldest template is then removed; cells that use it keep it.
        static let capacity = 128

        private let frames = Mutex<[CellTemplate]>([])

        var count: Int { frames.withLock { $0.count } }

        /// Returns the template of a cell; nil if its id is percent-encoded in paths.
        func template(around viewModel: CellViewModel) -> CellTemplate? {
            guard PercentCoding.isUnchanged(viewModel.id, .segment), viewModel.id == viewModel.subject.cell else { return nil }
            let known = frames.withLock { $0 }
            for index in known.indices where known[index].suits(viewModel) { return known[index] }
            let template = CellTemplate(around: viewModel)
            frames.withLock { frames in
                if frames.count >= Self.capacity { frames.removeFirst() }
                frames.append(template)
            }
            return template
        }
    }
}
