// `svc expose`, `svc serve` and each tunnel of `svc start`: online until a signal asks to end it, or no relay has it any more.

import { isAbsolute } from 'node:path'
import type { LeaseMetadata } from '@svc/protocol'
import { SvcError } from '@svc/sdk-core'
import { files } from '@svc/sdk-core/handlers'
import { type ExposeOptions, expose } from '../expose.ts'
import { openFolder } from '../folder/folder-handle.ts'
import type { SiteCommand, SiteOptions } from './command-line.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explain } from './explain.ts'
import { Follower, type Surroundings } from './follower.ts'
import { readPem } from './pem.ts'
import { pictureUrl } from './picture.ts'

/**
 * Runs all of them; one that does not begin does not hold up the others.
 * @returns how the first ended that did not end well
 * @throws SvcError why none began
 */
export async function runSites(
  commands: readonly SiteCommand[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const failures: unknown[] = []
  const areSeveral = commands.length > 1
  const ends = commands.map(async (command, position) => {
    try {
      return await runSite(command, position, surroundings, areSeveral)
    } catch (error) {
      failures.push(error)
      return explain(error).exitCode
    }
  })
  const codes = await Promise.all(ends)
  if (failures.length === commands.length) throw failures[0]
  return codes.find((code) => code !== EXIT.ok) ?? EXIT.ok
}

/**
 * @param areSeveral others may go on: why this one did not begin is told at once
 * @throws SvcError why it did not begin
 */
async function runSite(
  command: SiteCommand,
  position: number,
  surroundings: Surroundings,
  areSeveral: boolean,
): Promise<ExitCode> {
  const { board, signal } = surroundings
  const { banMitm, name: tunnel, relay: relays } = command.options
  const follower = new Follower(surroundings, { tunnel, position, hasWeb: hasWeb(command) })
  try {
    const exposure = await expose({
      ...(await siteOptions(command.options)),
      ...(await targets(command)),
      signal,
      onSite: (site, relay) => follower.follow(site, relay),
      onTargetError: (error) => follower.complain(undefined, error),
      onRequest: (request) => board.requested({ tunnel, ...request }),
      banMitm,
      onProbe: ({ site, verdict }) => follower.probed(site, verdict, banMitm),
    })
    for (const { relay, error } of exposure.failures) {
      follower.failed(relay, error)
      follower.complain(relay, error)
    }
    return await follower.over
  } catch (error) {
    if (!signal.aborted) {
      const relay = relays[0]
      follower.failed(relay ?? '', error)
      if (areSeveral) follower.complain(relay, error)
    }
    throw error
  } finally {
    await follower.settled()
  }
}

/** Something answers at the HTTPS URL. */
function hasWeb(command: SiteCommand): boolean {
  if (command.command === 'serve') return true
  const { target, options } = command
  return target !== undefined || options.tls !== undefined || options.route.length > 0
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
    metadata: await metadataOf(options),
    ...(options.ca !== undefined && { ca: await readPem('--ca', options.ca) }),
  }
}

async function metadataOf({
  hide,
  description,
  owner,
  tag,
  thumbnail,
}: SiteOptions): Promise<LeaseMetadata | undefined> {
  const metadata = {
    ...(hide && { hide }),
    ...(description !== undefined && { description }),
    ...(owner !== undefined && { owner }),
    ...(tag.length > 0 && { tags: tag }),
    ...(thumbnail !== undefined && { thumbnail: await pictureUrl('--thumbnail', thumbnail) }),
  }
  return Object.keys(metadata).length === 0 ? undefined : metadata
}

async function targets(chosen: SiteCommand): Promise<Partial<ExposeOptions>> {
  const { route, targetCa } = chosen.options
  const shared = {
    ...(route.length > 0 && { routes: routesOf(route) }),
    ...(targetCa !== undefined && { targetCa: await readPem('--target-ca', targetCa) }),
  }
  if (chosen.command === 'serve') {
    const { listing, hidden } = chosen.options
    return { ...shared, fetch: files(await openFolder(chosen.folder, { hidden }), { listing, hidden }) }
  }
  const { tcp, udp, tls } = chosen.options
  if (chosen.target !== undefined && isFolder(chosen.target))
    throw new SvcError(
      'invalid_option',
      `${chosen.target} is a folder: svc serve ${chosen.target} publishes its files`,
    )
  return { ...shared, http: chosen.target, tcp, udp, tls }
}

/** A name alone may be that of a host. */
function isFolder(target: string): boolean {
  return /^\.{0,2}[/\\]|^\.{1,2}$|^~/.test(target) || isAbsolute(target)
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
