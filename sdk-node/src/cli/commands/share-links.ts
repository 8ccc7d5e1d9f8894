// `svc share`: makes, lists and withdraws share links of running tunnels, at the sockets of their processes or, on Windows, at the agent.

import { type ShareOptions, SvcError } from '@svc/sdk-core'
import type { AgentShare, MadeShare } from '../../agent/api-messages.ts'
import type { ParsedCommand } from '../options/parsed-command.ts'
import type { Reporter } from '../report/report.ts'
import type { SharedSite } from './shared-tunnels.ts'

/** A process with tunnels that can be shared. Its methods reject with an SvcError that says what it refused. */
interface ShareHolder {
  sites: readonly SharedSite[]
  shares: readonly AgentShare[]
  make(site: SharedSite, options: ShareOptions): Promise<MadeShare>
  withdraw(id: string): Promise<void>
}

/** Where running tunnels are asked. */
export interface ShareSource {
  /** @throws SvcError `invalid_option` when nobody can be asked */
  holders(): Promise<ShareHolder[]>
  /** All tunnels, also those that cannot be shared. */
  running(): Promise<SharedSite[]>
}

/** Carries out `svc share`. @throws SvcError `invalid_option`, whose message says what to do */
export async function obeyShare(
  source: ShareSource,
  { tunnel, options }: Extract<ParsedCommand, { command: 'share' }>,
  tell: Reporter,
): Promise<void> {
  const { list, withdraw, expires: until, once, note, path } = options
  if (withdraw !== undefined) await withdrawLink(source, withdraw, tell)
  else if (list) await listLinks(source, tunnel, tell)
  else await makeLink(source, tunnel, { until, once, note, path }, tell)
}

/**
 * Makes a link for a running tunnel.
 * @param wanted its name or URL; undefined for the only one
 * @throws SvcError `invalid_option`, whose message says what to do
 */
async function makeLink(
  source: ShareSource,
  wanted: string | undefined,
  options: ShareOptions,
  tell: Reporter,
): Promise<void> {
  const { holder, site } = await find(source, wanted)
  const { tunnel, id, url, once, until, note } = await holder.make(site, options)
  tell({ event: 'shared', tunnel, id, url, once, until, note })
}

/** Reports each link of the tunnel, or of all. */
async function listLinks(source: ShareSource, wanted: string | undefined, tell: Reporter): Promise<void> {
  const holders = await source.holders()
  const isWanted = ({ tunnel }: AgentShare): boolean =>
    wanted === undefined ||
    holders.some(({ sites }) => sites.some((site) => site.tunnel === tunnel && isNamed(site, wanted)))
  const shares = holders.flatMap(({ shares }) => shares).filter(isWanted)
  for (const share of shares) tell({ event: 'share', ...share })
  if (shares.length === 0) tell({ event: 'no_shares' })
}

/**
 * Withdraws a link wherever it is.
 * @throws SvcError `invalid_option` when the tunnel has no such link, or would forget the withdrawal when it ends
 */
async function withdrawLink(source: ShareSource, id: string, tell: Reporter): Promise<void> {
  const all = await source.holders()
  const holders = all.filter(({ shares }) => shares.some((share) => share.id === id))
  if (holders.length === 0)
    throw new SvcError(
      'invalid_option',
      `there is no share link ${id}: svc share --list prints those that there are`,
    )
  await Promise.all(holders.map((holder) => holder.withdraw(id)))
  tell({ event: 'withdrawn', id })
}

/** Finds the one site for which a link is wanted. @throws SvcError `invalid_option` */
async function find(
  source: ShareSource,
  wanted: string | undefined,
): Promise<{ holder: ShareHolder; site: SharedSite }> {
  const holders = await source.holders()
  const all = holders.flatMap((holder) => holder.sites.map((site) => ({ holder, site })))
  const named = all.filter(({ site }) => wanted === undefined || isNamed(site, wanted))
  // The sites of one tunnel have the same links: any of them does.
  const [first, ...others] = named.filter(
    ({ holder, site }, at) =>
      named.findIndex((each) => each.holder === holder && each.site.tunnel === site.tunnel) === at,
  )
  if (first === undefined) throw new SvcError('invalid_option', await whyNone(source, wanted))
  if (others.length === 0) return first
  const choices = [first, ...others].map(({ site }) => (wanted === undefined && site.tunnel) || site.url)
  throw new SvcError(
    'invalid_option',
    `there are several tunnels: svc share ${choices.join(', or svc share ')}`,
  )
}

async function whyNone(source: ShareSource, wanted: string | undefined): Promise<string> {
  const running = await source.running()
  const named = running.filter((site) => wanted === undefined || isNamed(site, wanted))
  if (named.length > 0)
    return `${wanted ?? 'what runs here'} lets everybody in, or is not online: a share link needs --password, --user, --bearer, --oidc or --knock`
  if (running.length > 0) return `no tunnel ${wanted} is running: svc status lists those that are`
  return 'no tunnel is running: start one, such as svc expose 3000 --password SECRET'
}

/** Returns whether the words name the site: its tunnel, or its URL. */
function isNamed({ tunnel, url }: SharedSite, wanted: string): boolean {
  return tunnel === wanted || (url !== '' && URL.parse(wanted)?.origin === new URL(url).origin)
}
