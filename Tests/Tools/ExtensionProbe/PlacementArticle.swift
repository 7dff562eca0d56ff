// article: PlacementOfYourOwn
import IntertwineService

/// Shows one ad after the third item of each page, and one at its end.
struct ThirdAndLast: AdPlacement {
    let supply = FillPolicy.rotating(perPage: 2)

    func indices(for advertisements: Int, in range: ContentRange) -> [Int] {
        Array([min(3, range.count), range.count].prefix(advertisements))
    }
}

let placed = {
    var extensions = ServiceExtensions()
    extensions.placement = ThirdAndLast()
    return extensions
}()
// article: end
