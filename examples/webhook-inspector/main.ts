// Webhook inspector: publishes at once, answers as its form says, and shows what came.

import { say } from '@svc/relay-web/common/document-answers.ts'
import { showInspector } from '@svc/relay-web/inspector/tab-inspector.tsx'
import { publish } from '@svc/sdk-browser'
import { inspect } from '@svc/sdk-browser/handlers'
import { element } from '../shared/dom.ts'
import { secretNames } from '../shared/name.ts'
import { showSite } from '../shared/show-site.ts'

const statusField = element<HTMLSelectElement>('status')
const inspector = inspect((request) => say(request, Number(statusField.value), 'Received'), {
  limit: 1_000,
  maxBodyBytes: 1024 * 1024,
})

// A client with the address can send something: the address cannot be guessed, and the relay does not list it.
showSite(secretNames('webhook-inspector', 'hook'), (site) =>
  publish({ relay: location.origin, fetch: inspector.fetch, certificate: 'shared', ...site }),
)
showInspector(inspector, element('inspector'))
