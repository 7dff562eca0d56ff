internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Logging

/// The admin API, as one list of routes. Every one that writes leaves an entry in the audit log.
struct OperatorRoutes: Sendable {
    let parts: ServiceParts
    let live: LiveComposition
    let access: OperatorAccess
    let audit: AuditLog
    let settings: AdminSettings
    let database: String

    var routes: [Route] {
        let items = ItemRoutes(store: parts.store, kinds: parts.kinds).routes
        let imports = ImportRoutes(database: database, kinds: parts.kinds, settings: settings).routes
        let pictures = PurgeRoutes(manager: parts.pictures.manager).routes
        let operations = OperationRoutes(store: parts.store, kinds: parts.kinds).routes
        let sources = SourceRoutes(polling: parts.sources)
        return (items + operations + imports + pictures + sources.writeRoutes).map(audited) + ReportRoutes(archive: parts.ledger).routes
            + ExplainRoutes(live: live).routes + sources.readRoutes
    }

    private func audited(_ route: Route) -> Route {
        guard route.method != .get else { return route }
        return Route(
            route.method, route.pattern, bodyLimit: route.bodyLimit, timeLimit: route.timeLimit, streamsBody: route.streamsBody
        ) { request in
            let response: ServerResponse
            let outcome: String
            do {
                response = try await route.handle(request)
                outcome = "done"
            } catch {
                let problem = Problem(error)
                if problem.status.kind == .serverError {
                    parts.logger.error("request failed", metadata: ["route": "\(route.pattern)", "error": "\(error)"])
                }
                response = problem.response
                outcome = problem.detail
            }
            try audit.append(
                AuditLog.Entry(
                    time: Date(timeIntervalSince1970: Double(request.now) / 1_000).formatted(.iso8601), who: access.name,
                    method: route.method.rawValue, path: request.head.path ?? "", status: response.status.code, outcome: outcome))
            return response
        }
    }
}
