// The programs and modules that a relay offers for download, and their paths.

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
 * `globalThis.svc` into a page without modules. The names come from an implementation in WebAssembly.
 */
export const BROWSER_SLUGS = ['js-wasm', 'wasm-exec'] as const
/** INSTALL_SLUGS are all slugs at `/api/install/bin/{slug}`. */
export const INSTALL_SLUGS: readonly InstallSlug[] = [...PROGRAM_SLUGS, ...BROWSER_SLUGS]
/** InstallSlug is one of {@link INSTALL_SLUGS}. */
export type InstallSlug = (typeof PROGRAM_SLUGS | typeof BROWSER_SLUGS)[number]

/**
 * Returns the path of a download: a platform's program, or a file beside it, such as its compressed form at
 * `linux-amd64.gz` and the bundle for Node at `node`.
 */
export function installBinPath(name: string): string {
  return `/api/install/bin/${name}`
}
