// `svc share`: each running `svc` whose visitors sign in makes, lists and withdraws share links at a socket that only its user can open.

import { join } from 'node:path'
import { isRecord, type ShareOptions, SvcError } from '@svc/sdk-core'
import type { AgentShare, MadeShare } from '../../agent/api-messages.ts'
import type { ParsedCommand } from '../options/parsed-command.ts'
import { explainError } from '../report/explain-error.ts'
import type { Reporter } from '../report/report.ts'
import type { StatusStore } from '../report/status-store.ts'
import { answerAt, askAll, askAt } from './command-socket.ts'
import { makeShare, type SharedSite, sharedSites, sharesOf, withdrawShare } from './shared-tunnels.ts'
import { readStatus } from './status-socket.ts'

/** What the site refused, or could not do. */
interface Refusal {
  error?: string
}

interface Overview {
  sites: SharedSite[]
  shares: AgentShare[]
}

/** Returns the folder of the sockets. @param run the folder of all sockets of this user */
function folderIn(run: string): string {
  return join(run, 'share')
}

/**
 * Makes, lists and withdraws links until it is closed.
 * @param run the folder of all sockets of this user
 * @throws SvcError `invalid_option` when the socket cannot be created
 */
export function shareShares(run: string, store: StatusStore): Promise<{ close(): void }> {
  return answerAt(folderIn(run), 'svc share', async ({ make, withdraw }) => {
    try {
      if (isRecord(make)) return await makeShare(store, ({ url }) => url === make.url, optionsOf(make))
      if (typeof withdraw === 'string') return { isWithdrawn: await withdrawShare(store, withdraw) }
      return { sites: sharedSites(store), shares: sharesOf(store) } satisfies Overview
    } catch (error) {
      return { error: explainError(error).message } satisfies Refusal
    }
  })
}

/** Carries out `svc share`. @throws SvcError `invalid_option`, whose message says what to do */
export async function obeyShare(
  run: string,
  { tunnel, options }: Extract<ParsedCommand, { command: 'share' }>,
  tell: Reporter,
): Promise<void> {
  if (process.platform === 'win32')
    throw new SvcError(
      'invalid_option',
      'on Windows, share links are made in the page of the agent: svc agent open',
    )
  const { list, withdraw, expires: until, once, note, path } = options
  if (withdraw !== undefined) await withdrawLink(run, withdraw, tell)
  else if (list) await listLinks(run, tunnel, tell)
  else await makeLink(run, tunnel, { until, once, note, path }, tell)
}

/**
 * Makes a link for a running tunnel.
 * @param wanted its name or URL; undefined for the only one
 * @throws SvcError `invalid_option`, whose message says what to do
 */
async function makeLink(
  run: string,
  wanted: string | undefined,
  options: ShareOptions,
  tell: Reporter,
): Promise<void> {
  const { path, site } = await find(run, wanted)
  const make = { ...options, url: site.url }
  const { tunnel, id, url, once, until, note } = done(await askAt<MadeShare & Refusal>(path, { make }))
  tell({ event: 'shared', tunnel, id, url, once, until, note })
}

/** Reports each link of the tunnel, or of all. */
async function listLinks(run: string, wanted: string | undefined, tell: Reporter): Promise<void> {
  const overviews = await ask(run)
  const isWanted = ({ tunnel }: AgentShare): boolean =>
    wanted === undefined ||
    overviews.some(({ sites }) => sites.some((site) => site.tunnel === tunnel && isNamed(site, wanted)))
  const shares = overviews.flatMap(({ shares }) => shares).filter(isWanted)
  for (const share of shares) tell({ event: 'share', ...share })
  if (shares.length === 0) tell({ event: 'no_shares' })
}

/**
 * Withdraws a link wherever it is.
 * @throws SvcError `invalid_option` when there is none, or its withdrawal does not outlast this run
 */
async function withdrawLink(run: string, id: string, tell: Reporter): Promise<void> {
  const holders = (await ask(run)).filter(({ shares }) => shares.some((share) => share.id === id))
  if (holders.length === 0)
    throw new SvcError(
      'invalid_option',
      `there is no share link ${id}: svc share --list prints those that there are`,
    )
  const answers = holders.map(({ path }) => askAt<Refusal>(path, { withdraw: id }))
  for (const answer of await Promise.all(answers)) done(answer)
  tell({ event: 'withdrawn', id })
}

/** Finds the one site for which a link is wanted. @throws SvcError `invalid_option` */
async function find(run: string, wanted: string | undefined): Promise<{ path: string; site: SharedSite }> {
  const all = (await ask(run)).flatMap(({ path, sites }) => sites.map((site) => ({ path, site })))
  const named = all.filter(({ site }) => wanted === undefined || isNamed(site, wanted))
  // The sites of one tunnel have the same links: any of them does.
  const [first, ...others] = named.filter(
    ({ path, site }, at) =>
      named.findIndex((each) => each.path === path && each.site.tunnel === site.tunnel) === at,
  )
  if (first === undefined) throw new SvcError('invalid_option', await whyNone(run, wanted))
  if (others.length === 0) return first
  const choices = [first, ...others].map(({ site }) => (wanted === undefined && site.tunnel) || site.url)
  throw new SvcError(
    'invalid_option',
    `there are several tunnels: svc share ${choices.join(', or svc share ')}`,
  )
}

async function whyNone(run: string, wanted: string | undefined): Promise<string> {
  const running = (await readStatus(run)).flatMap((report) =>
    report.event === 'status' ? [{ tunnel: report.tunnel, url: report.url ?? '' }] : [],
  )
  const named = running.filter((site) => wanted === undefined || isNamed(site, wanted))
  if (named.length > 0)
    return `${wanted ?? 'what runs here'} does not ask visitors who they are, or is not online: a share link needs --password, --user, --bearer, --oidc or --knock`
  if (running.length > 0) return `no tunnel ${wanted} is running: svc status lists those that are`
  return 'no tunnel is running: start one, such as svc expose 3000 --password SECRET'
}

/** Returns whether the words name the site: its tunnel, or its URL. */
function isNamed({ tunnel, url }: SharedSite, wanted: string): boolean {
  return tunnel === wanted || (url !== '' && URL.parse(wanted)?.origin === new URL(url).origin)
}

/** @throws SvcError what the site refused */
function done<A extends Refusal>(answer: A | undefined): A {
  if (answer === undefined)
    throw new SvcError('invalid_option', 'the svc that runs the tunnel does not answer: try again')
  if (answer.error !== undefined) throw new SvcError('invalid_option', answer.error)
  return answer
}

function ask(run: string): Promise<(Overview & { path: string })[]> {
  return askAll<Overview>(folderIn(run), {})
}

/** The site checks what the options say. */
function optionsOf({ once, until, note, path }: Record<string, unknown>): ShareOptions {
  return {
    once: once === true,
    ...(until !== undefined && { until: String(until) }),
    ...(note !== undefined && { note: String(note) }),
    ...(path !== undefined && { path: String(path) }),
  }
}
