import Testing

@Test func placeholderImages() {}
