// Starts the relay's pages in the document.

import { App } from './app.tsx'
import { resume, sweepLater } from './landing/actions.ts'
import { receiveShared } from './landing/arrived.ts'
import { lastChoices } from './landing/publication.ts'
import { render } from './preact.ts'
import { LANDING } from './texts/landing.ts'
import { useLanguage } from './texts/language.ts'

// No await: what other chunks share with a module that waits would be a chunk of its own, and a request more.
void useLanguage().then(() => {
  lastChoices.set({ ...lastChoices.value, note: LANDING.firstNote })
  render(<App />, document.body)
  resume()
  sweepLater()
  void receiveShared()
})

// Only what is installed is in a share sheet.
const share = (): unknown =>
  import('./landing/share-target/register.ts').then(({ registerShareTarget }) => registerShareTarget())
if (matchMedia('(display-mode: standalone)').matches) share()
else addEventListener('appinstalled', share)
