// The limits of lease metadata (docs/protocol.md §4).

/**
 * `description` in lease metadata has at most this many UTF-16 code units. The relay refuses a longer text and never
 * truncates one.
 */
export const METADATA_DESCRIPTION_MAX_CHARS = 4096
/** `owner` in lease metadata has at most this many UTF-16 code units. */
export const METADATA_OWNER_MAX_CHARS = 1024
/** `thumbnail` in lease metadata, a URL or an image of about 190 KB as a data URL, has at most this many UTF-16 code units. */
export const METADATA_THUMBNAIL_MAX_CHARS: number = 256 * 1024
/** Lease metadata has at most this many tags. */
export const METADATA_TAGS_MAX = 16
/** A tag has at most this many UTF-16 code units. */
export const METADATA_TAG_MAX_CHARS = 64
/**
 * A request body with lease metadata has at most this many bytes: that of a challenge, and of a renewal whose
 * `access_token` comes within the first `BODY_MAX_BYTES`. Metadata of full length fits, even if each
 * character of its texts takes 4 bytes.
 */
export const METADATA_BODY_MAX_BYTES: number = 384 * 1024
