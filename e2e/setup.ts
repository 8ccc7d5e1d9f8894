// Once for the whole suite: builds what the relays serve and the suite's own page.
import { buildRelayPages } from '../scripts/lib/build.ts'
import { buildPages } from './harness/pages.ts'

export default async function setup(): Promise<void> {
  await buildRelayPages()
  await buildPages()
}
