// The API of the store refers to types that all stores share.
@_exported public import IntertwineStorageCore
