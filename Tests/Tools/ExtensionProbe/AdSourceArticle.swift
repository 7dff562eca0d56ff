// article: AdSourceOfYourOwn
import Foundation
import IntertwineService

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sells ad slots through the HTTP API of an ad server: one request for all slots of a page, as Kevel's decision API takes it. Other ad
/// servers differ in the names of the members.
struct DecisionService: AdSource {
    private struct Question: Encodable {
        struct Placement: Encodable {
            let divName: String
            let networkId, siteId: Int
        }
        struct User: Encodable { let key: String }

        let placements: [Placement]
        let keywords: [String]
        let user: User?
    }
    private struct Answer: Decodable {
        struct Decision: Decodable { let creativeId: Int }

        let decisions: [String: Decision?]
    }

    let name = "kevel"
    let url: URL
    let network, site: Int
    /// A page waits at most this long. The viewer waits too, so it is short.
    var timeout = Duration.milliseconds(200)
    /// The ads if the server does not answer in time. Without them, the slots get house ads.
    var fallback: [String?] = []

    func decide(_ slots: Int, of feed: String, for context: FeedContext, after state: [UInt8]) async throws -> [String?] {
        let attributes = context.attributes.flatMap { name, values in values.map { "\(name)=\($0)" } }
        let question = Question(
            placements: (0..<slots).map { .init(divName: "slot\($0)", networkId: network, siteId: site) },
            keywords: [feed] + attributes.sorted(), user: context.viewer.map(Question.User.init))
        do {
            let answer = try JSONDecoder().decode(Answer.self, from: await post(JSONEncoder().encode(question)))
            // The creatives are items of the store, imported with the ids of the ad server and with "house": false.
            return (0..<slots).map { slot in (answer.decisions["slot\(slot)"] ?? nil).map { "ad:\($0.creativeId)" } }
        } catch  where !fallback.isEmpty && !Task.isCancelled {
            return fallback
        }
    }

    private func post(_ body: Data) async throws -> Data {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return try await withThrowingTaskGroup(of: Data.self) { [request, timeout] group in
            defer { group.cancelAll() }
            group.addTask {
                let (data, response) = try await URLSession.shared.data(for: request)
                guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
                return data
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw URLError(.timedOut)
            }
            return try await group.next() ?? Data()
        }
    }
}

func selling(through url: URL, fallback: [String?] = []) -> ServiceExtensions {
    var extensions = ServiceExtensions()
    extensions.adSources = [DecisionService(url: url, network: 23, site: 667, fallback: fallback)]
    return extensions
}
// article: end
