internal import IntertwineHTTPServer

/// The web client and the operators' pages. The package trait `WebClient` includes their files in the program.
enum WebClient {
    /// The paths of operators' pages, which need no token.
    static var operatorPaths: Set<String> {
        #if WebClient
            OperatorPageRoutes.paths
        #else
            []
        #endif
    }

    /// - Parameter viewerHeader: The request field that names the viewer.
    static func routes(viewerHeader: String) -> [Route] {
        #if WebClient
            WebClientRoutes(viewerHeader: viewerHeader).routes
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
