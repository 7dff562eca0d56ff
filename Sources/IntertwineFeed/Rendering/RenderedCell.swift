internal import IntertwinePrimitives
internal import Synchronization

/// The JSON of one cell, rendered once and reused while its item, the hour and its ``RenderKey`` stay the same.
/// Their offsets are recorded as token ranges, so the same bytes serve every page that shows the cell.
package final class RenderedCell: Sendable {
    /// The properties of a request that the JSON depends on, apart from item, configuration and hour. The members are ordered by size to
    /// avoid padding.
    struct RenderKey: Sendable, Equatable {
        var unsupportedCells: UInt64
        var slot: Int
        var scale: Int
        var width: Int?
        var layout: CellLayout
        var hasViewer: Bool
        var isOfPage: Bool
        var language: UInt8
        var disclosure: CellContext.Disclosure?

        init(_ context: CellContext) {
            layout = context.layout
            width = context.width
            scale = context.scale
            hasViewer = context.hasViewer
            slot = context.slot
            isOfPage = context.page != 0
            unsupportedCells = context.unsupportedCells?.digest ?? 0
            disclosure = context.disclosure
            language = context.language?.number ?? 0
        }

        var hash: UInt64 {
            let flags: UInt64 = (layout == .table ? 1 : 0) | (hasViewer ? 2 : 0) | (isOfPage ? 4 : 0)
            let screen = UInt64(truncatingIfNeeded: width ?? -1) << 3 ^ UInt64(truncatingIfNeeded: scale) << 24 ^ UInt64(language) << 26
            let hash = (flags | screen | UInt64(truncatingIfNeeded: slot) << 32) ^ unsupportedCells
            guard let disclosure else { return hash }
            return AdDecision.seed(disclosure.label ?? "", AdDecision.seed(disclosure.advertiser), hash)
        }
    }

    /// A digest of the JSON without its tokens: the first half of a SHA-256.
    struct Digest: Sendable {
        let halves: (UInt64, UInt64)

        init(of bytes: [UInt8]) { self.init(SHA256.hash(data: bytes)) }

        fileprivate init(_ template: CellTemplate, around content: UnsafeRawBufferPointer, id: Int, gaps: [TokenRange]) {
            var hash = SHA256()
            withUnsafeBytes(of: (template.digest.halves.0, template.digest.halves.1, UInt64(id))) { hash.update(bufferPointer: $0) }
            var start = 0
            for gap in gaps {
                hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: content[start..<gap.start]))
                let mark = UInt64(gap.start) << 1 | (gap.isOfClick ? 1 : 0)
                withUnsafeBytes(of: mark.littleEndian) { hash.update(bufferPointer: $0) }
                start = gap.end
            }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: content[start...]))
            self.init(hash.finalize())
        }

        private init(_ digest: SHA256Digest) {
            halves = digest.withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }
    }

    fileprivate typealias TokenRange = (start: Int, end: Int, isOfClick: Bool)

    typealias Tokens = (impression: String, click: String)

    // The members that every page reads come first and are adjacent, and only the bytes are stored elsewhere. Why: CPU cache misses are most
    // of the cost of a cached cell.

    /// Why one block of memory: Each page reads most of it.
    private let bytes: [UInt8]
    private let packed: RowLayout
    private let template: CellTemplate
    let renderKey: RenderKey
    private let hour: UInt32
    private let (idEnd, contentEnd): (Int32, Int32)
    private let page: UInt32?
    let hasPendingImageMetadata: Bool
    private let gaps: [TokenRange]
    let companions: [RenderedCell]
    let digest: Digest
    private let lastUse: Atomic<UInt64>
    private let compared: Atomic<UInt64>

    package let id: String
    package let identifier: String
    private let primary: String?
    let author: String?

    /// The initial capacity for JSON, in bytes.
    private static let usualLength = 2_048

    convenience init(of item: FeedItem, by factories: CellFactories, in context: CellContext, with writer: inout JSONWriter) throws {
        // The versions are read first, so metadata that arrives during rendering counts as newer.
        let known = context.links.known
        let learned = (known?.version ?? 0, known?.revision ?? 0)
        let first = try factories.makeViewModel(for: item, in: context)
        let companions = try factories.makeCompanions(for: item, in: context)
        guard context.page != 0 else {
            self.init(first, with: companions.map { RenderedCell($0) }, learned: learned, written: &writer)
            return
        }
        // A second rendering for another page shows the differences. If anything besides the tokens differs, the cell is valid for its own page
        // only.
        var other = context
        other.page = context.page == .max ? 1 : context.page + 1
        let twin = try factories.makeViewModel(for: item, in: other)
        let twins = try factories.makeCompanions(for: item, in: other)
        let rendered = zip(companions, twins).map { RenderedCell($0, $1) }
        let isOfPage = companions.count != twins.count || rendered.contains { $0.page != nil }
        self.init(first, twin, with: rendered, isOfPage: isOfPage, learned: learned, written: &writer)
    }

    convenience init(_ viewModel: CellViewModel, _ twin: CellViewModel? = nil) {
        var writer = JSONWriter(capacity: Self.usualLength)
        self.init(viewModel, twin, written: &writer)
    }

    private init(
        _ viewModel: CellViewModel, _ twin: CellViewModel? = nil, with companions: [RenderedCell] = [], isOfPage: Bool = false,
        learned: (version: UInt64, revision: UInt64) = (0, 0), written writer: inout JSONWriter
    ) {
        let context = viewModel.subject.context
        let configuration = viewModel.action(in: .configuration)
        writer.clear(capacity: Self.usualLength)
        // With a second rendering, the differences are searched in all of the JSON, so no template is used.
        if twin == nil, let configuration, let template = viewModel.commands.prepared?.templates?.template(around: viewModel) {
            self.template = template
            writer.append(viewModel.id)
            writer.writeConfiguration(of: viewModel, configuration)
            idEnd = Int32(viewModel.id.utf8.count)
        } else {
            template = .bare
            idEnd = Int32(writer.writeContent(of: viewModel, configuredBy: configuration))
        }
        let found = twin.map { Self.gaps(viewModel, writer.bytes, $0) } ?? []
        gaps = found ?? []
        digest = writer.bytes.withUnsafeBytes { [template, gaps, idEnd] in Digest(template, around: $0, id: Int(idEnd), gaps: gaps) }
        contentEnd = Int32(writer.bytes.count)
        packed = RowLayout(viewModel.subject.item)
        let lacksPlaceholder = Self.append(imagesOf: configuration, of: viewModel.subject.item, packed, to: &writer)
        hasPendingImageMetadata = lacksPlaceholder || companions.contains(where: \.hasPendingImageMetadata)
        bytes = packed.bytes(of: viewModel.subject.item, with: writer.bytes)
        (id, identifier, primary) = (viewModel.id, viewModel.identifier, viewModel.primary)
        author = viewModel.subject.author
        self.companions = companions
        lastUse = Atomic(learned.version)
        compared = Atomic(learned.revision)
        page = found == nil || isOfPage ? context.page : nil
        renderKey = RenderKey(context)
        hour = CellTokens.bucket(of: context.now)
    }

    private static func gaps(_ one: CellViewModel, _ bytes: [UInt8], _ other: CellViewModel) -> [TokenRange]? {
        var writer = JSONWriter(capacity: usualLength)
        writer.writeContent(of: other, configuredBy: other.action(in: .configuration))
        let others = writer.bytes
        let tokens = zip(one.tokens, other.tokens).map { (token: $0.text, other: $1.text, isOfClick: $0.isOfClick) }
        guard bytes.count == others.count, tokens.allSatisfy({ $0.token.count == $0.other.count }) else { return nil }
        // All tokens begin with the name of the signing key.
        guard let head = tokens.first?.token.first else { return nil }
        var gaps: [TokenRange] = []
        var filled = bytes
        var index = bytes.startIndex
        while index < bytes.count {
            let found =
                bytes[index] == head
                ? tokens.first { index + $0.token.count <= bytes.count && bytes[index..<index + $0.token.count].elementsEqual($0.token) }
                : nil
            guard let found else {
                index += 1
                continue
            }
            let end = index + found.token.count
            gaps.append((index, end, found.isOfClick))
            filled.replaceSubrange(index..<end, with: found.other)
            index = end
        }
        return filled == others ? gaps : nil
    }

    private static func append(
        imagesOf configuration: Action?, of item: FeedItem, _ packed: RowLayout, to writer: inout JSONWriter
    ) -> Bool {
        guard case .bind(let bindings)? = configuration else { return false }
        var lacksPlaceholder = false
        for index in bindings.indices {
            guard case .image(let image) = bindings[index].value, let source = image.source else { continue }
            lacksPlaceholder = lacksPlaceholder || image.placeholder == nil
            let range = packed.range(of: source, inBodyOf: item)
            writer.append(
                number: UInt64(UInt32(truncatingIfNeeded: range?.lowerBound ?? 0)) << 32 | UInt64(UInt32(clamping: source.utf8.count)))
            writer.append(number: placeholderDigest(of: image.placeholder))
            if range == nil { writer.append(source) }
        }
        return lacksPlaceholder
    }

    private static func placeholderDigest(of placeholder: ImagePlaceholder?) -> UInt64 {
        placeholder.map { UInt64(truncatingIfNeeded: $0.hashValue) | 1 } ?? 0
    }

    private func hasImage(where isWanted: (_ source: () -> String, _ digest: UInt64) -> Bool) -> Bool {
        let isFound = bytes.withUnsafeBytes { memory in
            var place = packed.end + Int(contentEnd)
            while place < memory.count {
                let position = memory.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                let digest = memory.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)
                place += 16
                let (inItem, length) = (Int(position >> 32), Int(position & 0xFFFF_FFFF))
                let start = inItem > 0 ? inItem : place
                if inItem == 0 { place += length }
                if isWanted({ String(decoding: memory[start..<start + length], as: UTF8.self) }, digest) { return true }
            }
            return false
        }
        return isFound || companions.contains { $0.hasImage(where: isWanted) }
    }

    /// True if the image metadata differs from that in the JSON, so that the cell must be rendered again.
    func isOvertaken(by known: (any ImageMetadataStore)?, _ revision: UInt64) -> Bool {
        guard let known else { return false }
        if compared.load(ordering: .relaxed) != revision {
            if hasImage(where: { Self.placeholderDigest(of: known.placeholder(of: $0())) != $1 }) { return true }
            compared.store(revision, ordering: .relaxed)
        }
        guard hasPendingImageMetadata else { return false }
        let version = known.version
        guard lastUse.load(ordering: .relaxed) != version else { return false }
        if hasImage(where: { $1 == 0 && known.placeholder(of: $0()) != nil }) { return true }
        lastUse.store(version, ordering: .relaxed)
        return false
    }

    func isGood(for row: ItemRow, in renderKey: RenderKey, hour: UInt32, page: UInt32) -> Bool {
        self.hour == hour && (self.page == nil || self.page == page) && self.renderKey == renderKey
            && withRow { row.isSame(as: $0) }
    }

    package var item: FeedItem { withRow(\.item) }

    func withRow<Value>(_ body: (ItemRow) -> Value) -> Value {
        bytes.withUnsafeBytes { body(packed.row(in: $0)) }
    }

    func tokens(in context: CellContext, impressionContext: () -> ImpressionContext?) -> Tokens {
        guard !gaps.isEmpty else { return ("", "") }
        let token = ImpressionToken(
            cell: id, slot: renderKey.slot, hour: CellTokens.bucket(of: context.now), page: context.page,
            impressionContext: impressionContext())
        return context.tokens.signed(
            token, asImpression: gaps.contains { !$0.isOfClick }, asClick: gaps.contains(where: \.isOfClick))
    }

    func write(to writer: inout JSONWriter, tokens: Tokens, _ state: CellState = [], repetition: Int = 1, reason: String? = nil) {
        // A companion or a repetition names the first cell of its item. Why: clients hide all cells of a dismissed item.
        let primary = primary ?? (repetition > 1 ? id : nil)
        let isWhole = primary == nil && state.isEmpty && reason == nil
        var repetition = repetition
        // Unsafe buffers are used because slices of the arrays would be retained and released for each piece.
        bytes.withUnsafeBufferPointer { memory in
            let content = UnsafeBufferPointer(rebasing: memory[packed.end..<packed.end + Int(contentEnd)])
            template.text.withUnsafeBufferPointer { text in
                var start = 0
                for (place, isID) in template.gaps {
                    writer.append(text[start..<place])
                    start = place
                    if isID {
                        writer.append(content[..<Int(idEnd)])
                        // Only the first occurrence of the id, in the member `id`, gets the number.
                        if repetition > 1 { writer.append("#\(repetition)") }
                        repetition = 1
                    } else {
                        write(content, to: &writer, tokens)
                    }
                }
                writer.append(isWhole ? text[start...] : text[start...].dropLast())
            }
        }
        if isWhole { return }
        if let primary { writer.write(primary: primary) }
        if let reason {
            writer.raw(#","reason":"#)
            writer.write(reason)
        }
        if !state.isEmpty { state.write(to: &writer) }
        writer.raw("}")
    }

    private func write(_ content: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter, _ tokens: Tokens) {
        var start = Int(idEnd)
        for gap in gaps {
            writer.append(content[start..<gap.start])
            writer.append(gap.isOfClick ? tokens.click : tokens.impression)
            start = gap.end
        }
        writer.append(content[start...])
    }

    /// The length of the JSON in bytes, without companions.
    var count: Int { template.text.count + template.idCount * Int(idEnd) + Int(contentEnd - idEnd) }

    /// The approximate memory use in bytes, including companions: the object, its arrays, its id and its cache entry.
    var size: Int {
        companions.reduce(384 + bytes.count + 24 * gaps.count + id.utf8.count + (primary?.utf8.count ?? 0)) { $0 + $1.size }
    }
}

extension CellViewModel {
    fileprivate var tokens: [(text: [UInt8], isOfClick: Bool)] {
        let context = subject.context
        return [(Array(context.impressionToken(of: id).utf8), false), (Array(context.clickToken(of: id).utf8), true)]
    }
}
