// Receives requests of a service and records them.
import { inspect } from '@svc/sdk-browser/handlers'
import { say } from '../../common/document-answers.ts'
import { TabInspector } from '../../inspector/tab-inspector.tsx'
import type { VNode } from '../../preact.ts'
import { WEBHOOK } from '../../texts/note.ts'
import type { Demo } from './demo.ts'
import { keepRequests } from './kept-requests.ts'

/** The requests that are kept, and the bytes of each body, as `svc` keeps them; of all, the usual 16 MiB. */
const ENTRIES = 1_000
const BODY_BYTES: number = 1024 * 1024

/** @param isResuming shows the requests of the page before a reload */
export function createDemo(isResuming: boolean): Demo {
  const recorder = inspect((request) => say(request, 200, WEBHOOK.received), {
    limit: ENTRIES,
    maxBodyBytes: BODY_BYTES,
  })
  const { forget } = keepRequests(recorder, isResuming)
  const View = (): VNode => <TabInspector recorder={recorder} />
  return { fetch: recorder.fetch, View, clear: () => recorder.clear(), forget }
}
