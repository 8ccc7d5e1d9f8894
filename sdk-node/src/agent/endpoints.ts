// The table of the control API's endpoints: method, required role and handler of each path.

import { isRecord } from '@svc/sdk-core'
import { INSPECTOR_ENDPOINTS, type InspectorContext } from '../inspector/endpoints.ts'
import { type PageSettingsStore, WITHOUT_SETTINGS } from '../inspector/page-settings.ts'
import {
  AGENT_PATH,
  type AgentLogs,
  type AgentRequest,
  type AgentShares,
  type ChangeTunnelRequest,
  LOG_LINES_DEFAULT,
  LOG_LINES_MAX,
  type SignIn,
  type WalletChallenge,
  type WalletChallengeRequest,
} from './api-messages.ts'
import { text, yesOrNo } from './body-fields.ts'
import type { ControlApi } from './control-server.ts'
import type { Endpoint, SharedContext } from './endpoint.ts'
import { AgentError } from './errors.ts'
import type { AgentOperations } from './operations.ts'
import { SIGN_IN_ENDPOINTS } from './sign-in-endpoints.ts'
import { WalletChallenges } from './wallet-challenges.ts'

export interface EndpointContext extends SharedContext, InspectorContext {
  operations: AgentOperations
  challenges: WalletChallenges
}

/** Returns the control API of an agent. */
export function agentApi(
  operations: AgentOperations,
  page?: ControlApi<EndpointContext>['page'],
  settings: PageSettingsStore = WITHOUT_SETTINGS,
): ControlApi<EndpointContext> {
  return {
    endpoints: ENDPOINTS,
    context: (shared) => ({
      ...shared,
      operations,
      challenges: new WalletChallenges(shared.url),
      inspection: () => operations.inspection(),
      settings,
    }),
    failed: (error) => operations.failed(error),
    page,
  }
}

const changing = (
  change: (operations: AgentOperations, body: Record<string, unknown>) => Promise<void>,
): Endpoint<EndpointContext> => ({
  method: 'POST',
  role: 'owner',
  answer: async ({ body }, { operations }) => {
    await change(operations, body)
    return {}
  },
})

/** Removes the path, which may contain secrets of the visitor, such as a token in a link, and the address. */
function withoutVisitor({
  path: _path,
  address: _address,
  webhook: _webhook,
  ...request
}: AgentRequest): AgentRequest {
  return request
}

