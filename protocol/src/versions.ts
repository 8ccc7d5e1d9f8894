// Which revision of the contract this is.

/** The SDK tunnel protocol. A client refuses a relay whose `protocol_version` differs. */
export const PROTOCOL_VERSION = '10'
