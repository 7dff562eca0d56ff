#pragma once

/// A file in the program.
struct EmbeddedFile {
    /// The path in its folder.
    const char *name;
    const unsigned char *bytes;
    unsigned long size;
};

/// The file at `index` of a folder, from 0. False from the number of its files on.
_Bool webClientFile(int index, struct EmbeddedFile *file);
_Bool sampleFile(int index, struct EmbeddedFile *file);
