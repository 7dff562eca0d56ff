/// The fact that an ad is or was a creative of a campaign. The ad belongs to the campaign until it is released.
package struct CampaignMembership: Sendable, Hashable {
    /// The kind of the ad. `id` is its id.
    package var kind: String
    /// The id of the ad.
    package var id: String
    /// The id of the campaign.
    package var campaign: String

    /// Creates the membership of an ad in a campaign.
    package init(kind: String, id: String, campaign: String) {
        (self.kind, self.id, self.campaign) = (kind, id, campaign)
    }

    package var creative: CreativeID { CreativeID(kind: kind, id: id) }
}

/// A permanent record of the ads that belong to campaigns. Storage and PostgreSQL implement it.
package protocol CampaignMembershipStore: Sendable {
    /// Adds memberships. Existing memberships are not changed.
    ///
    /// - Throws: ``StoreError/unavailable(_:)``
    func remember(_ memberships: [CampaignMembership]) async throws
}
