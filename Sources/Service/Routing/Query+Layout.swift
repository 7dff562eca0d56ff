internal import Feed
internal import HTTPTypes

extension Query {
    /// `layout`: which form of cells the client shows; a collection's where it does not say.
    ///
    /// - Throws: ``Problem`` (400) where there is no such layout.
    func layout() throws(Problem) -> CellLayout {
        guard let text = try text("layout") else { return .collection }
        guard let layout = CellLayout(rawValue: text) else {
            throw Problem(
                .badRequest, .invalidParameter, "layout must be \(CellLayout.allCases.map(\.rawValue).joined(separator: " or ")).")
        }
        return layout
    }

    /// `width`: the client's width in points, or nil where it does not say.
    ///
    /// - Throws: ``Problem`` (400) where it is no whole number within ``SizeRule/widths``.
    func width() throws(Problem) -> Int? {
        try integer("width", in: SizeRule.widths)
    }
}
