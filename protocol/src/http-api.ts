// Every path of the relay's API, and the headers and media types that belong to them.

/** PATH are the paths of the relay's endpoints, by what they are for. */
export * as PATH from './api-paths.ts'

/**
 * PROGRAM_SLUGS are the slugs of `svc` at `/api/install/bin/{slug}`, one for each platform.
 */
export const PROGRAM_SLUGS = [
  'linux-amd64',
  'linux-arm64',
  'darwin-amd64',
  'darwin-arm64',
  'windows-amd64',
  'windows-arm64',
] as const
/**
 * BROWSER_SLUGS are the slugs for browsers: the connector, which is the module at `/sdk.js`, and the script that puts
 * `globalThis.svc` into a page without modules. The specification's names tell of an implementation in WebAssembly.
 */
export const BROWSER_SLUGS = ['js-wasm', 'wasm-exec'] as const
/** INSTALL_SLUGS are all slugs at `/api/install/bin/{slug}`. */
export const INSTALL_SLUGS: readonly InstallSlug[] = [...PROGRAM_SLUGS, ...BROWSER_SLUGS]
/** InstallSlug is one of {@link INSTALL_SLUGS}. */
export type InstallSlug = (typeof PROGRAM_SLUGS | typeof BROWSER_SLUGS)[number]

/**
 * Makes the path of a download: of the program of a platform, or of a file beside it, such as its compressed form at
 * `linux-amd64.gz` and the bundle for Node at `node`.
 */
export function installBinPath(name: string): string {
  return `/api/install/bin/${name}`
}

/** The upgrade token of a native client on `/sdk/connect`. A relay accepts the request also without it. */
export const RAW_UPGRADE = 'raw'
/** The upgrade token of a relay that passes a visitor on, on `/sdk/hop` in the overlay. */
export const HOP_UPGRADE = 'svc-hop'
/** The upgrade token on `/sdk/route/relay`. */
export const NEIGHBOUR_UPGRADE = 'svc-relay'

/** HEADER are the header fields of this protocol. */
export const HEADER = {
  /** Carries the lease token: `/v1/sign`, `/sdk/cache`, `/sdk/certificate-chain` and `/sdk/certificate`. */
  accessToken: 'X-Svc-Access-Token',
  /** Carries the reverse capability of a native client on `/sdk/connect`. */
  reverseCapability: 'X-Svc-Reverse-Capability',
  /** *Extension* `hop_routes`: the origin of the relay that `/sdk/route/relay` shall lead to. */
  neighbour: 'X-Svc-Relay',
  /** The token of a visitor on `/sdk/hop` who is passed on. */
  hopToken: 'X-Svc-Hop-Token',
  /** The SHA-256 of that visitor's hostname, in hex digits. */
  hopHostname: 'X-Svc-Hop-Hostname-Hash',
  /** The binding of that visitor at the first relay, in hex digits. */
  hopBinding: 'X-Svc-Hop-Binding',
  /** The number of relays that the visitor has passed. */
  hopCount: 'X-Svc-Hop-Count',
  /** *Extension*: names the request in the relay's log. Every answer of the API has it. */
  requestId: 'X-Request-Id',
} as const

/** The media type of `GET /sdk/certificate-chain`. */
export const PEM_MEDIA_TYPE = 'application/x-pem-file'
