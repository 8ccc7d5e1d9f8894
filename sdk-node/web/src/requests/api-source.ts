// The inspector over the API of the agent, or of the command that publishes.

import type { ApiError, Call } from '@svc/relay-web/common/api.ts'
import type { InspectorSource } from '@svc/relay-web/inspector/source.ts'
import {
  type DescriptorSet,
  type ExportedText,
  type HarFile,
  INSPECTOR_PATH,
  type PauseRequest,
  WAIT_MAX_MS,
} from '../../../src/inspector/api-messages.ts'
import { ask } from '../session/session.ts'
import { REQUESTS_PAGE } from '../texts/texts.ts'

export const apiSource: InspectorSource = {
  list: (query, signal) =>
    call(INSPECTOR_PATH.entries, query.after === undefined ? query : { ...query, wait_ms: WAIT_MAX_MS }, {
      signal,
    }),
  entry: (id, unmask, message_type) => call(INSPECTOR_PATH.entry, { id, unmask, message_type }),
  body: (id, side) => call(INSPECTOR_PATH.body, { id, side }),
  replay: (body) => call(INSPECTOR_PATH.replay, {}, { body }),
  stopReplays: () => call(INSPECTOR_PATH.stopReplays, {}, { body: {} }),
  clear: () => call(INSPECTOR_PATH.clear, {}, { body: {} }),
  pause: (paused) => call(INSPECTOR_PATH.pause, {}, { body: { paused } satisfies PauseRequest }),
  compare: (one, other, unmask, message_type) =>
    call(INSPECTOR_PATH.compare, { one, other, unmask, message_type }),
  exported: async (id, format, unmask) =>
    (await call<ExportedText>(INSPECTOR_PATH.export, { id, format, unmask })).text,
  har: async (of, unmask) => (await call<HarFile>(INSPECTOR_PATH.har, { ...of, unmask })).har,
  importHar: (har) => call(INSPECTOR_PATH.importHar, {}, { body: { har } satisfies HarFile }),
  useDescriptors: (base64) =>
    call(INSPECTOR_PATH.descriptors, {}, { body: { base64 } satisfies DescriptorSet }),
}

type Fields = Readonly<Record<string, string | number | boolean | undefined>>

/** @throws ApiError whose message is for people */
async function call<T>(path: string, fields: object, options: Call = {}): Promise<T> {
  const given = Object.entries(fields as Fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  try {
    return await ask<T>(path + query, options)
  } catch (error) {
    const { code } = error as ApiError
    const told = REQUESTS_PAGE.errors[code]
    throw told === undefined ? error : new Error(told, { cause: error })
  }
}
