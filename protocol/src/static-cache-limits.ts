// The limits of static cache snapshots (docs/protocol.md §15).

/** The manifest of a static cache snapshot has at most this many bytes of JSON. */
export const CACHE_MANIFEST_MAX_BYTES: number = 1024 * 1024
/** A snapshot has at most this many files. */
export const CACHE_FILES_MAX = 2048
/**
 * A path of such a file has at most this many UTF-16 code units, so that a request for it fits in a head of 16 KiB, even
 * if each takes three bytes and each byte is percent-encoded.
 */
export const CACHE_PATH_MAX_CHARS = 1024
/** A file of a snapshot has at most this many bytes, unless the relay announces another limit (docs/protocol.md §15.1). */
export const CACHE_OBJECT_MAX_BYTES: number = 10 * 1024 * 1024
/** All files of a snapshot have at most this many bytes together, unless the relay announces another limit. */
export const CACHE_EXPOSURE_MAX_BYTES: number = 64 * 1024 * 1024
/** The deadline of a complete upload of a snapshot. */
export const CACHE_UPLOAD_DEADLINE_MS = 120_000
/** While a site is renewed, its snapshot expires at most this long after the last renewal, plus its `cache_ttl`. */
export const CACHE_RENEWAL_GRACE_MS = 120_000
