/// The totals from which reports are created: the sums of counted events for several combinations of dimensions.
/// A single combination of all dimensions would have nearly as many totals as there are events.
package struct ReportTotals: Sendable {
    package enum Dimensions: Int64, Sendable, Hashable, CaseIterable {
        case ads = 1
        case adsByHour = 2
        case adsByPlacement = 3
        case adsByPosition = 4
        case placementsByHour = 5
        case positionsByHour = 6
        case positionsByPlacement = 7

        package var isHourly: Bool {
            switch self {
            case .adsByHour, .placementsByHour, .positionsByHour: true
            case .ads, .adsByPlacement, .adsByPosition, .positionsByPlacement: false
            }
        }

        fileprivate var isOfAdvertisements: Bool { self == .adsByPlacement || self == .adsByPosition }
        fileprivate var hasAds: Bool { self == .ads || self == .adsByHour || isOfAdvertisements }
        fileprivate var hasPlacements: Bool { self == .adsByPlacement || self == .placementsByHour || self == .positionsByPlacement }
        fileprivate var hasPositions: Bool { self == .adsByPosition || self == .positionsByHour || self == .positionsByPlacement }

        package init(of groupings: [LedgerReport.Grouping]) {
            let isHourly = groupings.contains(.hour)
            let isOfAdvertisements = groupings.contains(where: \.isOfAdvertisements)
            let hasPlaces = groupings.contains(.feed) || groupings.contains(.section)
            let hasPositions = groupings.contains(.position)
            switch (isOfAdvertisements, hasPlaces, hasPositions) {
            case (true, true, _): self = .adsByPlacement
            case (true, _, true): self = .adsByPosition
            case (true, false, false), (false, false, false): self = isHourly ? .adsByHour : .ads
            case (false, _, true): self = isHourly ? .positionsByHour : .positionsByPlacement
            case (false, true, false): self = isHourly ? .placementsByHour : .positionsByPlacement
            }
        }
    }

    package struct Ad: Sendable, Hashable {
        package var cell: ByteString
        package var campaign: ByteString
        package var creative: ByteString
        package var advertiser: ByteString
    }

    package struct PlacementKey: Sendable, Hashable {
        package var feed: ByteString
        package var section: ByteString
        package var position: Int64
    }

    package struct Total: Sendable, Hashable {
        package var combination: Dimensions
        package var time: Int64
        package var ad: Int
        package var placement: Int
        package var kind: Int
    }

    /// A column that numbers distinct values in order of first appearance (dictionary encoding).
    package struct DictionaryColumn<Value: Hashable & Sendable>: Sendable {
        package private(set) var values: [Value] = []
        private var numbers: [Value: Int] = [:]

        mutating func number(of value: Value) -> Int {
            if let number = numbers[value] { return number }
            values.append(value)
            numbers[value] = values.count
            return values.count
        }
    }

    package private(set) var counts: [Total: Int64] = [:]
    package private(set) var ads = DictionaryColumn<Ad>()
    package private(set) var placements = DictionaryColumn<PlacementKey>()
    package private(set) var kinds = DictionaryColumn<LedgerEvent.Kind>()

    package init() {}

    package mutating func add(_ event: LedgerEvent, count: Int64 = 1) {
        let ad = event.creative.map { creative in
            ads.number(
                of: Ad(
                    cell: ByteString(event.cell), campaign: ByteString(event.impressionContext?.campaign ?? ""),
                    creative: ByteString(creative.form),
                    advertiser: ByteString(creative.advertiser ?? "")))
        }
        let (feed, section) = (ByteString(event.impressionContext?.feed ?? ""), ByteString(event.impressionContext?.section ?? ""))
        let position = event.impressionContext.map { Int64($0.position) } ?? -1
        let kind = kinds.number(of: event.kind)
        let hour = LedgerTime.spans(of: 3_600_000, in: event.at)
        let day = LedgerTime.day(of: event.at)
        for combination in Dimensions.allCases where ad != nil || !combination.isOfAdvertisements {
            var place = 0
            if combination.hasPlacements || combination.hasPositions {
                place = placements.number(
                    of: PlacementKey(
                        feed: combination.hasPlacements ? feed : "", section: combination.hasPlacements ? section : "",
                        position: combination.hasPositions ? position : -1))
            }
            let total = Total(
                combination: combination, time: combination.isHourly ? hour : day, ad: combination.hasAds ? ad ?? 0 : 0, placement: place,
                kind: kind)
            counts[total, default: 0] += count
        }
    }
}
