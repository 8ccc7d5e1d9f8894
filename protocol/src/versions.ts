// The versions of the protocol.

/** The version of the SDK tunnel protocol (docs/protocol.md §4.1). A client refuses a relay whose `protocol_version` differs. */
export const PROTOCOL_VERSION = '10'

/** The version of discovery (lists, announcements and descriptors), which differs from that of the tunnel. */
export const DISCOVERY_VERSION = '9'

/** The version of discovery with an overlay, whose descriptors have three more fields. */
export const OVERLAY_DISCOVERY_VERSION = '10'

/** The versions of discovery that this software understands. */
export const DISCOVERY_VERSIONS: readonly string[] = [DISCOVERY_VERSION, OVERLAY_DISCOVERY_VERSION]
