// What `npm start` prints once the relay runs.
import { curlLine, displayPath, trustCommand } from './trust-hint.ts'

export interface Announced {
  /** The relay's URL. */
  url: string
  /** What to open first. */
  begin: string
  /** The URL of the site that this process publishes. */
  site: string
  /** Undefined for a relay without a CA of its own. */
  caFile: string | undefined
}

export function announcement({ url, begin, site, caFile }: Announced): string {
  const lines = [
    '',
    'The relay is running; Ctrl-C ends it.',
    reach(url),
    '',
    `  Begin here            ${begin}`,
    `  Publish from a page   ${new URL('/', url)}`,
    `  Examples              ${new URL('/examples/', url)}`,
    `  Documentation         ${new URL('/docs/', url)}`,
    `  Published from Node   ${site}/`,
    `  In a page of yours    import { publish } from '${new URL('/sdk.js', url)}'`,
  ]
  if (caFile !== undefined) lines.push(`  Its authority (CA)    ${displayPath(caFile)}`)
  lines.push('', 'See it answer:', '', `  ${curlLine(site, caFile)}`, '')
  if (caFile !== undefined) lines.push(...trust(url, caFile), '')
  return lines.join('\n')
}

function trust(url: string, caFile: string): string[] {
  return [
    'Browsers warn of it until they trust its CA. The first page above shows how, and notices when yours does; npm run demo opens',
    'one that does. In short, for all but Firefox:',
    '',
    `  ${trustCommand(new URL(url).hostname, caFile)}`,
  ]
}

/** A relay on localhost listens for this machine alone, unless BIND_ADDRESS says otherwise. */
function reach(url: string): string {
  const address = process.env.BIND_ADDRESS
  if (address) return `It listens at ${address === '::' ? 'every address of this machine' : address}.`
  return /(?:^|\.)localhost$/.test(new URL(url).hostname)
    ? 'Only this machine reaches it; BIND_ADDRESS=:: opens it to the network.'
    : 'It listens at every address of this machine.'
}
