// Every path of the relay's API, and the headers and media types that belong to them.

/** PATH are the paths of the relay's endpoints. */
export * as PATH from './api-paths.ts'

/** What `/api/install/bin/{slug}` offers. The last two are for browsers: the connector, and the runtime it needs. */
export const INSTALL_SLUGS = [
  'linux-amd64',
  'linux-arm64',
  'darwin-amd64',
  'darwin-arm64',
  'windows-amd64',
  'windows-arm64',
  'js-wasm',
  'wasm-exec',
] as const
/** InstallSlug is one of {@link INSTALL_SLUGS}. */
export type InstallSlug = (typeof INSTALL_SLUGS)[number]

/** Makes the path from which the program of that platform is downloaded. */
export function installBinPath(slug: InstallSlug): string {
  return `/api/install/bin/${slug}`
}

/** Upgrade token of a native client on `/sdk/connect`; a relay takes the request also without it. */
export const RAW_UPGRADE = 'raw'

/** HEADER are the header fields of this protocol. */
export const HEADER = {
  /** Lease access token: `/v1/sign` and `/sdk/cache`. */
  accessToken: 'X-Svc-Access-Token',
  /** Reverse capability of a native client on `/sdk/connect`. */
  reverseCapability: 'X-Svc-Reverse-Capability',
  /** Of every answer: names the request in the relay's log. */
  requestId: 'X-Request-Id',
} as const

/** Media type of `GET /sdk/certificate-chain`. */
export const PEM_MEDIA_TYPE = 'application/x-pem-file'
