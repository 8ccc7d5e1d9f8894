// The limits of HPACK, each with its unit and the reason for its value.

/** Compression state, either way: the initial value of RFC 7541 and what browsers keep. */
export const HEADER_TABLE_BYTES = 4096
