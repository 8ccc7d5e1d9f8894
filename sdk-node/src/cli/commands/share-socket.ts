// For `svc share`, each running `svc` whose visitors sign in makes, lists and withdraws share links at a socket that only its user can open.

import { join } from 'node:path'
import { isRecord, type ShareOptions, SvcError } from '@svc/sdk-core'
import type { AgentShare, MadeShare } from '../../agent/api-messages.ts'
import { explainError } from '../report/explain-error.ts'
import type { StatusStore } from '../report/status-store.ts'
import { answerAt, askAll, askAt } from './command-socket.ts'
import type { ShareSource } from './share-links.ts'
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

/** The tunnels of all running commands of this user. */
export function tunnelsAtSockets(run: string): ShareSource {
  return {
    holders: async () => {
      const overviews = await ask(run)
      return overviews.map(({ path, sites, shares }) => ({
        sites,
        shares,
        make: async ({ url }, options) =>
          done(await askAt<MadeShare & Refusal>(path, { make: { ...options, url } })),
        withdraw: async (id) => void done(await askAt<Refusal>(path, { withdraw: id })),
      }))
    },
    running: async () =>
      (await readStatus(run)).flatMap((report) =>
        report.event === 'status' ? [{ tunnel: report.tunnel, url: report.url ?? '' }] : [],
      ),
  }
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
