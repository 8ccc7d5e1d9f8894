// The endpoints of the inspector, for its own server and that of the agent.

import { SvcError } from '@svc/sdk-core'
import type { Inspection } from '@svc/sdk-core/inspector'
import { text, yesOrNo } from '../agent/body-fields.ts'
import type { Endpoint, Question } from '../agent/endpoint.ts'
import { AgentError } from '../agent/errors.ts'
import {
  type DescriptorSet,
  type ExportedText,
  type ExportFormat,
  type HarFile,
  type HarImport,
  INSPECTOR_PATH,
  type ListQuery,
  type PageSettings,
  type PauseRequest,
  type ReplayRequest,
  WAIT_MAX_MS,
} from './api-messages.ts'
import type { PageSettingsStore } from './page-settings.ts'

export interface InspectorContext {
  /** @throws AgentError `inspector_off` */
  inspection(): Inspection
  /** What a person chose for the page. */
  settings: PageSettingsStore
}

/** The largest body of a replay, in bytes: an edited content of a few MiB in base64. */
const REPLAY_MAX_BYTES: number = 8 * 1024 * 1024
/** The largest HTTP Archive to import, in bytes. */
const HAR_MAX_BYTES: number = 64 * 1024 * 1024
/** The largest FileDescriptorSet in base64, in bytes: those of large companies have some MiB. */
const DESCRIPTORS_MAX_BYTES: number = 16 * 1024 * 1024
const FORMATS: readonly ExportFormat[] = ['curl', 'fetch', 'python']
const TEXTS = ['after', 'tunnel', 'method', 'path', 'status', 'text'] as const

type Ask = (inspection: Inspection, question: Question) => object | Promise<object>

const asking = (method: 'GET' | 'POST', ask: Ask, maxBytes?: number): Endpoint<InspectorContext> => ({
  method,
  role: 'owner',
  ...(maxBytes !== undefined && { maxBytes }),
  answer: (question, context) => answered(() => ask(context.inspection(), question)),
})

export const INSPECTOR_ENDPOINTS: Readonly<Record<string, Endpoint<InspectorContext>>> = {
  [INSPECTOR_PATH.entries]: asking('GET', async (inspection, { query }) => {
    const asked = listQuery(query)
    const wait = wholeNumber(query, 'wait_ms', 0, WAIT_MAX_MS) ?? 0
    if (wait > 0) await inspection.changed(asked.after, AbortSignal.timeout(wait))
    return inspection.list(asked)
  }),
  [INSPECTOR_PATH.entry]: asking('GET', (inspection, { query }) =>
    inspection.entry(
      knownId(inspection, query.get('id')),
      isUnmasked(query),
      query.get('message_type') ?? undefined,
    ),
  ),
  [INSPECTOR_PATH.body]: asking('GET', (inspection, { query }) => {
    const side = query.get('side')
    if (side !== 'request' && side !== 'response')
      throw new AgentError('invalid_request', 'side is not request or response')
    return inspection.body(knownId(inspection, query.get('id')), side)
  }),
  [INSPECTOR_PATH.replay]: asking(
    'POST',
    (inspection, { body }) => {
      knownId(inspection, text(body, 'id'))
      return inspection.replay(body as unknown as ReplayRequest)
    },
    REPLAY_MAX_BYTES,
  ),
  [INSPECTOR_PATH.compare]: asking('GET', (inspection, { query }) => {
    const [one, other] = ['one', 'other'].map((name) => knownId(inspection, query.get(name)))
    return inspection.compare(one!, other!, isUnmasked(query), query.get('message_type') ?? undefined)
  }),
  [INSPECTOR_PATH.export]: asking('GET', (inspection, { query }): ExportedText => {
    const format = FORMATS.find((each) => each === query.get('format'))
    if (!format) throw new AgentError('invalid_request', `format is not one of ${FORMATS.join(', ')}`)
    return { text: inspection.export(knownId(inspection, query.get('id')), format, isUnmasked(query)) }
  }),
  [INSPECTOR_PATH.har]: asking('GET', async (inspection, { query }): Promise<HarFile> => {
    const id = query.get('id')
    if (id !== null) return { har: await inspection.harOf(knownId(inspection, id), isUnmasked(query)) }
    return { har: await inspection.har(listQuery(query), isUnmasked(query)) }
  }),
  [INSPECTOR_PATH.importHar]: asking(
    'POST',
    (inspection, { body }): HarImport => inspection.importHar(body.har),
    HAR_MAX_BYTES,
  ),
  [INSPECTOR_PATH.descriptors]: asking(
    'POST',
    (inspection, { body }) => {
      const { base64 }: DescriptorSet = { base64: text(body, 'base64') }
      return inspection.useDescriptors(base64)
    },
    DESCRIPTORS_MAX_BYTES,
  ),
  [INSPECTOR_PATH.settings]: {
    method: 'GET',
    role: 'owner',
    answer: (_, { settings }): Promise<PageSettings> => settings.read(),
  },
  [INSPECTOR_PATH.setSettings]: {
    method: 'POST',
    role: 'owner',
    answer: async ({ body }, { settings }) => {
      await settings.write({ single_keys: yesOrNo(body, 'single_keys') })
      return {}
    },
  },
  [INSPECTOR_PATH.stopReplays]: asking('POST', (inspection) => {
    inspection.stopReplays()
    return {}
  }),
  [INSPECTOR_PATH.clear]: asking('POST', (inspection) => {
    inspection.inspector.clear()
    return inspection.state
  }),
  [INSPECTOR_PATH.pause]: asking('POST', (inspection, { body }) => {
    const { paused }: PauseRequest = { paused: yesOrNo(body, 'paused') }
    inspection.inspector.pause(paused)
    return inspection.state
  }),
}

/** @throws AgentError in place of an error of the inspector */
async function answered(ask: () => object | Promise<object>): Promise<object> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof SvcError && error.code === 'invalid_option')
      throw new AgentError('invalid_request', error.message, error)
    throw error
  }
}

function isUnmasked(query: URLSearchParams): boolean {
  return query.get('unmask') === 'true'
}

function listQuery(query: URLSearchParams): ListQuery {
  const texts = TEXTS.flatMap((name) => (query.has(name) ? [[name, query.get(name)]] : []))
  return { ...Object.fromEntries(texts), limit: wholeNumber(query, 'limit', 1, 10_000) }
}

/** @throws AgentError `entry_not_found` */
function knownId(inspection: Inspection, id: string | null): string {
  if (id !== null && inspection.inspector.get(id)) return id
  throw new AgentError('entry_not_found', 'there is no such entry: it was dropped, or is of another run')
}

/** @throws AgentError `invalid_request` */
function wholeNumber(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const value = Number(given)
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new AgentError('invalid_request', `${name} is not a number from ${min} to ${max}`)
}
