// Runs the commands of `svc-relay` that change what the running relay decides, by its API.

import {
  type AdministratorRequest,
  type AdministratorsResponse,
  type InvitationRequest,
  type InvitationsResponse,
  LEASE_DECISIONS_MAX,
  type LeaseDecision,
  type LeaseDecisions,
  type NamePolicyUpdate,
  type NewAdministrator,
  type NewInvitation,
  PATH,
  type PinnedNamesResponse,
  type PolicyLease,
  type PolicyStateResponse,
  type WithdrawInvitationRequest,
} from '@svc/protocol'
import { SettingsError } from '../core/config/settings-error.ts'
import { readSettings } from '../settings.ts'
import { AdminClient, AdminClientError } from './admin-client.ts'

export type ManageRequest =
  | { action: 'list names' | 'list administrators' | 'list invitations' | 'list leases' }
  | { action: 'decide'; decisions: LeaseDecision[] }
  | ({ action: 'invite' } & InvitationRequest)
  | ({ action: 'withdraw' } & WithdrawInvitationRequest)
  | ({ action: 'pin' } & NamePolicyUpdate)
  | ({ action: 'add administrator' | 'remove administrator' } & AdministratorRequest)

/** Prints what the relay answers; the exit code is 1 when it refuses, or does not answer. */
export async function manage(request: ManageRequest): Promise<void> {
  try {
    console.log(await answerOf(new AdminClient(readSettings(process.env)), request))
  } catch (error) {
    if (!(error instanceof SettingsError || error instanceof AdminClientError)) throw error
    console.error(`svc-relay: ${error.message}`)
    process.exitCode = 1
  }
}

async function answerOf(client: AdminClient, request: ManageRequest): Promise<string> {
  switch (request.action) {
    case 'pin':
      return await pin(client, request)
    case 'list names':
      return await listNames(client)
    case 'list leases':
      return await listLeases(client)
    case 'decide':
      return await decide(client, request.decisions)
    case 'invite':
      return await invite(client, request)
    case 'withdraw':
      await client.call(PATH.withdrawInvitation, { id: request.id } satisfies WithdrawInvitationRequest)
      return `The invitation ${request.id} is withdrawn, and who came in with it is out.`
    case 'list invitations':
      return await listInvitations(client)
    case 'add administrator':
      return await addAdministrator(client, request)
    case 'remove administrator':
      await client.call(PATH.removeAdministrator, { name: request.name } satisfies AdministratorRequest)
      return `The token of ${request.name} is no longer valid.`
    case 'list administrators':
      return await listAdministrators(client)
  }
}

async function listNames(client: AdminClient): Promise<string> {
  const { pinned } = await client.call<PinnedNamesResponse>(PATH.policyNames)
  return table(['NAME', 'ADDRESS'], Object.entries(pinned), 'No name is pinned.')
}

/** In the order of their registration. */
async function listLeases(client: AdminClient): Promise<string> {
  const leases: PolicyLease[] = []
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: PolicyStateResponse = await client.call(
      `${PATH.policyState}?after=${encodeURIComponent(after)}`,
    )
    leases.push(...page.leases)
    after = page.next
  }
  const rows = leases.map((lease) => {
    const { open_connections = 0, received_bps = 0, sent_bps = 0, day } = lease.traffic ?? {}
    return [
      lease.identity_key,
      stateOf(lease),
      `${open_connections}`,
      `${bytes(received_bps)}/s`,
      `${bytes(sent_bps)}/s`,
      bytes(day?.received_bytes ?? 0),
      bytes(day?.sent_bytes ?? 0),
      `${day?.visitors ?? 0}`,
    ]
  })
  const head = ['KEY', 'STATE', 'OPEN', 'IN', 'OUT', 'IN 24H', 'OUT 24H', 'VISITORS 24H']
  return table(head, rows, 'There is no lease.')
}

function stateOf({ is_banned, is_ip_banned, is_denied, is_approved, ready }: PolicyLease): string {
  if (is_banned || is_ip_banned) return 'banned'
  if (is_denied) return 'denied'
  if (!is_approved) return 'waits'
  return ready > 0 ? 'ready' : 'busy'
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']
const UNIT_STEP = 1_000

function bytes(count: number): string {
  let [value, unit] = [count, 0]
  while (value >= UNIT_STEP && unit < UNITS.length - 1) {
    value /= UNIT_STEP
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}

async function decide(client: AdminClient, decisions: readonly LeaseDecision[]): Promise<string> {
  for (let at = 0; at < decisions.length; at += LEASE_DECISIONS_MAX) {
    const some = decisions.slice(at, at + LEASE_DECISIONS_MAX)
    await client.call(PATH.policyLeasesBulk, { decisions: some } satisfies LeaseDecisions)
  }
  return decisions.map((made) => `${made.identity_key} is ${doneOf(made)}.`).join('\n')
}

function doneOf({ is_banned, is_approved }: LeaseDecision): string {
  if (is_banned !== undefined) return is_banned ? 'banned' : 'no longer banned'
  return is_approved ? 'approved' : 'denied'
}

async function invite(client: AdminClient, { names, ttl, note }: InvitationRequest): Promise<string> {
  const { token, invitation } = await client.call<NewInvitation>(PATH.policyInvitations, { names, ttl, note })
  console.error(`The token of the invitation ${invitation.id}, which nothing shows again:`)
  return token
}

async function listInvitations(client: AdminClient): Promise<string> {
  const { invitations } = await client.call<InvitationsResponse>(PATH.policyInvitations)
  const rows = invitations.map(({ id, names, identity_keys, expires_at = 'never', note }) => [
    id,
    `${identity_keys.length} of ${names}`,
    expires_at,
    // What an administrator wrote must not control the terminal of another.
    note.replace(/\p{Cc}/gu, ' '),
  ])
  return table(['ID', 'USED', 'EXPIRES', 'NOTE'], rows, 'There is no invitation.')
}

/** Only the token goes to standard output, for a pipe. */
async function addAdministrator(client: AdminClient, { name }: AdministratorRequest): Promise<string> {
  const { token } = await client.call<NewAdministrator>(PATH.administrators, { name })
  console.error(`The token of ${name}, which nothing shows again:`)
  return token
}

async function listAdministrators(client: AdminClient): Promise<string> {
  const { administrators } = await client.call<AdministratorsResponse>(PATH.administrators)
  const rows = administrators.map(({ name, created_at }) => [name, created_at])
  return table(['NAME', 'SINCE'], rows, 'Nobody but the holder of ADMIN_TOKEN is an administrator.')
}

async function pin(client: AdminClient, { name, address }: NamePolicyUpdate): Promise<string> {
  await client.call(PATH.policyNames, { name, address } satisfies NamePolicyUpdate)
  return address === '' ? `Anybody may register ${name} again.` : `Only ${address} gets the name ${name}.`
}

/** Columns of text; `empty` instead where there is no row. */
function table(head: readonly string[], rows: readonly (readonly string[])[], empty: string): string {
  if (rows.length === 0) return empty
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
