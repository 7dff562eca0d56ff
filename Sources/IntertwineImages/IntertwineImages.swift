// The API of the image manager refers to formats and jobs, which the workers share.
@_exported public import IntertwineImageWire
