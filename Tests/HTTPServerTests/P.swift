import Testing
@Test func placeholderHTTPServer() {}
