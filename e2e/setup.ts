// Once for the whole suite: builds what the relays serve and the suite's own page.
import { buildAgentPage } from '../tools/bundler/agent-page.ts'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { buildPages } from './support/page-server.ts'
import { assertOwnSiteNames } from './support/site-names.ts'

export default async function setup(): Promise<void> {
  assertOwnSiteNames()
  await buildRelayPages()
  await buildAgentPage()
  await buildPages()
}
