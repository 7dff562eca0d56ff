@_exported public import HTTPTypes
// One import for programs that embed the service: what its own declarations speak of.
@_exported public import IntertwineFeed
@_exported public import IntertwineHTTPServer
@_exported public import IntertwineObservability
@_exported public import IntertwineStorage
@_exported public import Logging
