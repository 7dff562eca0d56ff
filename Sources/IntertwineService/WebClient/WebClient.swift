internal import IntertwineHTTPServer

enum WebClient {
    static var operatorPaths: Set<String> {
        #if WebClient
            OperatorPageRoutes.paths
        #else
            []
        #endif
    }

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
