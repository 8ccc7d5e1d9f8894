// `svc expose`, `svc serve` and each tunnel of `svc start`: online until a signal asks to end it, or no relay has it any more.

import { files } from '@svc/sdk-browser/handlers'
import { type PlatformSite, SvcError } from '@svc/sdk-browser/platform'
import { type ExposeOptions, type Exposure, expose } from '../expose.ts'
import { openFolder } from '../folder/folder-handle.ts'
import type { Board } from './board.ts'
import type { SiteCommand, SiteOptions } from './command-line.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explain } from './explain.ts'
import { readPem } from './pem.ts'
import type { Tell } from './report.ts'

/** The same complaint is repeated no more often than this, in milliseconds: a busy site has many visitors. */
const COMPLAINT_PAUSE_MS = 5_000

export interface Surroundings {
  tell: Tell
  board: Board
  /** Called when something is there to be shown, before it is told of. */
  begun(): Promise<void>
  /** Ends it. */
  signal: AbortSignal
}

/**
 * Runs all of them; one that does not begin does not hold up the others.
 * @returns how the first ended that did not end well
 * @throws SvcError why none began
 */
export async function runSites(
  commands: readonly SiteCommand[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  if (commands.length === 1) return runSite(commands[0]!, surroundings)
  const { tell } = surroundings
  const failures: unknown[] = []
  const ends = commands.map(async (command) => {
    const tunnel = command.options.name
    const tellOf: Tell = (report) => tell(report.event === 'error' ? { ...report, tunnel } : report)
    try {
      return await runSite(command, { ...surroundings, tell: tellOf })
    } catch (error) {
      failures.push(error)
      const { code, message, exitCode } = explain(error)
      if (exitCode !== EXIT.ok) tellOf({ event: 'error', code, message })
      return exitCode
    }
  })
  const codes = await Promise.all(ends)
  if (failures.length === commands.length) throw failures[0]
  return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok
}

/** @throws SvcError why it did not begin */
async function runSite(command: SiteCommand, surroundings: Surroundings): Promise<ExitCode> {
  const { tell, board, begun, signal } = surroundings
  const complain = complainer(tell)
  const { banMitm } = command.options
  let hasLeft = false
  const exposure = await expose({
    ...(await siteOptions(command.options)),
    ...(await targets(command)),
    signal,
    onTargetError: (error) => complain(undefined, error),
    onRequest: (report) => board.requested(report),
    banMitm,
    onProbe: ({ site, verdict }) => {
      const relay = relayOf(site)
      board.probed(site, verdict)
      tell({ event: 'probe', relay, verdict })
      if (banMitm && verdict === 'suspected') hasLeft = true
    },
  })
  await begun()
  for (const { relay, error } of exposure.failures) complain(relay, error)
  const exitCode = await untilOver(exposure, surroundings, complain)
  return hasLeft && !signal.aborted ? EXIT.ended : exitCode
}

async function siteOptions(options: SiteOptions): Promise<ExposeOptions> {
  if (options.relay.length === 0)
    throw new SvcError('invalid_option', 'no relay: give --relay URL, or set SVC_URL')
  return {
    relays: options.relay,
    identityPath: options.identityPath,
    name: options.name,
    carrier: options.carrier,
    allowCanonicalFallback: options.allowCanonical,
    discover: options.discover,
    ...(options.hide && { metadata: { hide: true } }),
    ...(options.ca !== undefined && { ca: await readPem('--ca', options.ca) }),
  }
}

async function targets(chosen: SiteCommand): Promise<Partial<ExposeOptions>> {
  const { route, targetCa } = chosen.options
  const shared = {
    ...(route.length > 0 && { routes: routesOf(route) }),
    ...(targetCa !== undefined && { targetCa: await readPem('--target-ca', targetCa) }),
  }
  if (chosen.command === 'serve') {
    const { listing, hidden } = chosen.options
    return { ...shared, fetch: files(await openFolder(chosen.folder), { listing, hidden }) }
  }
  const { tcp, udp, tls } = chosen.options
  return { ...shared, http: chosen.target, tcp, udp, tls }
}

function routesOf(routes: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    routes.map((route) => {
      const at = route.indexOf('=')
      if (at > 0) return [route.slice(0, at), route.slice(at + 1)]
      throw new SvcError('invalid_option', `--route ${JSON.stringify(route)} is not PLACE=TARGET`)
    }),
  )
}

function untilOver(
  { sites }: Exposure,
  { tell, board }: Surroundings,
  complain: Complain,
): Promise<ExitCode> {
  return new Promise((resolve) => {
    let left = sites.length
    let isForced = false
    for (const site of sites) {
      const relay = relayOf(site)
      board.add(relay, site)
      const follow = (): void => {
        if (site.state === 'online') tell(onlineReport(relay, site))
        else if (site.state === 'reconnecting') tell({ event: 'reconnecting', relay })
        else if (site.state === 'closed')
          // waits for what the site itself began: the lease is given up behind it
          site.close().then(() => {
            board.remove(site)
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
  const { url, canonicalUrl: canonical_url, tcpAddress: tcp_address, udpAddress: udp_address } = site
  return { event: 'online', relay, url, canonical_url, tcp_address, udp_address }
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