export const ENDPOINTS: Readonly<Record<string, Endpoint<EndpointContext>>> = {
  ...SIGN_IN_ENDPOINTS,
  ...INSPECTOR_ENDPOINTS,
  [AGENT_PATH.challenge]: {
    method: 'POST',
    answer: ({ body }, { challenges, operations }): WalletChallenge => {
      const { address }: Partial<WalletChallengeRequest> = body
      const challenge = challenges.issue(address)
      requireAllowed(operations, String(address))
      return challenge
    },
  },
  [AGENT_PATH.login]: {
    method: 'POST',
    answer: async ({ body }, { challenges, signIns, operations }): Promise<SignIn> => {
      const address = await challenges.redeem({
        challenge_id: text(body, 'challenge_id'),
        siwe_message: text(body, 'siwe_message'),
        siwe_signature: text(body, 'siwe_signature'),
      })
      requireAllowed(operations, address)
      return signIns.signIn('reader', address)
    },
  },
  [AGENT_PATH.status]: {
    method: 'GET',
    role: 'reader',
    answer: ({ caller }, { operations, url }) => {
      const status = operations.status(url)
      if (caller?.role === 'owner') return status
      return { ...status, requests: status.requests.map(withoutVisitor), flows: [], knocks: [] }
    },
  },
  [AGENT_PATH.config]: {
    method: 'GET',
    role: 'owner',
    answer: (_, { operations }) => operations.config(),
  },
  [AGENT_PATH.addTunnel]: changing((operations, body) =>
    operations.addTunnel({ settings: settingsOf(body, false) as never }),
  ),
  [AGENT_PATH.changeTunnel]: changing((operations, body) =>
    operations.changeTunnel({ name: nameOf(body), settings: settingsOf(body, true) }),
  ),
  [AGENT_PATH.removeTunnel]: changing((operations, body) => operations.removeTunnel({ name: nameOf(body) })),
  [AGENT_PATH.pauseTunnel]: changing((operations, body) => operations.pauseTunnel({ name: nameOf(body) })),
  [AGENT_PATH.resumeTunnel]: changing((operations, body) => operations.resumeTunnel({ name: nameOf(body) })),
  [AGENT_PATH.connectRelay]: changing((operations, body) =>
    operations.connectRelay({ name: nameOf(body), relay: text(body, 'relay') }),
  ),
  [AGENT_PATH.disconnectRelay]: changing((operations, body) =>
    operations.disconnectRelay({ name: nameOf(body), relay: text(body, 'relay') }),
  ),
  [AGENT_PATH.recordTunnel]: changing((operations, body) =>
    operations.recordTunnel({ name: nameOf(body), record: yesOrNo(body, 'record') }),
  ),
  [AGENT_PATH.answerKnock]: changing((operations, body) =>
    operations.answerKnock({
      code: text(body, 'code'),
      admit: yesOrNo(body, 'admit'),
      always: yesOrNo(body, 'always'),
    }),
  ),
  [AGENT_PATH.shares]: {
    method: 'GET',
    role: 'owner',
    answer: (_, { operations }): AgentShares => ({ shares: operations.shares() }),
  },
  [AGENT_PATH.makeShare]: {
    method: 'POST',
    role: 'owner',
    answer: ({ body }, { operations }) =>
      operations.makeShare({
        name: nameOf(body),
        until: textOr(body, 'until'),
        once: body.once === undefined ? undefined : yesOrNo(body, 'once'),
        note: textOr(body, 'note'),
        path: textOr(body, 'path'),
      }),
  },
  [AGENT_PATH.withdrawShare]: changing((operations, body) =>
    operations.withdrawShare({ id: text(body, 'id') }),
  ),
  [AGENT_PATH.reload]: changing((operations) => operations.reload()),
  [AGENT_PATH.shutdown]: changing(async (operations) => operations.shutdown()),
  [AGENT_PATH.logs]: {
    method: 'GET',
    role: 'owner',
    answer: async ({ query }, { operations }): Promise<AgentLogs> => {
      const lines = Number(query.get('lines') ?? LOG_LINES_DEFAULT)
      if (!Number.isInteger(lines) || lines < 1 || lines > LOG_LINES_MAX)
        throw new AgentError('invalid_request', `lines is not a number from 1 to ${LOG_LINES_MAX}`)
      return { lines: await operations.logs(lines) }
    },
  },
}

function requireAllowed(operations: AgentOperations, address: string): void {
  if (!operations.isAllowed(address))
    throw new AgentError('forbidden', 'agent.allowed_wallets does not have this wallet')
}

function nameOf(body: Record<string, unknown>): string | undefined {
  return textOr(body, 'name')
}

function textOr(body: Record<string, unknown>, field: string): string | undefined {
  return body[field] === undefined ? undefined : text(body, field)
}

/** Returns whether svc.toml can contain the value. The fields are checked later, as those of a file. */
function isSetting(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isText)
  if (isRecord(value)) return Object.entries(value).every(([key, each]) => isText(key) && isPlain(each))
  return isPlain(value)
}

/** The table `access` has lists, and the table `users`. */
function isAccess(value: unknown, mayRemove: boolean): boolean {
  if (!isRecord(value)) return false
  const isGone = (each: unknown): boolean => mayRemove && each === null
  const isUsers = (each: unknown): boolean =>
    isRecord(each) &&
    Object.entries(each).every(([name, password]) => isText(name) && (isText(password) || isGone(password)))
  return Object.entries(value).every(
    ([field, each]) =>
      isText(field) && (isGone(each) || isUsers(each) || (!isRecord(each) && isSetting(each))),
  )
}

/** TOML has no infinite numbers and no lone surrogates. */
function isPlain(value: unknown): boolean {
  return typeof value === 'boolean' || Number.isSafeInteger(value) || isText(value)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed()
}

function settingsOf(body: Record<string, unknown>, mayRemove: boolean): ChangeTunnelRequest['settings'] {
  const { settings } = body
  if (!isRecord(settings)) throw new AgentError('invalid_request', 'settings is not an object')
  for (const [field, value] of Object.entries(settings)) {
    const isTaken =
      (mayRemove && value === null) || isSetting(value) || (field === 'access' && isAccess(value, mayRemove))
    if (!isTaken)
      throw new AgentError('invalid_request', `${JSON.stringify(field)} has a value that no field may have`)
  }
  return settings as ChangeTunnelRequest['settings']
}
