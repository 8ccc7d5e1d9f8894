// Converts a tunnel of the command line or the config file to the options of `expose`.

import { readFile, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { withoutByteOrderMark } from '@svc/protocol'
import { type FetchHandler, type SiteMetadata, SvcError } from '@svc/sdk-core'
import type { ExposeOptions } from '../../expose/options.ts'
import { parseHttpTarget } from '../../target/target-address.ts'
import { NO_RELAY } from '../options/command-line.ts'
import type { SiteCommand, SiteOptions } from '../options/parsed-command.ts'
import { readPem, readRevocationLists } from '../options/pem-file.ts'
import { thumbnailUrl } from '../options/thumbnail.ts'
import { accessOptions } from './access-options.ts'
import { domainOptions } from './domain-options.ts'
import { type PricedRoute, paidOptions, parseRoute } from './paid-options.ts'
import { answersByPath, rulesOf } from './traffic-rules.ts'
import { holdOptions, webhookSecrets } from './webhook-options.ts'

/**
 * Resolves with the options of `expose` for this command.
 * @throws SvcError when the command, or a file that it names, is wrong
 */
export async function exposeOptions(command: SiteCommand): Promise<ExposeOptions> {
  return { ...(await siteOptions(command.options)), ...(await targets(command)) }
}

/** @returns whether the tunnel answers at the HTTPS URL */
export function hasWeb(command: SiteCommand): boolean {
  if (command.command === 'serve') return true
  const { target, options } = command
  const { tls, route, rules, replay } = options
  return [target, tls, rules?.mocks, replay].some((given) => given !== undefined) || route.length > 0
}

/** @returns whether the tunnel answers requests itself: those of a TLS server are not seen here */
export function hasHttp(command: SiteCommand): boolean {
  return command.command === 'serve' || command.target !== undefined || command.options.route.length > 0
}

async function siteOptions(options: SiteOptions): Promise<ExposeOptions> {
  if (options.relay.length === 0) throw new SvcError('invalid_option', NO_RELAY)
  return {
    relays: options.relay,
    identityPath: options.identityPath,
    name: options.name,
    carrier: options.carrier,
    overlay: options.overlay,
    allowLocalGateways: options.allowLocalGateways,
    certificate: options.certificate,
    tlsMinVersion: options.tlsMinVersion,
    clientCertificates: await clientCertificatesOf(options),
    hsts: options.hsts,
    allowCanonicalFallback: options.allowCanonical,
    ...(options.invitation !== undefined && { invitation: await readInvitation(options.invitation) }),
    discover: options.discover,
    ...(options.via !== undefined && { via: options.via }),
    awayPage: options.awayPage,
    listed: options.listed,
    metadata: await metadataOf(options),
    allowFields: options.allowField,
    access: await accessOptions(options),
    walletOnly: walletsOf(options),
    rules: rulesOf(options),
    ...(await domainOptions(options)),
    webhooks: await webhookSecrets(options),
    hold: holdOptions(options),
    ...(options.record !== undefined && { record: options.record }),
    ...(options.proxy !== undefined && { proxy: options.proxy }),
    ...(options.ca !== undefined && { ca: await readPem('--ca', options.ca) }),
  }
}

/** A process list shows arguments, and a file does not. */
async function readInvitation(given: string): Promise<string> {
  if (!given.startsWith('@')) return given
  const text = await readFile(given.slice(1), 'utf8').catch((cause) => {
    throw new SvcError('invalid_option', `--invitation ${given} cannot be read`, { cause })
  })
  return withoutByteOrderMark(text).trim()
}

function walletsOf({ allowWallet, walletRpc }: SiteOptions): ExposeOptions['walletOnly'] {
  if (allowWallet !== undefined) return { wallets: allowWallet, rpc: walletRpc }
  if (walletRpc === undefined) return undefined
  throw new SvcError('invalid_option', '--wallet-rpc is for --allow-wallet: without it nobody signs in')
}

async function clientCertificatesOf({
  clientCa,
  clientCertOptional,
  clientCrl,
}: SiteOptions): Promise<ExposeOptions['clientCertificates']> {
  if (clientCa === undefined) {
    const without = clientCertOptional ? '--client-cert-optional' : clientCrl && '--client-crl'
    if (!without) return undefined
    throw new SvcError('invalid_option', `${without} is for --client-ca: without it nobody is asked`)
  }
  return {
    ca: await readPem('--client-ca', clientCa),
    required: !clientCertOptional,
    ...(clientCrl !== undefined && { crl: await readRevocationLists('--client-crl', clientCrl) }),
  }
}

async function metadataOf({ description, owner, tag, thumbnail }: SiteOptions): Promise<SiteMetadata> {
  return {
    ...(description !== undefined && { description }),
    ...(owner !== undefined && { owner }),
    ...(tag.length > 0 && { tags: tag }),
    ...(thumbnail !== undefined && { thumbnail: await thumbnailUrl('--thumbnail', thumbnail) }),
  }
}

async function targets(chosen: SiteCommand): Promise<Partial<ExposeOptions>> {
  const { targetCa, targetServerName, hostHeader: host } = chosen.options
  const routes = chosen.options.route.map(parseRoute)
  const paid = await paidOptions(routes, chosen.options)
  const shared = {
    ...(routes.length > 0 && { routes: routesOf(routes) }),
    ...(paid && { paid }),
    ...(host !== undefined && { host }),
    ...(targetServerName !== undefined && { targetServerName }),
    ...(targetCa !== undefined && { targetCa: await readPem('--target-ca', targetCa) }),
  }
  if (chosen.command === 'serve') {
    const { listing, spa, hidden, cache, cacheTtl } = chosen.options
    if (!cache && cacheTtl !== undefined)
      throw new SvcError('invalid_option', '--cache-ttl is for --cache: without it the relay keeps no copy')
    const { files } = await import('@svc/sdk-core/handlers')
    const { openFolder } = await import('../../folder/folder-handle.ts')
    const { withHeaderRules } = await import('../../folder/header-rules.ts')
    const folder = await openFolder(chosen.folder, { hidden })
    // Whoever has to pay for a path, or gets another answer there, must not get its file in an archive.
    const archive = !paid && !answersByPath(rulesOf(chosen.options))
    return {
      ...shared,
      fetch: withHeaderRules(folder, (shown) => files(shown, { listing, archive, spa, hidden })),
      ...(cache && { cache: { files: folder, ttl: cacheTtl } }),
    }
  }
  const { tcp, udp, tls, proxyProtocol, replay } = chosen.options
  if (replay !== undefined) return { ...shared, fetch: await recordedAnswers(replay) }
  if (chosen.target !== undefined && (await isFolder(chosen.target)))
    throw new SvcError(
      'invalid_option',
      `${chosen.target} is a folder: svc serve ${chosen.target} publishes its files`,
    )
  return { ...shared, http: chosen.target, tcp, udp, tls, ...(proxyProtocol && { proxyProtocol }) }
}

/** @throws SvcError `invalid_option` that names the file */
async function recordedAnswers(path: string): Promise<FetchHandler> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw new SvcError('invalid_option', `${path} cannot be read`, { cause })
  })
  const { replayHar } = await import('@svc/sdk-core/recording')
  try {
    return replayHar(withoutByteOrderMark(text))
  } catch (cause) {
    throw new SvcError('invalid_option', `${path}: ${(cause as Error).message}`, { cause })
  }
}

/** Resolves with whether the target is a path, or the bare name of a folder and no address. */
async function isFolder(target: string): Promise<boolean> {
  if (/^\.{0,2}[/\\]|^\.{1,2}$|^~/.test(target) || isAbsolute(target)) return true
  try {
    parseHttpTarget(target)
    return false
  } catch {
    return await stat(target).then(
      (found) => found.isDirectory(),
      () => false,
    )
  }
}

function routesOf(routes: readonly PricedRoute[]): Record<string, string> {
  return Object.fromEntries(routes.map(({ place, target }) => [place, target]))
}
