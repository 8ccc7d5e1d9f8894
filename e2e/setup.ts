// Once for the whole suite: builds what the relays serve and the suite's own page, and makes the CA of the relays.
import { buildAgentPage } from '../tools/bundler/agent-page.ts'
import { bundlePrograms } from '../tools/bundler/programs.ts'
import { buildRelayPages } from '../tools/bundler/relay-pages.ts'
import { buildPages } from './support/page-server.ts'
import { assertOwnSiteNames } from './support/site-names.ts'
import { createSuiteAuthority } from './support/suite-authority.ts'

/** @returns Playwright's teardown of the suite */
export default async function setup(): Promise<() => Promise<void>> {
  assertOwnSiteNames()
  await buildRelayPages()
  await buildAgentPage()
  await buildPages()
  await bundlePrograms()
  return createSuiteAuthority()
}
