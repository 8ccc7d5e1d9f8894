// The limits of away pages.

/** Sites whose away page the relay shows: some 5 MB. The site that left longest ago goes first. */
export const AWAY_PAGES_MAX = 10_000
/** The same for one account, and for a wide network. */
export const AWAY_PAGES_PER_ACCOUNT_MAX = 16
export const AWAY_PAGES_PER_NETWORK_MAX = 64
/** Connections of visitors to away pages at once: each lasts for one answer. */
export const AWAY_CONNECTIONS_MAX = 1_024
/** The same for the visitors of one network. */
export const AWAY_CONNECTIONS_PER_NETWORK_MAX = 64
/** Milliseconds from the ClientHello to the end of the connection, for handshake, head and answer. */
export const AWAY_DEADLINE_MS = 10_000
/** Seconds after which a visitor may come again. */
export const AWAY_RETRY_S = 30
