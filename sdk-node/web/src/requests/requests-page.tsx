// The page of the requests: the inspector over the API. It is loaded when it is opened.

import '@svc/relay-web/inspector/inspector.css'
import { rememberSingleKeysIn } from '@svc/relay-web/common/single-keys.ts'
import { Inspector } from '@svc/relay-web/inspector/inspector.tsx'
import type { VNode } from '@svc/relay-web/preact.ts'
import { INSPECTOR_PATH, type PageSettings } from '../../../src/inspector/api-messages.ts'
import { ask } from '../session/session.ts'
import { REQUESTS_PAGE } from '../texts/texts.ts'
import { apiSource } from './api-source.ts'

// A command has another origin each time.
rememberSingleKeysIn({
  load: async () => (await ask<PageSettings>(INSPECTOR_PATH.settings)).single_keys,
  save: (areOn) => ask(INSPECTOR_PATH.setSettings, { body: { single_keys: areOn } satisfies PageSettings }),
})

export function RequestsPage(): VNode {
  return (
    <main class="requests-page">
      <h1 class="unseen">{REQUESTS_PAGE.title}</h1>
      <Inspector source={apiSource} />
    </main>
  )
}
