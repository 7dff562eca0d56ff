import ArgumentParser
import Foundation
import IntertwineService
import ServiceLifecycle

@main
struct App: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kitchen-app", abstract: "Serve dishes, with routes, middleware and a service of the program's own.")

    @Option(help: "Folder of the databases.")
    var data: String

    @Option(help: "Port to listen on.")
    var port = 8080

    @Option(help: "Token of the kitchen's routes.")
    var token: String

    func run() async throws {
        let logger = Logger(label: "kitchen-app")
        let orders = OrderQueue()
        let application = try buildApplication(data: data, port: port, token: token, orders: orders, logger: logger)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: OrderPrinter(orders: orders)),
                    // The feed ends on SIGTERM and SIGINT.
                    .init(service: application, successTerminationBehavior: .gracefullyShutdownGroup),
                ], logger: logger))
        try await group.run()
    }
}
