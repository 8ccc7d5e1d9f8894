// Starts the relay's pages in the document.

import { App } from './app.tsx'
import { resume, sweepLater } from './landing/actions.ts'
import { receiveShared } from './landing/arrived.ts'
import { render } from './preact.ts'

render(<App />, document.body)
resume()
sweepLater()
void receiveShared()

// Only what is installed is in a share sheet.
const share = (): unknown =>
  import('./landing/share-target/register.ts').then(({ registerShareTarget }) => registerShareTarget())
if (matchMedia('(display-mode: standalone)').matches) share()
else addEventListener('appinstalled', share)
