import Testing
@Test func placeholderEventLoop() {}
