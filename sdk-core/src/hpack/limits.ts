// The limits of HPACK, each with its unit and the reason for its value.

/** The compression state has this many bytes, in both directions: the initial value of RFC 7541, which browsers keep. */
export const HEADER_TABLE_BYTES = 4096
