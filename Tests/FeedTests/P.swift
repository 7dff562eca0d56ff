import Testing

@Test func placeholderFeed() {}
