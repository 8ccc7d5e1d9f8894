// Says how a person reaches a site whose certificate comes from the relay's own CA: with curl, and with a browser.
import path from 'node:path'
import { AUTHORITY, type System } from '../../relay/web/src/texts/authority.ts'

/** Of an https URL without one. */
const HTTPS_PORT = '443'

/** A path as it is typed where the command was given: npm runs its scripts in the root of the repository. */
export function displayPath(file: string): string {
  const relative = path.relative(process.env.INIT_CWD ?? process.cwd(), file)
  return relative.startsWith('..') ? file : relative
}

/**
 * @param address of the site, where the system may not find its name
 * @returns one line that works as printed
 */
export function curlLine(siteUrl: string, caFile: string | undefined, address?: string): string {
  const ca = caFile === undefined ? '' : `--cacert ${quote(displayPath(caFile))} `
  const { hostname, port } = new URL(siteUrl)
  const to = address === undefined ? '' : `--resolve ${hostname}:${port || HTTPS_PORT}:${address} `
  return `curl ${ca}${to}${siteUrl}/`
}

/** @returns the command that makes the browsers of this system trust the CA, but for Firefox */
export function trustCommand(host: string, caFile: string): string {
  const systems: Partial<Record<NodeJS.Platform, System>> = { darwin: 'macos', win32: 'windows' }
  const system = systems[process.platform] ?? 'linux'
  const { steps } = AUTHORITY.systems(host, quote(displayPath(caFile))).find(({ id }) => id === system)!
  return steps.find((step) => typeof step !== 'string')!.code
}

/** A word of a shell. */
export function quote(file: string): string {
  return /^[\w./@:-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
}
