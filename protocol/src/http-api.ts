// Every path of the relay's API, and the headers and media types that belong to them.

/** PATH are the paths of the relay's endpoints, by what they are for. */
export * as PATH from './api-paths.ts'

/** The upgrade token of a native client on `/sdk/connect`. A relay accepts the request also without it. */
export const RAW_UPGRADE = 'raw'
/** The upgrade token of a relay that passes a visitor on, on `/sdk/hop` in the overlay. */
export const HOP_UPGRADE = 'svc-hop'
/** The upgrade token on `/sdk/route/relay`. */
export const NEIGHBOUR_UPGRADE = 'svc-relay'

/** HEADER are the header fields of this protocol. */
export * as HEADER from './header-fields.ts'

/** The media type of `GET /sdk/certificate-chain`. */
export const PEM_MEDIA_TYPE = 'application/x-pem-file'
