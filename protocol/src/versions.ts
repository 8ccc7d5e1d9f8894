// The revision of the contract.

/** The version of the SDK tunnel protocol (wire.md, Versions). A client refuses a relay whose `protocol_version` differs. */
export const PROTOCOL_VERSION = '10'
