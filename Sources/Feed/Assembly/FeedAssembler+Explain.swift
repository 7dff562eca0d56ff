extension FeedAssembler {
    /// The page, and why each cell stands there.
    ///
    /// - Parameter advertisements: how many advertisements are looked at for ones that are on no page.
    /// - Throws: as ``page(_:)`` does.
    public func explain(_ request: FeedRequest, lookingAt advertisements: Int = 1_000) async throws -> FeedExplanation {
        let page = try await page(request)
        let context = context(of: request)
        let excluded = try await store.read { [factories] snapshot in
            var reader = CellReader(factories: factories, context: context, hidden: request.hidden)
            for item in try snapshot.items(in: .advertisements, .forward, of: nil, limit: advertisements) { _ = reader.cell(of: item) }
            return reader.omissions
        }
        let places = page.entries.map { entry in
            let item = entry.viewModel.subject.item
            let form = ItemForm(kind: item.kind, variant: item.variant)
            return FeedExplanation.Place(
                cell: entry.viewModel.id, form: form, position: item.position, identifier: entry.viewModel.identifier,
                factory: factories[form, request.layout].map { String(describing: type(of: $0)) }, adSlot: entry.adSlot)
        }
        return FeedExplanation(
            places: places, supply: placement.supply, rotationStart: places.first { $0.adSlot != nil }?.position, omissions: page.omissions,
            excludedAdvertisements: excluded, next: page.next, previous: page.previous)
    }
}
