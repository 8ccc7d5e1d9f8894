// `svc expose` and `svc serve`: online until a signal asks to end it, or no relay has it any more.

import { readFile } from 'node:fs/promises'
import { files } from '@svc/sdk-browser/handlers'
import { identityFromKey, type PlatformSite, SvcError } from '@svc/sdk-browser/platform'
import { type ExposeOptions, type Exposure, expose } from '../expose.ts'
import { openFolder } from '../folder/folder-handle.ts'
import { loadIdentityFile } from '../identity-file.ts'
import type { Chosen, SiteOptions } from './command-line.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explain } from './explain.ts'
import type { Tell } from './report.ts'

/** The same complaint is repeated no more often than this, in milliseconds: a busy site has many visitors. */
const COMPLAINT_PAUSE_MS = 5_000
/** Digits of the address in a name that nobody chose: enough that two identities hardly ever meet. */
const NAME_DIGITS = 8

/**
 * @param signal ends it
 * @returns how it ended
 * @throws SvcError why it did not begin
 */
export async function runSite(
  chosen: Extract<Chosen, { command: 'expose' | 'serve' }>,
  tell: Tell,
  signal: AbortSignal,
): Promise<ExitCode> {
  const complain = complainer(tell)
  const { banMitm } = chosen.options
  let hasLeft = false
  const exposure = await expose({
    ...(await siteOptions(chosen.options)),
    ...(await targets(chosen)),
    signal,
    onTargetError: (error) => complain(undefined, error),
    banMitm,
    onProbe: ({ site, verdict }) => {
      tell({ event: 'probe', relay: relayOf(site), verdict })
      if (banMitm && verdict === 'suspected') hasLeft = true
    },
  })
  for (const { relay, error } of exposure.failures) complain(relay, error)
  const exitCode = await untilOver(exposure, tell, complain)
  return hasLeft && !signal.aborted ? EXIT.ended : exitCode
}

async function siteOptions(options: SiteOptions): Promise<ExposeOptions> {
  if (options.relay.length === 0)
    throw new SvcError('invalid_option', 'no relay: give --relay URL, or set SVC_URL')
  const identity = await loadIdentityFile(options.identityPath)
  const { address } = identityFromKey(identity)
  return {
    relays: options.relay,
    identity,
    name: options.name ?? `svc-${address.slice(2, 2 + NAME_DIGITS).toLowerCase()}`,
    carrier: options.carrier,
    allowCanonicalFallback: options.allowCanonical,
    ...(options.hide && { metadata: { hide: true } }),
    ...(options.ca !== undefined && { ca: await readPem('--ca', options.ca) }),
  }
}

async function targets(
  chosen: Extract<Chosen, { command: 'expose' | 'serve' }>,
): Promise<Partial<ExposeOptions>> {
  if (chosen.command === 'serve') {
    const { listing, hidden } = chosen.options
    return { fetch: files(await openFolder(chosen.folder), { listing, hidden }) }
  }
  const { tcp, tls, targetCa } = chosen.options
  return { http: chosen.target, tcp, tls, targetCa: targetCa && (await readPem('--target-ca', targetCa)) }
}

async function readPem(option: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new SvcError('invalid_option', `${option} ${path} cannot be read`, { cause })
  }
}

function untilOver({ sites }: Exposure, tell: Tell, complain: Complain): Promise<ExitCode> {
  return new Promise((resolve) => {
    let left = sites.length
    let isForced = false
    for (const site of sites) {
      const relay = relayOf(site)
      const follow = (): void => {
        if (site.state === 'online') tell(onlineReport(relay, site))
        else if (site.state === 'reconnecting') tell({ event: 'reconnecting', relay })
        else if (site.state === 'closed')
          // waits for what the site itself began: the lease is given up behind it
          site.close().then(() => {
            tell({ event: 'closed', relay })
            left -= 1
            if (left === 0) resolve(isForced ? EXIT.ended : EXIT.ok)
          })
      }
      site.addEventListener('statechange', follow)
      site.addEventListener('error', ({ error }) => {
        // what a site says when it is closed is why
        if (site.state === 'closed') isForced = true
        complain(relay, error)
      })
      follow()
    }
  })
}

function onlineReport(relay: string, site: PlatformSite): Parameters<Tell>[0] {
  const { url, canonicalUrl: canonical_url, tcpAddress: tcp_address } = site
  return { event: 'online', relay, url, canonical_url, tcp_address }
}

/** The host that all names of the site are below. */
function relayOf({ canonicalUrl }: PlatformSite): string {
  const { host } = new URL(canonicalUrl)
  return `https://${host.slice(host.indexOf('.') + 1)}`
}

type Complain = (relay: string | undefined, error: SvcError) => void

function complainer(tell: Tell): Complain {
  const saidAt = new Map<string, number>()
  return (relay, error) => {
    const { code, message } = explain(error)
    const now = performance.now()
    if (now - (saidAt.get(code) ?? Number.NEGATIVE_INFINITY) < COMPLAINT_PAUSE_MS) return
    // a code each: there are few of them
    saidAt.set(code, now)
    tell({ event: 'error', relay, code, message })
  }
}
