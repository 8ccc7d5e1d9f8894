// The paths of the relay's API, with its header fields and media types.

/** PATH has the paths of the relay's endpoints. */
export * as PATH from './api-paths.ts'

/** The upgrade token of a native client on `/sdk/connect`. A relay also accepts the request without it. */
export const RAW_UPGRADE = 'raw'
/** The upgrade token of a relay that forwards a visitor, on `/sdk/hop` in the overlay. */
export const HOP_UPGRADE = 'svc-hop'
/** The upgrade token on `/sdk/route/relay`. */
export const NEIGHBOUR_UPGRADE = 'svc-relay'

/** HEADER has the header fields of this protocol. */
export * as HEADER from './header-fields.ts'

/** The media type of `GET /sdk/certificate-chain`. */
export const PEM_MEDIA_TYPE = 'application/x-pem-file'
