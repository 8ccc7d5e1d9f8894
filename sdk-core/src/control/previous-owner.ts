// At a renewal, a site states to the relay where it is, and warns its user when another identity had its name before.

import type { SiteStatement } from '@svc/protocol'
import { SvcError } from '../errors.ts'
import { isRecord } from './json-checks.ts'
import type { LeaseEvents, LeaseRequest, Registration } from './lease.ts'
import type { RelayClient } from './relay-client.ts'
import { stateSite } from './site-statement.ts'

/** The clients whose users have been warned. */
const told = new WeakSet<RelayClient>()

/** Warns the user once about the previous owner of the name. @returns the statement for the relay */
export function prepareRenewal(
  client: RelayClient,
  request: LeaseRequest,
  lease: Registration,
  events: Pick<LeaseEvents, 'reduced'>,
): SiteStatement {
  const notice = told.has(client) ? undefined : previousOwner(lease)
  if (notice) {
    told.add(client)
    events.reduced(notice)
  }
  return stateSite(client, request, lease)
}

/** Browsers and certificates outlast the other identity. @returns undefined when the relay names none, or not as the protocol says */
export function previousOwner({
  hostname,
  answer: { previous_owner: previous },
}: Pick<Registration, 'hostname' | 'answer'>): SvcError | undefined {
  if (hostname === '' || !isRecord(previous)) return undefined
  const [until, certified] = [timeOf(previous.until), timeOf(previous.certified_until)]
  if (until === undefined) return undefined
  const certificate =
    certified === undefined ? '' : `, and it may have a certificate for it until ${certified}`
  const message = `${hostname} belonged to another identity until ${until}: browsers that visited it then keep its cookies, storage and service workers${certificate}. The canonical hostname never was another's.`
  return new SvcError('name_had_other_owner', message)
}

/** Parses and prints the time, so that none of the relay's text is passed on. */
function timeOf(value: unknown): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
