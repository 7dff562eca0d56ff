import ArgumentParser
import Foundation
import IntertwineService

/// Serves a feed of recipes, with a kind of item, a cell, a command and a viewer's list of its own.
@main
struct RecipeFeed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recipe-feed", abstract: "Serve a feed of recipes: an example of embedding the service.")

    @Option(help: "SQLite file of the items.")
    var database: String

    @Option(help: "Port to listen on.")
    var port = 8080

    @Argument(help: "A file of recipes.")
    var file: String

    func run() async throws {
        var extensions = ServiceExtensions()
        extensions.add(Recipe.self, actions: .on(.selection, Analytics(), CookCommand()))
        extensions.lists = [CookCommand.cooked]
        extensions.middleware = [RobotFilter()]
        extensions.routes = [
            ServiceRoute(.get, "/recipes/{id}/shopping-list") { _, context in
                ServerResponse(body: "All for \(try context.parameters.require("id")).\n")
            }
        ]
        var configuration = ServiceConfiguration()
        configuration.store.database = database
        configuration.server.port = port
        // The program has no admin listener.
        configuration.admin.isEnabled = false

        try configuration.importItems(Array(try Data(contentsOf: URL(fileURLWithPath: file))), extensions)

        let logger = Logger(label: "recipe-feed")
        let service = try FeedService.build(configuration: configuration, extensions: extensions, logger: logger)
        try await service.run { addresses in
            print("listening on http://\(addresses["service"] ?? "")")
            fflush(nil)
        }
    }
}
