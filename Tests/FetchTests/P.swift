import Testing

@Test func placeholderFetch() {}
