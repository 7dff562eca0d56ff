internal import Crypto
internal import Synchronization

/// A cell as clients get it: the bytes of its JSON, made once for as long as its item, the hour and what it was made under stay the same.
///
/// Of all that a cell tells, only the tokens of its impression and of its link differ from page to page. Where they stand is noted, so that
/// the same bytes serve every page that shows the cell.
package final class FinishedCell: Sendable {
    /// What the bytes depend on besides the item, the configuration and the hour. The longest members stand first, so that nothing lies between
    /// them that is of no use.
    struct Circumstances: Sendable, Equatable {
        /// ``LackingCells/digest``; 0 where the client knows all cells.
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
            return CampaignDecision.seed(disclosure.label, CampaignDecision.seed(disclosure.advertiser), hash)
        }
    }

    /// Tells a cell's bytes from all others, whatever stands in the gaps: half of a SHA-256.
    struct Digest: Sendable {
        let halves: (UInt64, UInt64)

        fileprivate init(_ bytes: [UInt8], gaps: [Gap]) {
            var hash = SHA256()
            var start = 0
            for gap in gaps {
                hash.update(data: bytes[start..<gap.start])
                let mark = UInt64(gap.start) << 1 | (gap.isOfClick ? 1 : 0)
                withUnsafeBytes(of: mark.littleEndian) { hash.update(bufferPointer: $0) }
                start = gap.end
            }
            hash.update(data: bytes[start...])
            halves = hash.finalize().withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }
    }

    /// Where a token stands that differs from page to page.
    fileprivate struct Gap: Sendable {
        var start: Int
        var end: Int
        /// Whether it is the token of the link, and not that of the impression.
        var isOfClick: Bool
    }

    /// A picture, and what the cell tells of it.
    fileprivate struct Picture: Sendable {
        let source: String
        /// Stands for it, in this process; nil where nothing was known.
        let looks: Int?

        init(_ source: String, _ looks: PictureLooks?) { (self.source, self.looks) = (source, looks?.hashValue) }

        /// Those that a cell is filled with, where something is known of them, or may be.
        static func all(in configuration: Action?) -> [Picture] {
            guard case .bind(let bindings)? = configuration else { return [] }
            var pictures: [Picture] = []
            for index in bindings.indices {
                guard case .image(let picture) = bindings[index].value, let source = picture.source else { continue }
                if pictures.isEmpty { pictures.reserveCapacity(bindings.count - index) }
                pictures.append(Picture(source, picture.looks))
            }
            return pictures
        }
    }

    /// What fills a cell's gaps on one page.
    struct Tokens: Sendable {
        fileprivate(set) var impression = ""
        fileprivate(set) var click = ""
    }

    // What each page reads of a cell stands first and close together, and nothing of it lies elsewhere but the bytes: most of what a finished
    // cell costs is that it lies in no cache.

    /// What the cell was made of, and behind it its JSON. One stretch of memory, as each page reads both.
    private let memory: [UInt8]
    private let packed: PackedItem
    let circumstances: Circumstances
    private let hour: UInt32
    /// The only page that the bytes are right for; nil where it is any.
    private let page: UInt32?
    /// Whether it has a picture that nothing was known of when it was made.
    let isAwaiting: Bool
    /// In the JSON.
    private let gaps: [Gap]
    /// They stand behind it.
    let companions: [FinishedCell]
    let digest: Digest
    /// When its awaited pictures were last asked about, as ``PictureMemory/version`` counts.
    private let asked: Atomic<UInt64>
    /// And when all of them, as ``PictureMemory/revision`` counts.
    private let compared: Atomic<UInt64>

    public let id: String
    public let identifier: String
    /// The pictures on it, where something may be known of them.
    private let pictures: [Picture]

    /// Bytes of JSON that hardly any cell exceeds.
    fileprivate static let usualLength = 2_048

    /// - Parameter writer: where its JSON may be written, to be copied when it is known how long that is.
    /// - Throws: what the factories throw.
    init(of item: FeedItem, by factories: CellFactories, in context: CellContext, with writer: inout JSONWriter) throws {
        // Asked for first: what is learned while it is made counts as later.
        let known = context.links.known
        let (version, revision) = (known?.version ?? 0, known?.revision ?? 0)
        let first = try factories.makeViewModel(for: item, in: context)
        let companions = try factories.makeCompanions(for: item, in: context)
        writer.clear(capacity: Self.usualLength)
        let configuration = first.action(in: .configuration)
        writer.write(first, configuredBy: configuration)
        (packed, memory) = PackedItem.pack(item, with: writer.bytes)
        pictures = known == nil ? [] : companions.reduce(Picture.all(in: configuration)) { $0 + $1.pictures }
        guard context.page != 0 else {
            (id, identifier, gaps, page) = (first.id, first.identifier, [], nil)
            digest = Digest(writer.bytes, gaps: [])
            isAwaiting = pictures.contains { $0.looks == nil }
            asked = Atomic(version)
            compared = Atomic(revision)
            self.companions = companions.map { FinishedCell($0, hour: context) }
            circumstances = Circumstances(context)
            hour = CellTokens.bucket(of: context.now)
            return
        }
        // A second time as on another page: what differs beside the tokens is right for this page alone.
        var other = context
        other.page = context.page == .max ? 1 : context.page + 1
        let twin = try factories.makeViewModel(for: item, in: other)
        let twins = try factories.makeCompanions(for: item, in: other)
        (id, identifier) = (first.id, first.identifier)
        let found = Self.gaps(first, writer.bytes, twin)
        self.companions = zip(companions, twins).map { FinishedCell($0, hour: context, gaps: Self.gaps($0, $0.json, $1)) }
        gaps = found ?? []
        digest = Digest(writer.bytes, gaps: gaps)
        isAwaiting = pictures.contains { $0.looks == nil }
        asked = Atomic(version)
        compared = Atomic(revision)
        page = found == nil || companions.count != twins.count || self.companions.contains { $0.page != nil } ? context.page : nil
        circumstances = Circumstances(context)
        hour = CellTokens.bucket(of: context.now)
    }

    /// A cell that is good for the page it was made for.
    convenience init(_ viewModel: CellViewModel) {
        self.init(viewModel, hour: viewModel.subject.context)
    }

    private init(_ viewModel: CellViewModel, hour context: CellContext, gaps: [Gap]? = []) {
        let bytes = viewModel.json
        (packed, memory) = PackedItem.pack(viewModel.subject.item, with: bytes)
        id = viewModel.id
        identifier = viewModel.identifier
        companions = []
        self.gaps = gaps ?? []
        digest = Digest(bytes, gaps: self.gaps)
        pictures = viewModel.pictures
        isAwaiting = pictures.contains { $0.looks == nil }
        asked = Atomic(0)
        compared = Atomic(0)
        page = gaps == nil ? context.page : nil
        circumstances = Circumstances(context)
        hour = CellTokens.bucket(of: context.now)
    }

    /// Where the tokens of impression and link stand in the cell's JSON; nil where something else differs from page to page too.
    ///
    /// - Parameter bytes: the JSON of one.
    private static func gaps(_ one: CellViewModel, _ bytes: [UInt8], _ other: CellViewModel) -> [Gap]? {
        let others = other.json
        let tokens = zip(one.tokens, other.tokens).map { (token: $0.text, other: $1.text, isOfClick: $0.isOfClick) }
        guard bytes.count == others.count, tokens.allSatisfy({ $0.token.count == $0.other.count }) else { return nil }
        // All tokens begin with the name of the key.
        guard let head = tokens.first?.token.first else { return nil }
        var gaps: [Gap] = []
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
            gaps.append(Gap(start: index, end: end, isOfClick: found.isOfClick))
            filled.replaceSubrange(index..<end, with: found.other)
            index = end
        }
        return filled == others ? gaps : nil
    }

    /// Whether something else is known of its pictures than when it was made.
    ///
    /// - Parameter revision: what is known, as ``PictureMemory/revision`` counts.
    func isOvertaken(by known: (any PictureMemory)?, _ revision: UInt64) -> Bool {
        guard let known else { return false }
        if compared.load(ordering: .relaxed) != revision {
            if pictures.contains(where: { known.looks(of: $0.source)?.hashValue != $0.looks }) { return true }
            compared.store(revision, ordering: .relaxed)
        }
        guard isAwaiting else { return false }
        let version = known.version
        guard asked.load(ordering: .relaxed) != version else { return false }
        if pictures.contains(where: { $0.looks == nil && known.looks(of: $0.source) != nil }) { return true }
        asked.store(version, ordering: .relaxed)
        return false
    }

    /// Whether it is what a row makes now.
    func isGood(for row: ItemRow, in circumstances: Circumstances, hour: UInt32, page: UInt32) -> Bool {
        self.hour == hour && (self.page == nil || self.page == page) && self.circumstances == circumstances
            && withRow { row.isSame(as: $0) }
    }

    /// What the cell was made of, copied. Its place is the one that it had then.
    public var item: FeedItem { withRow(\.item) }

    /// The same where it lies, for as long as the call lasts.
    func withRow<Value>(_ body: (ItemRow) -> Value) -> Value {
        memory.withUnsafeBytes { body(packed.row(in: $0)) }
    }

    /// What stands in the gaps on a page.
    ///
    /// - Parameter showing: where on it the cell stands; asked for where there are gaps.
    func tokens(in context: CellContext, showing: () -> Showing?) -> Tokens {
        guard !gaps.isEmpty else { return Tokens() }
        let token = CellToken(
            cell: id, slot: circumstances.slot, hour: CellTokens.bucket(of: context.now), page: context.page, showing: showing())
        let signed = context.tokens.signed(
            token, asImpression: gaps.contains { !$0.isOfClick }, asClick: gaps.contains(where: \.isOfClick))
        return Tokens(impression: signed.impression, click: signed.click)
    }

    /// - Parameters:
    ///   - state: stands behind all other members.
    ///   - repetition: where more than 1, stands in the cell's id.
    func write(to writer: inout JSONWriter, tokens: Tokens, _ state: CellState = [], repetition: Int = 1) {
        var start = packed.end
        if repetition > 1 {
            var head = JSONWriter(capacity: 64)
            head.raw(#"{"id":"#)
            head.write(id)
            // In front of the quotation mark.
            let end = start + head.bytes.count - 1
            memory.withUnsafeBufferPointer { writer.append($0[start..<end]) }
            writer.append("#\(repetition)")
            start = end
        }
        // The bytes where they lie: a slice of the array would be counted in and out for each.
        memory.withUnsafeBufferPointer { bytes in
            for gap in gaps {
                writer.append(bytes[start..<packed.end + gap.start])
                writer.append(gap.isOfClick ? tokens.click : tokens.impression)
                start = packed.end + gap.end
            }
            writer.append(state.isEmpty ? bytes[start...] : bytes[start...].dropLast())
        }
        if state.isEmpty { return }
        state.write(to: &writer)
        writer.raw("}")
    }

    /// Bytes of its JSON.
    var count: Int { memory.count - packed.end }

    /// Bytes of memory that it takes, about, with its companions.
    var size: Int {
        companions.reduce(336 + memory.count + 24 * gaps.count + 32 * pictures.count + id.utf8.count) { $0 + $1.size }
    }
}

extension CellViewModel {
    /// Its pictures, where something is known of them, or may be.
    fileprivate var pictures: [FinishedCell.Picture] { FinishedCell.Picture.all(in: action(in: .configuration)) }

    fileprivate var json: [UInt8] {
        var writer = JSONWriter(capacity: FinishedCell.usualLength)
        writer.write(self)
        return writer.bytes
    }

    /// Those that may differ from page to page.
    fileprivate var tokens: [(text: [UInt8], isOfClick: Bool)] {
        let context = subject.context
        return [(Array(context.impressionToken(of: id).utf8), false), (Array(context.clickToken(of: id).utf8), true)]
    }
}
