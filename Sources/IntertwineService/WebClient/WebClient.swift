internal import IntertwineHTTPServer

enum WebClient {
    static var operatorPaths: Set<String> {
        #if WebClient
            OperatorPageRoutes.paths
        #else
            []
        #endif
    }

    /// - Parameter filteredFeeds: The names of the feeds that have filters.
    static func routes(viewerHeader: String, filteredFeeds: [String], operatorPort: Int) -> [Route] {
        #if WebClient
            WebClientRoutes(viewerHeader: viewerHeader, filteredFeeds: filteredFeeds, operatorPort: operatorPort).routes
        #else
            []
        #endif
    }

    static func operatorRoutes() -> [Route] {
        #if WebClient
            OperatorPageRoutes().routes
        #else
            []
        #endif
    }
}
