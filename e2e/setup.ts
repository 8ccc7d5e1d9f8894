// Once for the whole suite: builds the examples and the suite's own page.
import { buildExamples } from '../scripts/lib/build.ts'
import { buildPages } from './harness/pages.ts'
import { siteDir } from './harness/relay.ts'

export default async function setup(): Promise<void> {
  await buildExamples(siteDir)
  await buildPages()
}
