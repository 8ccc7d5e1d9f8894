// The page of the requests: the inspector over the API. It is loaded when it is opened.

import '@svc/relay-web/inspector/inspector.css'
import { Inspector } from '@svc/relay-web/inspector/inspector.tsx'
import type { VNode } from '@svc/relay-web/preact.ts'
import { REQUESTS_PAGE } from '../texts/texts.ts'
import { apiSource } from './api-source.ts'

export function RequestsPage(): VNode {
  return (
    <main class="requests-page">
      <h1 class="unseen">{REQUESTS_PAGE.title}</h1>
      <Inspector source={apiSource} />
    </main>
  )
}
