import Foundation
import IntertwineService
import ServiceLifecycle

/// The feed as a service of a `ServiceGroup`, which prints its address.
struct FeedApplication: Service {
    let feed: FeedService

    func run() async throws {
        try await feed.run { addresses in
            print("listening on http://\(addresses["service"] ?? "")")
            fflush(nil)
        }
    }
}

/// Builds the application from its options.
func buildApplication(data: String, port: Int, token: String, orders: OrderQueue, logger: Logger) throws -> FeedApplication {
    var extensions = ServiceExtensions()
    extensions.add(Dish.self, actions: .on(.selection, Analytics()).on("order", Order(orders: orders), label: "Order"))
    extensions.dataSources["main"] = FlatDataSource(ArrayDataSource(try Dish.menu()))
    extensions.routes = buildRoutes(token: token, orders: orders)
    extensions.middleware = [RequestLogging(logger: logger)]

    var configuration = ServiceConfiguration()
    configuration.store.database = "\(data)/kitchen.sqlite"
    configuration.server.port = port
    configuration.admin.isEnabled = false
    return FeedApplication(
        feed: try FeedService.build(configuration: configuration, extensions: extensions, logger: logger))
}

/// The routes of the program: one for guests, and a group of the kitchen with a token.
func buildRoutes(token: String, orders: OrderQueue) -> [ServiceRoute] {
    let menu = ServiceRoute(.get, "/menu") { _, context in
        try .json(try Dish.menu().map { try $0.decoded(as: Dish.self).name })
    }
    let next = ServiceRoute(.get, "/orders/next") { _, _ in
        guard let order = await orders.first else { throw Refusal(.notFound, "There is no order.") }
        return try .json(order)
    }
    let done = ServiceRoute(.delete, "/orders/{number}") { _, context in
        let number = try context.parameters.require("number", as: Int.self)
        guard await orders.remove(number) else { throw Refusal(.notFound, "There is no order \(number).") }
        return ServerResponse(status: .noContent)
    }
    return [menu] + ServiceRoute.group("/kitchen", middleware: [TokenAuthentication(token: token)], [next, done])
}
