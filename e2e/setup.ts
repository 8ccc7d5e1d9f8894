// Once for the whole suite: builds what the relays serve and the suite's own page.
import { buildSite } from '../scripts/lib/build.ts'
import { buildPages } from './harness/pages.ts'
import { siteDir } from './harness/relay.ts'

export default async function setup(): Promise<void> {
  await buildSite(siteDir)
  await buildPages()
}
