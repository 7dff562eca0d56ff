import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Advertisements that belong to campaigns")
struct MembershipTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static let spring = [1, 2].map { CampaignMembership(kind: "ad", id: "\($0)", campaign: "spring") }
    private static let autumn = CampaignMembership(kind: "ad", id: "2", campaign: "autumn")

    private func memberships(_ store: any ItemStore) async throws -> Set<CampaignMembership> {
        Set(try await store.read { try $0.memberships() })
    }

    @Test("Ads of campaigns are stored once, and released alone or with their campaign", arguments: StoreKind.allCases)
    func released(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        #expect(try await memberships(store).isEmpty)
        let version = store.version
        for _ in 0..<2 { try await store.remember(Self.spring + [Self.autumn]) }
        #expect(try await memberships(store) == Set(Self.spring + [Self.autumn]))
        #expect(store.version != version)
        let (ad, campaign) = (ItemKey(kind: "ad", id: "2"), ItemKey(kind: "campaign", id: "spring"))
        for key in [ad, campaign] { #expect(try await store.isReleasable(key)) }
        for key in [ItemKey(kind: "user", id: "2"), ItemKey(kind: "ad", id: "spring"), ItemKey(kind: "campaign", id: "2")] {
            #expect(try await !store.isReleasable(key))
        }
        // A takedown and what belongs to it are one.
        _ = try await store.takeDown(campaign)
        #expect(try await store.release([campaign, ItemKey(kind: "campaign", id: "winter")]) == 1)
        #expect(try await memberships(store) == [Self.autumn])
        #expect(try await !store.isReleasable(campaign))
        #expect(try await store.takedown(of: campaign) == nil)
        #expect(try await store.release([ad, ad]) == 1)
        #expect(try await memberships(store).isEmpty)
    }
}
