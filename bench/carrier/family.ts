// The family `carrier`: yamux in memory, over WebSockets in Node and Chromium, and the life of a site on a real relay.
import type { Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { browser } from './browser.ts'
import { inMemory } from './in-memory.ts'
import { memory } from './memory.ts'
import { overWs } from './over-ws.ts'
import { restart } from './restart.ts'
import { silence } from './silence.ts'

export async function* carrier({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  yield* inMemory(runs)
  yield* overWs(runs)
  yield* browser(runs)
  yield* restart(runs)
  yield* silence(runs)
  yield* memory()
}
