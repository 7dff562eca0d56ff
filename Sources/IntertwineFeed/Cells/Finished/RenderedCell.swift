internal import Crypto
internal import Synchronization

/// A cell as clients get it: the bytes of its JSON, made once for as long as its item, the hour and what it was made under stay the same.
///
/// Of all that a cell tells, only the tokens of its impression and of its link differ from page to page. Where they stand is noted, so that
/// the same bytes serve every page that shows the cell.
package final class RenderedCell: Sendable {
    /// What the bytes depend on besides the item, the configuration and the hour. The longest members stand first, so that nothing lies between
    /// them that is of no use.
    struct RenderKey: Sendable, Equatable {
        /// ``UnsupportedCells/digest``; 0 where the client knows all cells.
        var lacking: UInt64
        /// The index within the page's advertisements; 0 for content.
        var slot: Int
        var scale: Int
        var width: Int?
        var layout: CellLayout
        var hasViewer: Bool
        /// Whether tokens name the page.
        var isOfPage: Bool
        /// ``FeedLanguage/number``; 0 where there are none.
        var language: UInt8
        var disclosure: Campaign.Disclosure?

        init(_ context: CellContext) {
            layout = context.layout
            width = context.width
            scale = context.scale
            hasViewer = context.hasViewer
            slot = context.slot
            isOfPage = context.page != 0
            lacking = context.lacking?.digest ?? 0
            disclosure = context.disclosure
            language = context.language?.number ?? 0
        }

        /// All of it in one number, which others may share.
        var hash: UInt64 {
            let flags: UInt64 = (layout == .table ? 1 : 0) | (hasViewer ? 2 : 0) | (isOfPage ? 4 : 0)
            let screen = UInt64(truncatingIfNeeded: width ?? -1) << 3 ^ UInt64(truncatingIfNeeded: scale) << 24 ^ UInt64(language) << 26
            let hash = (flags | screen | UInt64(truncatingIfNeeded: slot) << 32) ^ lacking
            guard let disclosure else { return hash }
            return AdDecision.seed(disclosure.label, AdDecision.seed(disclosure.advertiser), hash)
        }
    }

    /// Tells a cell's bytes from all others, whatever stands in the gaps: half of a SHA-256.
    struct Digest: Sendable {
        let halves: (UInt64, UInt64)

        init(of bytes: [UInt8]) { self.init(SHA256.hash(data: bytes)) }

        /// - Parameters:
        ///   - content: what the frame is around.
        ///   - id: bytes of it that are the id.
        fileprivate init(_ frame: CellTemplate, around content: UnsafeRawBufferPointer, id: Int, gaps: [TokenRange]) {
            var hash = SHA256()
            withUnsafeBytes(of: (frame.digest.halves.0, frame.digest.halves.1, UInt64(id))) { hash.update(bufferPointer: $0) }
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

        private init(_ digest: SHA256.Digest) {
            halves = digest.withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }
    }

    /// Where a token stands that differs from page to page.
    fileprivate struct TokenRange: Sendable {
        var start: Int
        var end: Int
        /// Whether it is the token of the link, and not that of the impression.
        var isOfClick: Bool
    }

    /// What fills a cell's gaps on one page.
    struct Tokens: Sendable {
        fileprivate(set) var impression = ""
        fileprivate(set) var click = ""
    }

    // What each page reads of a cell stands first and close together, and nothing of it lies elsewhere but the bytes: most of what a finished
    // cell costs is that it lies in no cache.

    /// What the cell was made of; behind it its id and the rest of what is put into its frame; behind those its pictures. One stretch of memory, as each
    /// page reads most of it.
    private let bytes: [UInt8]
    private let packed: RowLayout
    private let frame: CellTemplate
    let circumstances: RenderKey
    private let hour: UInt32
    /// Where its parts end in the memory.
    private let (idEnd, contentEnd): (Int32, Int32)
    /// The only page that the bytes are right for; nil where it is any.
    private let page: UInt32?
    /// Whether it has a picture that nothing was known of when it was made.
    let hasPendingImageMetadata: Bool
    /// In what is put into the frame.
    private let gaps: [TokenRange]
    /// They stand behind it.
    let companions: [RenderedCell]
    let digest: Digest
    /// When its awaited pictures were last asked about, as ``ImageMetadataStore/version`` counts.
    private let asked: Atomic<UInt64>
    /// And when all of them, as ``ImageMetadataStore/revision`` counts.
    private let compared: Atomic<UInt64>

    public let id: String
    public let identifier: String

    /// Bytes of JSON that hardly any cell exceeds.
    private static let usualLength = 2_048

    /// - Parameter writer: where its JSON may be written, to be copied when it is known how long that is.
    /// - Throws: what the factories throw.
    convenience init(of item: FeedItem, by factories: CellFactories, in context: CellContext, with writer: inout JSONWriter) throws {
        // Asked for first: what is learned while it is made counts as later.
        let known = context.links.known
        let learned = (known?.version ?? 0, known?.revision ?? 0)
        let first = try factories.makeViewModel(for: item, in: context)
        let companions = try factories.makeCompanions(for: item, in: context)
        guard context.page != 0 else {
            self.init(first, with: companions.map { RenderedCell($0) }, learned: learned, written: &writer)
            return
        }
        // A second time as on another page: what differs beside the tokens is right for this page alone.
        var other = context
        other.page = context.page == .max ? 1 : context.page + 1
        let twin = try factories.makeViewModel(for: item, in: other)
        let twins = try factories.makeCompanions(for: item, in: other)
        let finished = zip(companions, twins).map { RenderedCell($0, $1) }
        let isOfPage = companions.count != twins.count || finished.contains { $0.page != nil }
        self.init(first, twin, with: finished, isOfPage: isOfPage, learned: learned, written: &writer)
    }

    /// A cell that is good for the page it was made for, or the companion of another.
    ///
    /// - Parameter twin: the same as on another page; nil where no page differs from others.
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
        // What differs from page to page is looked for in all of its JSON.
        if twin == nil, let configuration, let frame = viewModel.commands.frames?.frame(around: viewModel) {
            self.frame = frame
            writer.append(viewModel.id)
            writer.writeConfiguration(of: viewModel, configuration)
            idEnd = Int32(viewModel.id.utf8.count)
        } else {
            frame = .bare
            idEnd = Int32(writer.writeContent(of: viewModel, configuredBy: configuration))
        }
        let found = twin.map { Self.gaps(viewModel, writer.bytes, $0) } ?? []
        gaps = found ?? []
        digest = writer.bytes.withUnsafeBytes { [frame, gaps, idEnd] in Digest(frame, around: $0, id: Int(idEnd), gaps: gaps) }
        contentEnd = Int32(writer.bytes.count)
        packed = RowLayout(viewModel.subject.item)
        let lacksLooks = Self.append(imagesOf: configuration, of: viewModel.subject.item, packed, to: &writer)
        hasPendingImageMetadata = lacksLooks || companions.contains(where: \.hasPendingImageMetadata)
        bytes = packed.bytes(of: viewModel.subject.item, with: writer.bytes)
        (id, identifier) = (viewModel.id, viewModel.identifier)
        self.companions = companions
        asked = Atomic(learned.version)
        compared = Atomic(learned.revision)
        page = found == nil || isOfPage ? context.page : nil
        circumstances = RenderKey(context)
        hour = CellTokens.bucket(of: context.now)
    }

    /// Where the tokens of impression and link stand in the cell's JSON; nil where something else differs from page to page too.
    ///
    /// - Parameter bytes: the JSON of one, as it is put into its frame.
    private static func gaps(_ one: CellViewModel, _ bytes: [UInt8], _ other: CellViewModel) -> [TokenRange]? {
        var writer = JSONWriter(capacity: usualLength)
        writer.writeContent(of: other, configuredBy: other.action(in: .configuration))
        let others = writer.bytes
        let tokens = zip(one.tokens, other.tokens).map { (token: $0.text, other: $1.text, isOfClick: $0.isOfClick) }
        guard bytes.count == others.count, tokens.allSatisfy({ $0.token.count == $0.other.count }) else { return nil }
        // All tokens begin with the name of the key.
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
            gaps.append(TokenRange(start: index, end: end, isOfClick: found.isOfClick))
            filled.replaceSubrange(index..<end, with: found.other)
            index = end
        }
        return filled == others ? gaps : nil
    }

    /// Notes the pictures that a cell is filled with, where something is known of them, or may be: where in the memory the source stands, how long
    /// it is, and what stands for its looks. Behind that stands the source, where it does not stand in the item.
    ///
    /// - Returns: whether nothing was known of one.
    private static func append(
        imagesOf configuration: Action?, of item: FeedItem, _ packed: RowLayout, to writer: inout JSONWriter
    ) -> Bool {
        guard case .bind(let bindings)? = configuration else { return false }
        var lacksLooks = false
        for index in bindings.indices {
            guard case .image(let picture) = bindings[index].value, let source = picture.source else { continue }
            lacksLooks = lacksLooks || picture.placeholder == nil
            let range = packed.range(of: source, inBodyOf: item)
            writer.append(
                number: UInt64(UInt32(truncatingIfNeeded: range?.lowerBound ?? 0)) << 32 | UInt64(UInt32(clamping: source.utf8.count)))
            writer.append(number: placeholderDigest(of: picture.placeholder))
            if range == nil { writer.append(source) }
        }
        return lacksLooks
    }

    /// Stands for what is known of a picture, in this process; 0 where that is nothing.
    private static func placeholderDigest(of looks: ImagePlaceholder?) -> UInt64 {
        looks.map { UInt64(truncatingIfNeeded: $0.hashValue) | 1 } ?? 0
    }

    /// Asks about its pictures, and those of its companions, until the answer is yes.
    private func hasImage(where isWanted: (_ source: () -> String, _ looks: UInt64) -> Bool) -> Bool {
        let isFound = bytes.withUnsafeBytes { memory in
            var place = packed.end + Int(contentEnd)
            while place < memory.count {
                let position = memory.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                let looks = memory.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)
                place += 16
                let (inItem, length) = (Int(position >> 32), Int(position & 0xFFFF_FFFF))
                let start = inItem > 0 ? inItem : place
                if inItem == 0 { place += length }
                if isWanted({ String(decoding: memory[start..<start + length], as: UTF8.self) }, looks) { return true }
            }
            return false
        }
        return isFound || companions.contains { $0.hasImage(where: isWanted) }
    }

    /// Whether something else is known of its pictures than when it was made.
    ///
    /// - Parameter revision: what is known, as ``ImageMetadataStore/revision`` counts.
    func isOvertaken(by known: (any ImageMetadataStore)?, _ revision: UInt64) -> Bool {
        guard let known else { return false }
        if compared.load(ordering: .relaxed) != revision {
            if hasImage(where: { Self.placeholderDigest(of: known.placeholder(of: $0())) != $1 }) { return true }
            compared.store(revision, ordering: .relaxed)
        }
        guard hasPendingImageMetadata else { return false }
        let version = known.version
        guard asked.load(ordering: .relaxed) != version else { return false }
        if hasImage(where: { $1 == 0 && known.placeholder(of: $0()) != nil }) { return true }
        asked.store(version, ordering: .relaxed)
        return false
    }

    /// Whether it is what a row makes now.
    func isGood(for row: ItemRow, in circumstances: RenderKey, hour: UInt32, page: UInt32) -> Bool {
        self.hour == hour && (self.page == nil || self.page == page) && self.circumstances == circumstances
            && withRow { row.isSame(as: $0) }
    }

    /// What the cell was made of, copied. Its place is the one that it had then.
    public var item: FeedItem { withRow(\.item) }

    /// The same where it lies, for as long as the call lasts.
    func withRow<Value>(_ body: (ItemRow) -> Value) -> Value {
        bytes.withUnsafeBytes { body(packed.row(in: $0)) }
    }

    /// What stands in the gaps on a page.
    ///
    /// - Parameter showing: where on it the cell stands; asked for where there are gaps.
    func tokens(in context: CellContext, showing: () -> ImpressionContext?) -> Tokens {
        guard !gaps.isEmpty else { return Tokens() }
        let token = ImpressionToken(
            cell: id, slot: circumstances.slot, hour: CellTokens.bucket(of: context.now), page: context.page, showing: showing())
        let signed = context.tokens.signed(
            token, asImpression: gaps.contains { !$0.isOfClick }, asClick: gaps.contains(where: \.isOfClick))
        return Tokens(impression: signed.impression, click: signed.click)
    }

    /// - Parameters:
    ///   - state: stands behind all other members.
    ///   - repetition: where more than 1, stands in the cell's id.
    func write(to writer: inout JSONWriter, tokens: Tokens, _ state: CellState = [], repetition: Int = 1) {
        var repetition = repetition
        // The bytes where they lie: slices of the arrays would be counted in and out for each.
        bytes.withUnsafeBufferPointer { memory in
            let content = UnsafeBufferPointer(rebasing: memory[packed.end..<packed.end + Int(contentEnd)])
            frame.text.withUnsafeBufferPointer { text in
                var start = 0
                for (place, isID) in frame.gaps {
                    writer.append(text[start..<place])
                    start = place
                    if isID {
                        writer.append(content[..<Int(idEnd)])
                        // In the member that tells it, which is the first.
                        if repetition > 1 { writer.append("#\(repetition)") }
                        repetition = 1
                    } else {
                        write(content, to: &writer, tokens)
                    }
                }
                writer.append(state.isEmpty ? text[start...] : text[start...].dropLast())
            }
        }
        if state.isEmpty { return }
        state.write(to: &writer)
        writer.raw("}")
    }

    /// What stands behind its id, with the gaps filled.
    private func write(_ content: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter, _ tokens: Tokens) {
        var start = Int(idEnd)
        for gap in gaps {
            writer.append(content[start..<gap.start])
            writer.append(gap.isOfClick ? tokens.click : tokens.impression)
            start = gap.end
        }
        writer.append(content[start...])
    }

    /// Bytes of its JSON.
    var count: Int { frame.text.count + frame.idCount * Int(idEnd) + Int(contentEnd - idEnd) }

    /// Bytes of memory that it takes, about, with its companions: its own, those of its arrays and its id, and its place among others.
    var size: Int {
        companions.reduce(384 + bytes.count + 24 * gaps.count + id.utf8.count) { $0 + $1.size }
    }
}

extension CellViewModel {
    /// Those that may differ from page to page.
    fileprivate var tokens: [(text: [UInt8], isOfClick: Bool)] {
        let context = subject.context
        return [(Array(context.impressionToken(of: id).utf8), false), (Array(context.clickToken(of: id).utf8), true)]
    }
}
