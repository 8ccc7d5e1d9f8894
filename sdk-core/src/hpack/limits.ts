// The limits of HPACK, each with its unit and the reason for its value.

/** The size of the dynamic table, in bytes and in each direction: the initial value of RFC 7541, which browsers keep. */
export const HEADER_TABLE_BYTES = 4096
