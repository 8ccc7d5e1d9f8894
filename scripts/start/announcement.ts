// What `npm start` prints once the relay runs.
import { X509Certificate } from 'node:crypto'
import { qrCode } from '../../sdk-node/src/cli/tui/qr-code.ts'
import type { LanAddress } from './lan/address.ts'
import { curlLine, displayPath, trustCommand } from './trust-hint.ts'

export interface Announced {
  /** The relay's URL. */
  url: string
  /** What to open first. */
  begin: string
  /** The URL of the site that this process publishes. */
  site: string
  /** The relay's own CA: the path of its certificate, and its PEM. */
  ca: { file: string; pem: string } | undefined
  /** This machine's address in the network that the relay is opened to. */
  lan?: LanAddress | undefined
  /** The first page for devices of that network. */
  lanUrl?: string | undefined
}

export function announcement({ url, begin, site, ca, lan, lanUrl }: Announced): string {
  const lines = [
    '',
    'The relay is running; Ctrl-C ends it.',
    reach(url, lan),
    '',
    `  Begin here            ${begin}`,
    `  Publish from a page   ${new URL('/', url)}`,
    `  Examples              ${new URL('/examples/', url)}`,
    `  Documentation         ${new URL('/docs/', url)}`,
    `  Published from Node   ${site}/`,
    `  In a page of yours    import { publish } from '${new URL('/sdk.js', url)}'`,
  ]
  if (ca !== undefined) lines.push(`  Its authority (CA)    ${displayPath(ca.file)}`)
  if (ca !== undefined && lanUrl !== undefined) lines.push(...phone(lanUrl, ca.pem))
  lines.push('', 'See it answer:', '', `  ${curlLine(site, ca?.file, lan?.address)}`, '')
  if (ca !== undefined) lines.push(...trust(url, ca.file), '')
  return lines.join('\n')
}

function phone(lanUrl: string, pem: string): string[] {
  return [
    '',
    'A phone in the same network begins here, by plain HTTP:',
    '',
    // Its colours are commands to a terminal.
    ...(process.stdout.isTTY ? [...qrCode(lanUrl).lines.map((line) => `  ${line}`), ''] : []),
    `  ${lanUrl}`,
    '',
    'Before you trust the certificate there, compare its SHA-256 fingerprint, which the phone shows:',
    '',
    `  ${new X509Certificate(pem).fingerprint256}`,
  ]
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
function reach(url: string, lan: LanAddress | undefined): string {
  if (lan !== undefined)
    return `Devices in the network of ${lan.address} reach it, where the firewall lets in UDP port 5353 and its TCP ports.`
  const address = process.env.BIND_ADDRESS
  if (address) return `It listens at ${address === '::' ? 'every address of this machine' : address}.`
  return /(?:^|\.)localhost$/.test(new URL(url).hostname)
    ? 'Only this machine reaches it; npm start -- --lan opens it to your network.'
    : 'It listens at every address of this machine.'
}
