// The documents that the relay and the SDKs write look as in their pictures: `npm run e2e -- appearance --update` makes them anew.
import { looks } from './support/appearance.ts'
import { expectLook } from './support/baselines.ts'
import { documents, openDocument } from './support/documents.ts'

looks('documents that the relay and the SDKs write', async ({ page }) => {
  for (const [name, answer] of Object.entries(await documents())) {
    await openDocument(page, answer)
    await expectLook(page, `document-${name}`)
    await page.unrouteAll()
  }
})
