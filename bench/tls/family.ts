// The family `tls`: the engine in Node beside node:tls, in Chromium beside raw WebCrypto, and its size.
import type { Entry } from '../lib/entry.ts'
import type { FamilyOptions } from '../lib/family.ts'
import { browser } from './browser.ts'
import { bulk } from './bulk.ts'
import { handshakes } from './handshakes.ts'
import { createIdentity } from './identity.ts'
import { size } from './size.ts'
import { drip } from './slow-client-hello.ts'

export async function* tls({ runs }: FamilyOptions): AsyncGenerator<Entry> {
  const identity = createIdentity()
  yield* bulk(identity, runs)
  yield* handshakes(identity, runs)
  yield await drip(identity, runs)
  yield* browser(identity, runs)
  yield await size()
}
