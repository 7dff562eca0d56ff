// The TypeScript declarations of the package. tests/types.ts uses them, and tests/declarations.test.mjs compares them with the code.
export * from "../types/actions.mjs";
export * from "../types/cells.mjs";
export * from "../types/client.mjs";
export * from "../types/images.mjs";
export * from "../types/lists.mjs";
