// One import for programs that embed the service: what its own declarations speak of.
@_exported public import Feed
@_exported public import HTTPServer
@_exported public import HTTPTypes
@_exported public import Logging
@_exported public import Storage
