import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client of the API of a newspaper: `GET /articles?section=world&after=7&limit=20`, `GET /articles/{id}` and `GET /version`.
struct NewsAPI: Sendable {
    struct Article: Codable, Sendable {
        let id: String
        /// The place of the article in its section; articles are listed in ascending order.
        let position: Int64
        let title: String
        let picture: URL?
    }

    let base: URL

    func articles(in section: String, after position: Int64?, limit: Int) async throws -> [Article] {
        var query = [URLQueryItem(name: "section", value: section), URLQueryItem(name: "limit", value: "\(limit)")]
        if let position { query.append(URLQueryItem(name: "after", value: "\(position)")) }
        return try await get("articles", query) ?? []
    }

    /// Returns an article; nil if there is none with this id.
    func article(_ id: String) async throws -> Article? { try await get("articles/\(id)") }

    /// Returns a number that changes with the articles.
    func version() async throws -> UInt64 { try await get("version") ?? 0 }

    private func get<Value: Decodable>(_ path: String, _ query: [URLQueryItem] = []) async throws -> Value? {
        let url = base.appendingPathComponent(path)
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        components?.queryItems = query.isEmpty ? nil : query
        let (data, response) = try await URLSession.shared.data(from: components?.url ?? url)
        switch (response as? HTTPURLResponse)?.statusCode {
        case 200: return try JSONDecoder().decode(Value.self, from: data)
        case 404: return nil
        default: throw URLError(.badServerResponse)
        }
    }
}
